"""Recall: what the current input makes relevant comes back from beyond the summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ctxtree.plan import Form, Item, Plan

FLOOR = 0.1
"""Share of the best score below which a unit counts as not relevant."""

LARGEST = 0.5
"""Share of the free room that one recalled exchange may take."""


@dataclass(frozen=True, slots=True)
class Recall:
    """Fill `room` with the left-out exchanges that fit the query best, each as it was said.

    `relevance` gives a score for items by index. A user message comes with its first answer and an
    answer with its question, so that no request stands alone. First of all come the questions of answers
    that are still there: what is nearest is never passed over for something older.
    """

    relevance: Mapping[int, float]
    room: int

    def __call__(self, plan: Plan) -> Plan:
        best = max(self.relevance.values(), default=0.0)
        if self.room <= 0:
            return plan
        taken: dict[int, float] = {}
        room = self.room
        for i in _questions(plan):
            if plan.items[i].full_tokens > room:
                break
            room -= plan.items[i].full_tokens
            taken[i] = self.relevance.get(i, 0.0)
        ranked = sorted(
            (
                i
                for i, score in self.relevance.items()
                if score > 0 and score >= FLOOR * best and self._may(plan.items[i])
            ),
            key=lambda i: (-self.relevance[i], -i),
        )
        partners = _partners(plan)
        for i in ranked:
            bundle = [j for j in (i, *partners.get(i, ())) if j not in taken]
            cost = sum(plan.items[j].full_tokens for j in bundle)
            if i in taken or cost > room or cost > max(LARGEST * self.room, 200):
                continue
            room -= cost
            for j in bundle:
                taken[j] = self.relevance.get(j, 0.0)
        called = [_called(plan.items[i], score) for i, score in sorted(taken.items())]
        return replace(plan, items=(*plan.items, *called)) if called else plan

    @staticmethod
    def _may(item: Item) -> bool:
        return item.level in ("summarized", "dropped") and bool(item.forms)


def _questions(plan: Plan) -> list[int]:
    """Left-out user messages whose answers are shown, newest first."""
    answered = {item.turn for item in plan.items if item.kind == "exchange" and item.shown}
    return [
        i
        for i, item in reversed(list(enumerate(plan.items)))
        if item.kind == "message" and item.turn in answered and Recall._may(item)
    ]


def _partners(plan: Plan) -> dict[int, tuple[int, ...]]:
    """For each left-out unit the one that it should not come back without."""
    found: dict[int, tuple[int, ...]] = {}
    asked: dict[int, int] = {}
    for i, item in enumerate(plan.items):
        if item.chosen >= 0 or not item.forms:
            continue
        if item.kind == "message":
            asked[item.turn] = i
        elif item.kind == "exchange" and item.turn in asked:
            question = asked[item.turn]
            found[i] = (question,)
            found.setdefault(question, (i,))
    return found


def _called(item: Item, score: float) -> Item:
    form = Form("full", item.forms[0].messages, item.full_tokens)
    return Item(
        kind="recall",
        nodes=item.nodes,
        forms=(form,),
        turn=item.turn,
        score=score,
        parts={"relevance": score},
        reason=f"called back: relevance {score:.2f} to what is asked now"
        if score
        else "the question of what is shown",
        full_tokens=item.full_tokens,
        when=item.when,
    )
