"""The planner: its formula against a simulation, its choice against every other, and the ways in."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ctxtree
from ctxtree import Budget, Policy, PolicyError, Prices
from ctxtree.cli.app import app
from ctxtree.planner import HIGHEST, LEAST_GAIN, Load, best, break_even, cost

LOG = Path(__file__).parent.parent / "examples" / "logs" / "coding-agent.jsonl"

PRICES = [
    Prices(),
    Prices(read=0.5, write=1.0),
    Prices(read=1.0, write=1.0),
    Prices(read=0.0, write=1.25),
    Prices(read=0.1, write=2.0, output=8.0),
]
LOADS = [
    Load(available=39_000, head=900, growth=923.0),
    Load(available=39_000, head=0, growth=140.0, summary=900),
    Load(available=7_900, head=2_000, growth=700.0),
    Load(available=180_000, head=12_000, growth=3_100.0, summary=1_500),
]


def simulated(low: float, high: float, load: Load, prices: Prices, epochs: int = 3) -> tuple[float, int]:
    """(Cost per request, requests per epoch), token by token: each request against the one before."""
    spent, requests, history = 0.0, 0, low
    done = 0
    cached = 0.0  # tokens of history that the last request left in the cache
    while done < epochs:
        spent += prices.read * (load.head + cached) + prices.write * (history - cached)
        requests += 1
        cached, history = history, history + load.growth
        if history > high:
            if load.summary:
                spent += prices.input * (history - low) + prices.output * load.summary
            history, cached, done = low, 0.0, done + 1
    return spent / requests / prices.input, requests // epochs


@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("load", LOADS)
def test_the_formula_is_what_a_simulation_costs(load: Load, prices: Prices) -> None:
    for low in (0.2, 0.4, 0.6):
        for high in (0.65, 0.8, 0.9):
            kept = low * load.available
            found, requests = simulated(kept, high * load.available, load, prices)
            assert cost(kept, requests, load, prices) == pytest.approx(found)


@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("keep", [0.25, 0.4, 0.5])
def test_no_other_watermarks_cost_less(load: Load, prices: Prices, keep: float) -> None:
    plan = best(Budget(load.available + load.head), load, prices, keep)
    low = keep * load.available
    found, requests = simulated(low, plan.budget.high * load.available, load, prices)
    assert (plan.cost, plan.requests) == (pytest.approx(found, abs=0.1), requests)
    for step in range(1, 400):
        high = keep / (1 - LEAST_GAIN) + step / 400 * (HIGHEST - keep / (1 - LEAST_GAIN))
        for kept in (low, low * 1.1):
            if kept / (1 - LEAST_GAIN) <= high * load.available:
                assert simulated(kept, high * load.available, load, prices)[0] >= found - 0.06


@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("load", LOADS)
def test_the_break_even_is_when_reading_on_has_cost_more(load: Load, prices: Prices) -> None:
    low, before = 0.4 * load.available, 0.8 * load.available
    even = break_even(low, before, load, prices)
    if prices.read == 0:
        assert even is None
        return
    summary = prices.input * (before - low) + prices.output * load.summary if load.summary else 0.0
    compacted = [prices.write * low + summary + prices.read * low * n for n in range(500)]
    going_on = [prices.read * before * (n + 1) for n in range(500)]
    first = next(n + 1 for n in range(500) if compacted[n] <= going_on[n] + 1e-6)
    assert even == first


def test_the_dearer_a_write_the_rarer_a_compaction() -> None:
    load = LOADS[0]
    highs = [best(Budget(40_000), load, Prices(read=0.1, write=w), 0.3).budget.high for w in (0.1, 0.5, 1.25)]
    assert all(a < b for a, b in pairwise(highs))


@pytest.mark.parametrize(
    "given", [{"read": -0.1}, {"write": float("nan")}, {"output": float("inf")}, {"input": 0}, {"read": "cheap"}, {"read": True}]
)  # fmt: skip
def test_a_price_that_is_none_is_refused_with_what_was_found(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(PolicyError, match=name):
        Prices(**given)


@pytest.mark.parametrize("keep", [0, -1, 0.9, float("nan")])
def test_a_share_that_leaves_no_room_is_refused(keep: float) -> None:
    with pytest.raises(PolicyError, match="keep"):
        best(Budget(40_000), LOADS[0], Prices(), keep)


def test_a_tree_plans_from_its_own_growth() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a", system="Be brief. " * 20)
        assert tree.plan(8_000).budget == Budget(8_000)  # nothing observed, nothing changed
        tree.user("Go.")
        for number in range(30):
            tree.assistant(f"Step {number}: " + "more words " * 100)
        steps = [ctxtree.count([node.message]) for node in tree.path()[1:]]
        plan = tree.plan(Budget(8_000, reserve=500), policy=Policy.agent())
        assert plan.growth == pytest.approx(sum(steps) / 30, rel=0.05)
        assert plan.budget.window == 8_000
        assert plan.budget.reserve == 500
        assert 0.4 == plan.budget.low < plan.budget.high <= HIGHEST
        dear = tree.plan(8_000, Prices(), policy=Policy.agent(), summarizer=lambda text: text)
        assert dear.cost > tree.plan(8_000, policy=Policy.agent()).cost
        assert not tree.turns()


def test_the_command_prints_the_plan() -> None:
    call = ["plan", str(LOG), "--budget", "6000", "--policy", "agent", "--prices", "read=.5,write=1"]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0].split("\t")[:2] == ["high", "low"]
    assert "break-even" in done.stdout
    assert "growth" in done.stderr
    for wrong in ("read", "read=x", "cheap=1"):
        failed = CliRunner().invoke(app, ["plan", str(LOG), "--prices", wrong])
        assert isinstance(failed.exception, PolicyError)
