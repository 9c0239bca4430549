"""Recall: what the current input makes relevant comes back from beyond the summary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Protocol

from ctxtree import notices
from ctxtree.model import Message, Text
from ctxtree.passes.condensers.messages import brief
from ctxtree.plan import HISTORY, Counter, Form, Item, Plan
from ctxtree.tokens import message_tokens

FLOOR = 0.1
"""Share of the best score below which a unit counts as not relevant."""

OUTCOME = 12
"""Tokens of an answer that tell how a request ended."""

FAR = timedelta(days=1)
"""What was said longer before the newest words than this is told with its day."""

DAY_TOKENS = 10
"""Room kept for the mark of a day."""

LARGEST = 0.5
"""Share of the free room that one recalled exchange may take."""

MISSES = 32
"""Units in a row that do not fit after which no further one is tried."""


class Left(Protocol):
    """Units that may come back, by their index on the path; None for one that may not."""

    def get(self, index: int, /) -> Item | None: ...


@dataclass(frozen=True, slots=True)
class Recall:
    """Fill `room` with the left-out exchanges that fit the query best, each as it was said.

    `left` are the units that may come back, by their index on the path, `relevance` says how well they fit, best
    first; no more of them are looked at than it takes to fill the room.
    A user message comes with its answer (`answer`), in a few words if the answer does not fit the query
    itself, so that no request stands without its outcome. First of all come the `questions` of answers that
    are still there: what is nearest is never passed over for something older. `turn`: that of the user
    message which it all comes back for; without one each goes to its own place in time, and the first user
    message of each day long past carries the day, since "yesterday" means little from afar.
    """

    relevance: Mapping[int, float]
    left: Left
    questions: Sequence[int]
    answer: Callable[[int], int | None]
    room: int
    turn: int | None = None

    def __call__(self, plan: Plan) -> Plan:
        taken: dict[int, float] = {}
        outcomes: dict[int, Form] = {}
        days: set[date] = set()
        room, newest = self.room, self._newest(plan)
        called: dict[int, Item] = {}
        misses = 0
        for i in self.questions:
            question = self.left.get(i)
            if question is None:
                continue
            if question.full_tokens > room:
                return plan
            room -= question.full_tokens
            taken[i], called[i] = self.relevance.get(i, 0.0), question
        floor = FLOOR * next(iter(self.relevance.values()), 0.0)
        for i, score in self.relevance.items():
            if score < floor or misses == MISSES:
                break
            item = self.left.get(i)
            if item is None or i in taken:
                continue
            answer = self.answer(i)
            told = answer is None or answer in taken or answer in outcomes
            ending = None if answer is None or told else self.left.get(answer)
            outcome = None if ending is None else _outcome(ending, plan.counter)
            held = outcomes[i].tokens if i in outcomes else 0
            day = _day(item.when, newest) if item.kind == "message" else None
            mark = DAY_TOKENS if day and day not in days else 0
            cost = item.full_tokens - held + (outcome.tokens if outcome else 0) + mark
            if cost > room or cost > max(LARGEST * self.room, 200):
                misses += 1
                continue
            room, misses = room - cost, 0
            days |= {day} if day else set()
            taken[i], called[i] = score, item
            outcomes.pop(i, None)
            if answer is not None and outcome and ending:
                outcomes[answer], called[answer] = outcome, ending
        back = [
            _outlined(called[i], outcomes[i]) if i in outcomes else _called(called[i], taken[i])
            for i in sorted(called)
        ]
        if self.turn is not None:
            back = [replace(item, turn=self.turn) for item in back]
        back = _with_days(back, newest, plan.counter)
        return plan.with_items([*plan.items, *back]) if back else plan

    def _newest(self, plan: Plan) -> datetime | None:
        """When the newest words of the history were said; None where quotations are dated anyway."""
        if self.turn is not None:
            return None
        return max((item.when for item in plan.items if item.when and item.kind in HISTORY), default=None)


def _day(when: datetime | None, newest: datetime | None) -> date | None:
    """The day of what was said long before the newest words."""
    return when.date() if when is not None and newest is not None and newest - when > FAR else None


def _with_days(called: Sequence[Item], newest: datetime | None, counter: Counter) -> list[Item]:
    """The same, the first user message of each day long past with that day before its words."""
    told: set[date] = set()
    found = []
    for item in called:
        day = _day(item.when, newest)
        message = item.forms[0].messages[0]
        if day and day not in told and message.role == "user" and isinstance(message.parts[0], Text):
            told.add(day)
            first = Text(text=notices.dated(message.parts[0].text, day))
            dated = message.model_copy(update={"parts": (first, *message.parts[1:])})
            form = replace(item.forms[0], messages=(dated,), tokens=message_tokens(dated, counter))
            item = replace(item, forms=(form,))
        found.append(item)
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
