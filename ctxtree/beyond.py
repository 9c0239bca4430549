"""Beyond the summary: which left-out units may come back, for whose words, and where they stand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Mapping
from itertools import islice

from ctxtree.compaction import Tools
from ctxtree.gather import Ask, Source, said, unit_item
from ctxtree.passes.recall import Recall
from ctxtree.plan import HISTORY, Item, Plan
from ctxtree.preparing import called, room_of, run

AHEAD = 32
"""Units that are read at once when one of them is looked at."""


def standing(plan: Plan, source: Source, ask: Ask, tools: Tools) -> Plan:
    """In the `stable` layout: what was called back for each user message since the last compaction stays there.

    It follows from what came before that message, so it is the same at each later compile. All of it
    together takes the room above the high watermark, which the history leaves free; each message may use
    half of what is left of it, since every token of it is paid for again at each step.
    """
    trail, epoch = source.trail, source.epoch
    if plan.policy.layout != "stable" or epoch is None:
        return plan
    tip = trail.places[epoch.node]
    after = bisect_right(trail.asked, tip, key=lambda at: trail.places[trail.units[at].ids[0]])
    users = trail.asked[max(0, after - 1) :]  # from the message on whose turn the compaction fell
    held = {item.nodes[0] for item in plan.items if item.kind == "message" and item.shown}
    spoken = [
        (trail.units[at].turn, said(trail.words_of(at)[0].message), at)
        for at in users
        if trail.units[at].ids[0] in held
    ]
    if ask.input is not None:
        spoken.append((len(trail.asked), plan.query, len(trail.units)))
    room = int((1 - ask.budget.high) * (epoch.room or room_of(plan)))
    for turn, words, at in spoken:
        before = called(plan)
        plan = called_back(plan, source, ask, tools, words, at, room // 2, turn)
        room -= called(plan) - before
    return plan


def called_back(
    plan: Plan, source: Source, ask: Ask, tools: Tools, words: str, at: int, room: int, turn: int | None = None
) -> Plan:  # fmt: skip
    """The plan with what fits `words` out of the units before `at` that are left out, within `room`."""
    if not plan.policy.recall or not words.strip() or room <= 0:
        return plan
    return run(plan, (_recall(plan, source, ask, tools.relevance(source.trail, words, at), room, turn),))


def _recall(
    plan: Plan, source: Source, ask: Ask, fitting: Mapping[int, float], room: int, turn: int | None
) -> Recall:
    """The pass with what may come back: units that fit, their answers, and open questions."""
    trail = source.trail
    back = {trail.home[item.nodes[0]] for item in plan.items if item.kind == "recall"}
    held = {trail.home[item.nodes[0]]: item for item in plan.items if item.kind in HISTORY}
    shown = {index for index, item in held.items() if item.chosen >= 0 or not item.forms} | back
    if source.epoch is None and len(shown - back) == len(held):
        return Recall({}, Left(source, ask, {}, shown, {}), (), _none, room, turn)
    turns = {
        held[index].turn
        for index in shown & held.keys()
        if held[index].kind == "exchange" and held[index].forms
    }
    questions = [trail.asked[turn] for turn in sorted(turns, reverse=True) if turn >= 0]
    left = Left(source, ask, held, shown, fitting)
    return Recall(fitting, left, questions, left.answer, room, turn)


def _none(_index: int) -> None:
    return None


class Left:
    """Left-out units as items, read a few at a time in the order in which they will be looked at."""

    def __init__(
        self, source: Source, ask: Ask, held: Mapping[int, Item], shown: Container[int], order: Iterable[int]
    ) -> None:
        self._source, self._ask, self._held, self._shown = source, ask, held, shown
        self._next = iter(order)
        self._ready: set[int] = set()

    def answer(self, index: int) -> int | None:
        """The exchange that answers a user message."""
        trail = self._source.trail
        return trail.answer(index) if trail.units[index].kind == "user" else None

    def get(self, index: int, /) -> Item | None:
        if index in self._shown:
            return None
        if index not in self._ready and index not in self._held:
            some = [index, *islice(self._next, AHEAD)]
            some += [at for one in some if (at := self.answer(one)) is not None]
            self._source.trail.read(some)
            self._ready.update(some)
        item = self._held.get(index) or unit_item(self._source, self._ask, index)
        return item if item.forms and item.kind in HISTORY else None
