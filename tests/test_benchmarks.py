"""The benchmarks run: small figures of those that need no data, each with what its table shows."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks import cache, fuzz, grow, knapsack, once, store
from benchmarks.__main__ import table
from benchmarks.work import conversation

ROOT = Path(__file__).parent.parent
LOG = ROOT / "examples" / "logs" / "coding-agent.jsonl"


def test_the_conversation_is_the_same_for_the_same_seed() -> None:
    first, again = list(conversation(30)), list(conversation(30))
    assert first == again
    assert sum(message["role"] == "assistant" for message in first) == 30
    assert first != list(conversation(30, seed=8))


def test_growth_and_one_compile() -> None:
    grown = grow.run(calls=60, budget=2_000)
    assert grown["calls"] == 60
    assert 0 < grown["median"] <= grown["p99"]
    asked = once.run(messages=60, budget=1_000, words="what about the cache?")
    assert asked["cold"] >= asked["warm"] > 0


def test_caching_and_knapsack_on_the_log_that_ships() -> None:
    rows = cache.rows(LOG, window=6_000)
    assert [row["low"] for row in rows] == [0.5, *cache.KEPT]
    for row in rows:
        assert row["breaks between compactions"] == 0
        assert 0 < row["cost"] < row["sliding window"]
    near = knapsack.run([LOG], budgets=(2_000,))
    assert 0 <= near["least"] <= near["mean"] <= 1


def test_store_and_generated_cases() -> None:
    kept = store.run(messages=200)
    assert kept["bytes of file"] > 0
    assert fuzz.run(cases=20)["faults"] == 0


def test_the_command_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    place = tmp_path / "figures.json"
    call = [sys.executable, "-m", "benchmarks", "recall", "chinese", "--json", str(place)]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "## recall\n\nnot run: its data was not given" in done.stdout
    assert json.loads(place.read_text())["machine"]["python"]
    assert table([{"a": 1, "b": 0.123456}, {"a": 2}]).splitlines() == [
        "| a | b |", "| --- | --- |", "| 1 | 0.123 |", "| 2 |  |",
    ]  # fmt: skip
