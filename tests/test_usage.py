"""Usage: every provider's figures in one shape, a factor learned from them, totals by branch."""

from typing import Any

import pytest

import ctxtree
from ctxtree import Budget
from ctxtree.counter import CLAUDE_FACTOR
from ctxtree.usage import Learned, Used

BILLS = [
    ({"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}}, Used(100, 7, 60)),
    ({"input_tokens": 100, "output_tokens": 7, "input_tokens_details": {"cached_tokens": 60}}, Used(100, 7, 60)),
    (
        {"input_tokens": 10, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30, "output_tokens": 7},
        Used(100, 7, 60, 30),
    ),
    (
        {"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 5, "thoughtsTokenCount": 2},
        Used(100, 7, 60),
    ),
    ({"input": 10, "cacheRead": 60, "cacheWrite": 30, "output": 7, "cost": {"total": 0.5}}, Used(100, 7, 60, 30, 0.5)),
    ({"input_tokens": None, "output_tokens": "many"}, Used()),
]  # fmt: skip


@pytest.mark.parametrize(("usage", "expected"), BILLS)
def test_usage_of_every_provider_has_one_shape(usage: dict[str, Any], expected: Used) -> None:
    assert Used.of(usage) == expected


def billed(tree: ctxtree.Tree, times: int, ratio: float, **ask: Any) -> None:
    """Turns whose provider counts `ratio` tokens for each of ours."""
    for number in range(times):
        tree.user(f"Question {number}: what does the next line of the log say, and the one after that?")
        context = tree.compile(budget=8_000, target="anthropic", **ask)
        answer = tree.assistant(f"It says {number}, " + "as before, " * 60)
        tree.record_usage(answer, {"input_tokens": round(context.report.tokens * ratio), "output_tokens": 9})


def test_recorded_usage_moves_the_factor_to_the_models_own_count() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a")
        cold = tree.user("hello") and tree.compile(budget=8_000, target="anthropic").report.counter
        assert (cold.factor, cold.bound) == (CLAUDE_FACTOR, 1.53)
        billed(tree, 12, 1.6)
        tree.user("and now?")
        report = tree.compile(budget=8_000, target="anthropic").report
        assert 1.57 <= report.counter.factor <= 1.6
        assert report.counter.factor <= report.counter.bound <= 1.65
        assert report.counter.estimated <= 8_000
        assert report.budget.window == pytest.approx(8_000 / report.counter.factor, abs=1)
        careful = tree.compile(budget=Budget(8_000, safety="bound"), target="anthropic").report
        assert careful.budget.window <= report.budget.window


def test_what_is_learned_holds_in_all_trees_of_the_store_and_after_a_restart(tmp_path: Any) -> None:
    with ctxtree.connect(tmp_path / "a.db") as store:
        billed(store.tree("a"), 8, 1.6)
    with ctxtree.connect(tmp_path / "a.db") as store:
        other = store.tree("b")
        other.user("hi")
        assert other.compile(budget=8_000, target="anthropic").report.counter.factor > 1.5
        assert other.compile(budget=8_000, target="gemini").report.counter.factor == CLAUDE_FACTOR


def test_a_bill_for_another_request_teaches_nothing() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a")
        billed(tree, 6, 30.0)
        tree.user("and now?")
        assert tree.compile(budget=8_000, target="anthropic").report.counter.factor == CLAUDE_FACTOR


def test_usage_belongs_to_the_context_that_is_named() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a")
        for _ in range(8):
            tree.user("What is in it? " * 40)
            first = tree.compile(budget=8_000, target="anthropic")
            tree.compile(budget=500, target="anthropic")  # a newer one, for something else
            answer = tree.assistant("Nothing. " * 40)
            tree.record_usage(answer, {"input_tokens": round(first.report.tokens * 1.5)}, context=first)
        assert tree.compile(
            budget=8_000, target="anthropic", input="x"
        ).report.counter.factor == pytest.approx(1.5, abs=0.03)


def test_the_bound_widens_with_the_spread_of_the_bills() -> None:
    steady, wild = Learned(), Learned()
    for step in range(20):
        steady, wild = steady.after(1_000, 1_300), wild.after(1_000, 1_100 + 400 * (step % 2))
    assert steady.bound(1.3, 1.53) <= 1.32
    assert wild.bound(1.3, 1.53) >= wild.factor(1.3) + 0.3


def test_branches_tell_what_was_billed_for_their_answers() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a")
        tree.user("Try")
        tree.compile(budget=1_000)
        tree.record_usage(
            tree.assistant("First"), {"prompt_tokens": 10, "completion_tokens": 2, "cost": 0.25}
        )
        tree.retry("too short")
        tree.compile(budget=1_000)
        tree.record_usage(
            tree.assistant("Second"), {"prompt_tokens": 20, "completion_tokens": 3, "cost": 0.5}
        )
        first, second = (branch.used for branch in tree.branches())
        assert (first.input, first.output, first.cost) == (10, 2, 0.25)
        assert (second.input, second.output, second.cost) == (20, 3, 0.5)
