"""Recall: what the current input makes relevant comes back from beyond the summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ctxtree.model import Message, Text
from ctxtree.passes.condensers.messages import brief
from ctxtree.plan import Counter, Form, Item, Plan
from ctxtree.tokens import message_tokens

FLOOR = 0.1
"""Share of the best score below which a unit counts as not relevant."""

OUTCOME = 12
"""Tokens of an answer that tell how a request ended."""

LARGEST = 0.5
"""Share of the free room that one recalled exchange may take."""


@dataclass(frozen=True, slots=True)
class Recall:
    """Fill `room` with the left-out exchanges that fit the query best, each as it was said.

    `relevance` gives a score for items by index. A user message comes with its answer, in a few words if
    the answer does not fit the query itself, so that no request stands without its outcome. First of all
    come the questions of answers that are still there: what is nearest is never passed over for something
    older.
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
                return plan
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
        answers = _answers(plan)
        outcomes: dict[int, Form] = {}
        for i in ranked:
            item, answer = plan.items[i], answers.get(i, -1)
            told = answer < 0 or answer in taken or answer in outcomes
            outcome = None if told else _outcome(plan.items[answer], plan.counter)
            held = outcomes[i].tokens if i in outcomes else 0
            cost = item.full_tokens - held + (outcome.tokens if outcome else 0)
            if i in taken or cost > room or cost > max(LARGEST * self.room, 200):
                continue
            room -= cost
            taken[i] = self.relevance[i]
            outcomes.pop(i, None)
            if outcome:
                outcomes[answer] = outcome
        called = [
            _outlined(plan.items[i], outcomes[i]) if i in outcomes else _called(plan.items[i], taken[i])
            for i in sorted(taken.keys() | outcomes.keys())
        ]
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


def _answers(plan: Plan) -> dict[int, int]:
    """For each left-out user message its first left-out answer."""
    found: dict[int, int] = {}
    asked: dict[int, int] = {}
    for i, item in enumerate(plan.items):
        if item.chosen >= 0 or not item.forms:
            continue
        if item.kind == "message":
            asked[item.turn] = i
        elif item.kind == "exchange" and item.turn in asked:
            found.setdefault(asked[item.turn], i)
    return found


def _outcome(item: Item, counter: Counter) -> Form:
    """The first words of an answer, or all of it where that is not much longer or it holds more than words."""
    whole = Form("full", item.forms[0].messages, item.full_tokens)
    message = whole.messages[0]
    if len(whole.messages) > 1 or any(not isinstance(part, Text) for part in message.parts):
        return whole
    short = Message.of("assistant", brief(message.text, OUTCOME))
    tokens = message_tokens(short, counter)
    return (
        Form("condensed", (short,), tokens, tokens / max(1, item.full_tokens))
        if tokens < whole.tokens
        else whole
    )


def _outlined(item: Item, form: Form) -> Item:
    called = _called(item, 0.0)
    return replace(called, forms=(form,), level=form.level, reason="the outcome of what was called back")


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
