"""Select: one level of detail for each unit of the history.

The order of sacrifice (F11): old tool output is shortened first, then old turns leave as a
whole, then the newest turns are shortened, and the newest exchange last. A turn leaves with
its answers, so that no request stands without its outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxtree.passes.knapsack import Option, knapsack
from ctxtree.plan import HISTORY, Item, Plan

FLOOR = 0.05
"""Added to every score, so that an item that nothing speaks for is still worth keeping if it is free."""


@dataclass(frozen=True, slots=True)
class Select:
    """Choose forms so that the history fits `plan.aim`, at the greatest sum of score x fidelity.

    `must` are the items that stay in some form (the newest user message, the last exchange, pins);
    `summary` is the room kept for the summary of what leaves. The newest turns stay whole if they
    fit below the high watermark. `called_back`: what fits the input comes back each time anew, so that
    of the older turns only those stay that bear a mark of importance; the rest of the room is left to
    what is called back.
    """

    must: frozenset[int]
    summary: int
    called_back: bool = False
    leave: str = "summarized"

    def __call__(self, plan: Plan) -> Plan:
        stage = _Stage(plan, self)
        if stage.full <= stage.room:
            return plan
        if stage.kept_full + stage.least_old <= stage.room:
            return stage.shorten_old()
        if stage.kept_full <= stage.room - self.summary:
            return stage.leave_old()
        return stage.shorten_kept()


class _Stage:
    """The figures of one selection; each method gives the plan of one stage of sacrifice."""

    def __init__(self, plan: Plan, options: Select) -> None:
        self.plan, self.options = plan, options
        indices = [i for i, item in enumerate(plan.items) if item.kind in HISTORY and item.shown]
        newest = max((plan.items[i].turn for i in indices), default=-1)
        first_kept = newest - plan.policy.keep_turns + 1
        self.old = [i for i in indices if plan.items[i].turn < first_kept and i not in options.must]
        leaving = set(self.old)
        self.kept = [i for i in indices if i not in leaving]
        self.newest = newest
        others = sum(
            item.tokens for item in plan.items if item.kind in ("facts", "retrieved", "dead_end", "summary")
        )
        self.room = plan.aim - others
        self.high = int(plan.budget.high * plan.available) - others
        self.hard = plan.available - others
        self.kept_full = sum(plan.items[i].forms[0].tokens for i in self.kept)
        self.full = self.kept_full + sum(plan.items[i].forms[0].tokens for i in self.old)
        self.least_old = sum(plan.items[i].forms[-1].tokens for i in self.old)

    def shorten_old(self) -> Plan:
        """All that was said stays; old results and long answers give up detail."""
        classes = [_options(self.plan.items[i]) for i in self.old]
        chosen, value, bound = knapsack(classes, self.room - self.kept_full)
        shown = {
            i: _shown(self.plan.items[i], len(classes[place]) - 1 - chosen[place])
            for place, i in enumerate(self.old)
        }
        return self._with(shown | self._kept_whole(), value, bound)

    def leave_old(self) -> Plan:
        """The newest turns stay whole; of the older ones the best stay, whole or at their shortest, as there is room."""
        turns = self._turns(self.old)
        classes: list[list[Option]] = [
            [(0, 0.0), self._together(turn, -1), self._together(turn, 0)]
            if self._may_stay(turn)
            else [(0, 0.0)]
            for turn in turns
        ]
        room = max(0, self.room - self.options.summary - self.kept_full)
        chosen, value, bound = knapsack(classes, room)
        decided: dict[int, Item] = {}
        for turn, choice in zip(turns, chosen, strict=True):
            for i in turn:
                item = self.plan.items[i]
                decided[i] = (
                    _shown(item, (len(item.forms) - 1) * (choice == 1)) if choice else self._left(item)
                )
        return self._with(decided | self._kept_whole(), value, bound)

    def shorten_kept(self) -> Plan:
        """Older turns leave; the newest ones give up detail, their earlier exchanges first."""
        decided = {i: self._left(self.plan.items[i]) for i in self.old}
        rest = list(self.kept)
        if self._least(rest) > self.hard - self.options.summary:
            gone = [i for i in rest if self.plan.items[i].turn < self.newest and i not in self.options.must]
            decided |= {i: self._left(self.plan.items[i]) for i in gone}
            rest = [i for i in rest if i not in decided]
        stays = self.options.must | {i for i in rest if self.plan.items[i].kind == "message"}
        told = self.options.summary if self.old or len(rest) < len(self.kept) else 0
        squeezed = self._least(rest) > self.room - told and not stays.issuperset(rest)
        if squeezed:
            told = self.options.summary
        room = self.room - told
        least = self._least([i for i in rest if i in stays or not squeezed])
        if least > room:
            room = max(room, self.hard - told)
        whole = self._whole(rest, room - least)
        classes = [
            [self._together([i], 0)]
            if i in whole
            else _options(self.plan.items[i], squeezed and i not in stays)
            for i in rest
        ]
        chosen, value, bound = knapsack(classes, room)
        for place, i in enumerate(rest):
            index = len(classes[place]) - 1 - chosen[place]
            item = self.plan.items[i]
            decided[i] = _shown(item, index) if index < len(item.forms) else self._left(item)
        return self._with(self._fuller(decided, rest, self.high - told), value, bound)

    def _whole(self, rest: Sequence[int], room: int) -> set[int]:
        """What must stay, newest first, that can be whole if all else is at its shortest."""
        whole: set[int] = set()
        for i in sorted(self.options.must & set(rest), reverse=True):
            more = self.plan.items[i].forms[0].tokens - self.plan.items[i].forms[-1].tokens
            if more <= room:
                whole.add(i)
                room -= more
        return whole

    def _fuller(self, decided: dict[int, Item], rest: Sequence[int], room: int) -> dict[int, Item]:
        """What must stay, as full as the high watermark allows: the model needs the newest result next."""
        room -= sum(decided[i].tokens for i in rest)
        for i in sorted(self.options.must & set(rest), reverse=True):
            item = decided[i]
            for index in range(item.chosen):
                if item.forms[index].tokens - item.tokens <= room:
                    room -= item.forms[index].tokens - item.tokens
                    decided[i] = item.show(index, "the newest step, as full as there is room for")
                    break
        return decided

    def _turns(self, indices: Sequence[int]) -> list[list[int]]:
        turns: dict[int, list[int]] = {}
        for i in indices:
            turns.setdefault(self.plan.items[i].turn, []).append(i)
        return list(turns.values())

    def _may_stay(self, turn: Sequence[int]) -> bool:
        marked = any(self.plan.items[i].parts.get("importance", 0.0) > 0 for i in turn)
        return marked or not self.options.called_back

    def _together(self, turn: Sequence[int], form: int) -> Option:
        """A turn as one option, each item in its fullest (0) or shortest (-1) form."""
        items = [self.plan.items[i] for i in turn]
        value = sum((item.score + FLOOR) * item.forms[form].fidelity for item in items)
        return sum(item.forms[form].tokens for item in items), value

    def _least(self, indices: Sequence[int]) -> int:
        return sum(self.plan.items[i].forms[-1].tokens for i in indices)

    def _kept_whole(self) -> dict[int, Item]:
        return {i: self.plan.items[i].show(0, "one of the newest turns") for i in self.kept}

    def _left(self, item: Item) -> Item:
        if self.options.leave == "summarized":
            return item.hide("summarized", "older than what fits; told in the summary")
        return item.hide("dropped", "older than what fits")

    def _with(self, decided: dict[int, Item], value: float, bound: float) -> Plan:
        items = [decided.get(i, item) for i, item in enumerate(self.plan.items)]
        return replace(self.plan, items=tuple(items), value=value, bound=bound)


def _options(item: Item, may_leave: bool = False) -> list[Option]:
    """The forms from the shortest to the fullest, after `left out` if that is allowed."""
    shown = [(form.tokens, (item.score + FLOOR) * form.fidelity) for form in reversed(item.forms)]
    return [(0, 0.0), *shown] if may_leave else shown


def _shown(item: Item, index: int) -> Item:
    reasons = {
        "full": f"kept whole: score {item.score:.2f}",
        "condensed": f"condensed to make room: score {item.score:.2f}",
        "stub": "only a line of each result: older output goes first",
    }
    return item.show(index, reasons.get(item.forms[index].level, ""))
