"""Trim: the newest turns as they were said, the oldest dropped first."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ctxtree.plan import HISTORY, Item, Plan


@dataclass(frozen=True, slots=True)
class Trim:
    """Drop whole turns, oldest first, until the history fits `plan.available`.

    Turns outside `policy.turns` go in any case. When only the newest turn is left, its earlier
    exchanges go, oldest first; `must` items never do.
    """

    must: frozenset[int]
    taken: int = 0

    def __call__(self, plan: Plan) -> Plan:
        items = list(plan.items)
        history = [i for i, item in enumerate(items) if item.kind in HISTORY and item.shown]
        newest = max((items[i].turn for i in history), default=-1)
        if plan.policy.turns is not None:
            first = newest - plan.policy.turns + 1
            for i in history:
                if items[i].turn < first and i not in self.must:
                    items[i] = items[i].hide("dropped", f"outside the last {plan.policy.turns} turns")
        excess = sum(item.tokens for item in items if item.kind not in _FIXED) - plan.available + self.taken
        for group in self._order(items, history, newest):
            if excess <= 0:
                break
            excess -= sum(items[i].tokens for i in group)
            for i in group:
                items[i] = items[i].hide("dropped", "oldest first, to fit the budget")
        return replace(plan, items=tuple(items))

    def _order(self, items: list[Item], history: list[int], newest: int) -> list[list[int]]:
        turns: dict[int, list[int]] = {}
        for i in history:
            if items[i].shown and i not in self.must:
                turns.setdefault(items[i].turn, []).append(i)
        last = [[i] for i in turns.pop(newest, []) if items[i].kind == "exchange"]
        return [*turns.values(), *last]


_FIXED = frozenset({"system", "tools", "state", "input"})
