"""Squeeze: what must stay and does not fit is cut, in a fixed order, and said so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxtree.passes.degrade import degrade
from ctxtree.plan import Item, Plan
from ctxtree.report import Signal

SHARED = frozenset({"retrieved", "facts", "dead_end", "summary", "message", "exchange", "recall"})

SPARE = ("retrieved", "facts", "dead_end")
"""Kinds that leave, in this order, before the user's own words are touched."""


@dataclass(frozen=True, slots=True)
class Squeeze:
    """Make the plan fit by shortening the items in `must`, the input, and their company.

    In this order: the results of the last exchange, retrieved texts, facts and notes, older exchanges, the
    middle of the newest user text (at least 1,000 tokens of it stay), the last exchange as a whole, the words
    of the summary. What then still does not fit is the caller's `BudgetError`. Pins are never touched.
    """

    must: frozenset[int]

    def __call__(self, plan: Plan) -> Plan:
        items = plan.items
        exchanges = [i for i in sorted(self.must) if items[i].kind == "exchange" and not items[i].pinned]
        words = [
            i
            for i, item in enumerate(items)
            if item.kind == "input" or (i in self.must and item.kind == "message" and not item.pinned)
        ]
        plan = _shortened(plan, exchanges, "results_condensed")
        plan = _without(plan, [i for kind in SPARE for i, item in enumerate(items) if item.kind == kind])
        plan = _without(plan, [i for i, item in enumerate(items) if self._older(i, item)])
        plan = _shortened(plan, words, "newest_user_truncated")
        plan = _without(plan, exchanges)
        return _without(plan, [i for i, item in enumerate(items) if item.kind == "summary"])

    def _older(self, index: int, item: Item) -> bool:
        return item.kind == "exchange" and index not in self.must and not item.pinned


def excess(plan: Plan) -> int:
    """Raw tokens over what is available; the input is paid for apart, so only what it grew counts here."""
    grown = sum(item.tokens - item.full_tokens for item in plan.items if item.kind == "input")
    return sum(item.tokens for item in plan.items if item.kind in SHARED) + grown - plan.available


def _shortened(plan: Plan, indices: Sequence[int], code: str) -> Plan:
    for i in indices:
        over = excess(plan)
        item = plan.items[i]
        if over <= 0 or item.shown is None:
            continue
        form = degrade(item.shown, max(1, item.tokens - over), plan.counter, item.nodes)
        if form is None or form.tokens >= item.tokens:
            continue
        shorter = replace(item, forms=(*item.forms, form), level=form.level, chosen=len(item.forms))
        shorter = replace(
            shorter, reason=f"cut from {item.tokens} to {form.tokens} tokens: it must stay and did not fit"
        )
        signal = Signal(code=code, message=shorter.reason, nodes=item.nodes)
        plan = replace(plan, items=_put(plan, i, shorter), degraded=(*plan.degraded, signal))
    return plan


def _without(plan: Plan, indices: Sequence[int]) -> Plan:
    for i in indices:
        item = plan.items[i]
        if excess(plan) <= 0 or item.shown is None or not item.tokens:
            continue
        if item.kind == "summary":
            gone = replace(
                item, forms=(replace(item.forms[0], messages=(), tokens=0),), reason="no room for its words"
            )
        else:
            gone = item.hide("dropped", "not even its shortest form fits beside what must stay")
        signal = Signal(code=f"{item.kind}_left_out", message=gone.reason, nodes=item.nodes)
        plan = replace(plan, items=_put(plan, i, gone), degraded=(*plan.degraded, signal))
    return plan


def _put(plan: Plan, index: int, item: Item) -> tuple[Item, ...]:
    return (*plan.items[:index], item, *plan.items[index + 1 :])
