"""What comes back from long ago in the `classic` layout says on which day it was said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import ctxtree
from ctxtree import Budget, Message

START = datetime(2025, 3, 7, 9, tzinfo=UTC)


def _asked(days_ago: int) -> str:
    """A request about a café that was named so many days before the newest words."""
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("t")
        tree.append(Message.of("user", "Yesterday I found a café named Zinnia."), created_at=START)
        tree.append(Message.of("assistant", "Sounds lovely."), created_at=START)
        later = START + timedelta(days=days_ago)
        for number in range(60):
            tree.append(
                Message.of("user", f"Tell me of river {number}, where it runs and how long."),
                created_at=later,
            )
            tree.append(
                Message.of("assistant", f"River {number} runs north for {number * 7} miles."),
                created_at=later,
            )
        context = tree.compile(
            budget=Budget(700), input="What was the name of that café?", counter="o200k_base"
        )
        assert context.report.tokens <= 700
        return str(context.payload["messages"])


def test_words_from_long_ago_carry_their_day_once() -> None:
    said = _asked(days_ago=40)
    assert "[2025-03-07] Yesterday I found a café named Zinnia." in said
    assert said.count("[2025-03-07]") == 1


def test_words_of_the_same_day_stand_as_they_were_said() -> None:
    said = _asked(days_ago=0)
    assert "Yesterday I found a café named Zinnia." in said
    assert "[2025-03-07]" not in said
