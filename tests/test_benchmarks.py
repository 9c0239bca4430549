"""The benchmarks run: small figures of those that need no data, each with what its table shows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import cache, fuzz, grow, knapsack, needed, once, peers, scale, store
from benchmarks.__main__ import _against, spread, table
from benchmarks.work import conversation
from ctxtree import Message, Weights

ROOT = Path(__file__).parent.parent
ADAPTER = """
from protocol import main, said

class Peer:
    def __init__(self, budget):
        self.budget, self.held = budget, []

    def put(self, message, tokens):
        self.held.append((message, tokens))

    def ask(self):
        return self.held[-1:]

    def sent(self, context):
        told = said("user", f"{self.budget}, {len(self.held)}, {context[0][1]}")
        return [*(dict(message) for message, _ in context), told]

main(Peer, "pip")
"""
LOG = ROOT / "examples" / "logs" / "coding-agent.jsonl"


def test_the_conversation_is_the_same_for_the_same_seed() -> None:
    first, again = list(conversation(30)), list(conversation(30))
    assert first == again
    assert sum(message["role"] == "assistant" for message in first) == 30
    assert first != list(conversation(30, seed=8))


def test_growth_and_one_compile() -> None:
    grown = grow.run(calls=60, budget=2_000)
    assert (grown["over budget"], grown["refused"], grown["refused by some"]) == (0, 0, 0)
    assert grown["calls"] == 60
    assert 0 < grown["median"] <= grown["p99"]
    asked = once.run(messages=60, budget=1_000, words="what about the cache?")
    assert asked["cold"] >= asked["warm"] > 0
    assert asked["MB"] > asked["MB imported"] > 1


def test_caching_and_knapsack_on_the_log_that_ships() -> None:
    rows = cache.rows(LOG, window=6_000)
    assert [row["low"] for row in rows] == [0.5, *cache.KEPT]
    for row in rows:
        assert row["breaks between compactions"] == 0
        assert 0 < row["cost"] < row["sliding window"]
    near = knapsack.run([LOG], budgets=(2_000,))
    assert 0 <= near["least"] <= near["mean"] <= 1


def test_old_names_that_an_answer_needs_are_looked_for_in_its_request() -> None:
    said = [Message.of("user", "Open lib/engine.py now."), Message.of("assistant", "Done.")]
    for turn in range(needed.AGE):
        said += [Message.of("user", f"What else is there, {'word ' * 40}?"), Message.of("assistant", "Nothing.")]
    said.append(Message.of("assistant", "I close lib/engine.py and lib/new.py."))
    assert needed.share(said, 8_000, Weights()) == (1, 1)
    assert needed.share(said, 20, Weights()) == (0, 1), "no request can be made"


def test_store_and_generated_cases() -> None:
    kept = store.run(messages=200)
    assert kept["bytes of file"] > 0
    assert fuzz.run(cases=20)["faults"] == 0
    images = store.unique(steps=100, forks=5, image_bytes=300_000)
    assert images["MB of file"] < images["MB of unique content"] + 0.2
    assert images["MB written out"] > 4
    assert 0 < images["path"] < 100


def test_the_command_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    place = tmp_path / "figures.json"
    call = [sys.executable, "-m", "benchmarks", "recall", "chinese", "--json", str(place)]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "## recall\n\nnot run: its data was not given" in done.stdout
    assert json.loads(place.read_text())["machine"]["python"]
    assert table([{"a": 1, "b": 0.123456}, {"a": 2}]).splitlines() == [
        "| a | b |", "| --- | --- |", "| 1 | 0.123 |", "| 2 |  |",
    ]  # fmt: skip


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A peer `tiny`, run by this Python, with its adapter in the file returned."""
    file = tmp_path / "adapter.py"
    file.write_text(ADAPTER)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "benchmarks" / "adapters"))
    monkeypatch.setitem(peers.PEERS, "tiny", peers.Peer("tiny", ("tiny==1",)))
    monkeypatch.setattr(peers, "_environment", lambda name: Path(sys.executable))
    monkeypatch.setattr(peers, "_adapter", lambda name: file)
    monkeypatch.setattr(peers, "_vocabularies", lambda: tmp_path)
    return file


def test_a_peer_is_told_the_work_and_tells_what_it_would_send(adapter: Path) -> None:
    messages = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    version, (done,) = peers.ask("tiny", [peers.Job(messages, [1, 2], 100)])
    assert version.split(".")[0].isdigit()
    assert len(done.seconds) == 2
    assert done.requests[0] == [messages[0], {"role": "user", "content": "97, 1, 5"}]
    assert done.requests[1][0] == messages[1]


def test_a_peer_that_fails_stands_in_its_row(adapter: Path) -> None:
    adapter.write_text("raise RuntimeError('no such wheel')")
    job = peers.Job([{"role": "user", "content": "one"}], [1], 100)
    rows = _against({"mean": 1.0}, ["tiny"], lambda name: peers.grow(name, job), "mean")
    assert rows == [{"mean": 1.0}, {"who": "tiny", "not run": "tiny: RuntimeError: no such wheel"}]
    assert _against({"mean": 1.0}, ["tiny"], lambda name: {"mean": 4.0}, "mean")[1]["ctxtree / peer"] == 0.25


def test_an_unknown_peer_is_a_usage_error_that_names_the_known() -> None:
    call = [sys.executable, "-m", "benchmarks", "grow", "--peers", "langchain,nobody"]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no peer nobody; known: langchain, langchain-counting, llama-index" in done.stderr
    assert peers.chosen("all") == list(peers.PEERS)


def test_requests_are_judged_by_the_exact_count_and_the_rules() -> None:
    hello = {"role": "user", "content": "hello"}
    orphan = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
    late = [{"role": "assistant", "content": "yes"}, hello]
    found = grow.judged([[hello], [hello, hello], [hello, orphan], [], late], budget=8)
    assert found == {"over budget": 3, "refused": 2, "refused by some": 1}


def test_a_prefix_is_read_at_a_tenth_and_what_is_new_is_written() -> None:
    one, two = ["hello"], ["hello", "hello"]
    assert cache.priced([one, two]) == pytest.approx(1.25 + 0.1 + 1.25)
    assert cache.priced([one, ["world"]]) == pytest.approx(2.5)
    assert cache.breaks([one, two, ["world"], two]) == 2


def test_runs_of_one_thing_become_one_row_least_to_most() -> None:
    rows = [{"who": "a", "calls": 9, "mean": mean} for mean in (2.0, 1.0)] + [{"who": "b", "mean": 3.0}]
    assert spread(rows) == [{"who": "a", "calls": 9, "mean": "1 to 2"}, {"who": "b", "mean": 3.0}]


def test_a_large_store_is_whole_and_a_fork_in_it_copies_nothing() -> None:
    large = scale.run(nodes=400, trees=200)
    assert (large["nodes"], large["trees"], large["engine"]) == (400, 200, "sqlite")
    assert large["bytes a node"] > 0
    forked = scale.deep(nodes=300, forks=20)
    assert forked["bytes, tip"] + forked["bytes, middle"] < 2_000
