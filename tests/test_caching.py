"""Prompt caching: what stays byte for byte, where break points stand, what is told about a break."""

import json
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ctxtree
from ctxtree import Budget, Context, Node, Policy, Prices, ToolCall

LOG = Path(__file__).parent.parent / "examples" / "logs" / "coding-agent.jsonl"
LOOKED_BACK = 20
"""Blocks that Anthropic looks back from a break point."""

TOOLS = [{"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}}]
POLICIES = {"agent": Policy.agent(), "stable": Policy.stable()}


def session(tree: ctxtree.Tree, steps: int = 40, parallel: int = 1) -> Iterator[None]:
    """A user's wish every ten steps, and a tool round each; yields where a request is made."""
    for step in range(steps):
        if step % 10 == 0:
            tree.user(f"Now make module {step // 10} faster, and keep its tests green.")
        yield
        calls = [
            ToolCall(id=f"c{step}_{n}", name="read", arguments={"path": f"src/m{step % 7}_{n}.py"})
            for n in range(parallel)
        ]
        tree.assistant(f"Step {step}: I read {parallel} files.", calls=calls)
        for call in calls:
            tree.tool(call.id, f"def f{step}(): pass  # line of {call.id}\n" * (120 // parallel))
        if step % 10 == 9:
            yield
            tree.assistant(f"Module {step // 10} is faster now.")


def requests(policy: Policy, target: str, budget: Budget, parallel: int = 1, **ask: Any) -> list[Context]:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a", system="You are a careful engineer.")
        return [
            tree.compile(budget=budget, target=target, policy=policy, **ask)
            for _ in session(tree, parallel=parallel)
        ]


def blocks(payload: dict[str, Any]) -> list[tuple[str, bool]]:
    """Each block in the order that providers read, as bytes, and whether a break point stands after it."""
    found = [("tools", tool) for tool in payload.get("tools", ())]
    found += [("system", block) for block in payload.get("system", ())]
    for message in payload.get("messages", payload.get("input", ())):
        content = message.get("content")
        rest = {name: value for name, value in message.items() if name not in ("role", "content")}
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        found += [(message.get("role", ""), part) for part in [*parts, *([rest] if rest else [])]]
    bare = [
        (role, {k: v for k, v in part.items() if k != "cache_control"}, "cache_control" in part)
        for role, part in found
    ]
    return [(json.dumps([role, part], sort_keys=True), cut) for role, part, cut in bare]


@pytest.mark.parametrize("target", ["openai.chat", "openai.responses", "anthropic"])
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_between_compactions_a_request_only_grows(policy: Policy, target: str) -> None:
    made = requests(policy, target, Budget(8_000), tools=TOOLS)
    compactions = [one.report.compaction is not None for one in made]
    assert sum(compactions) >= 2
    for (before, after), compacted in zip(pairwise(made), compactions[1:], strict=True):
        old, new = ([text for text, _ in blocks(one.payload)] for one in (before, after))
        if compacted:
            assert after.report.prefix.cause.startswith("a compaction: over the")
        else:
            assert new[: len(old)] == old
            assert (after.report.prefix.break_at, after.report.prefix.cause) == (-1, "")


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_real_session_only_grows_between_compactions(policy: Policy) -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("again")
        before: list[str] = []
        compactions = 0
        for _ in real_session(tree):
            made = tree.compile(budget=Budget(8_000), target="openai.chat", policy=policy)
            now = [text for text, _ in blocks(made.payload)]
            if made.report.compaction is None:
                assert now[: len(before)] == before
            compactions += made.report.compaction is not None
            before = now
        assert compactions >= 2


@pytest.mark.parametrize("parallel", [1, 3, 15])
@pytest.mark.parametrize("system", ["You are a careful engineer.", None])
def test_the_next_request_finds_all_that_the_one_before_wrote(parallel: int, system: str | None) -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a", system=system)
        held: set[int] = set()
        last, compactions = 0, 0
        for _ in session(tree, parallel=parallel):
            made = tree.compile(budget=Budget(12_000), target="anthropic", policy=Policy.agent(), tools=TOOLS)
            now = blocks(made.payload)
            cuts = [at for at, (_, cut) in enumerate(now) if cut]
            prefixes = [hash(tuple(text for text, _ in now[: at + 1])) for at in range(len(now))]
            assert 1 < len(cuts) <= 4
            assert cuts[0] == (1 if system else 0)  # the end of tools and system
            assert cuts[-1] == len(now) - 1
            found = [
                at
                for cut in cuts
                for at in range(max(0, cut - LOOKED_BACK + 1), cut + 1)
                if prefixes[at] in held
            ]
            if made.report.compaction is None:
                assert max(found, default=0) >= last
            else:
                compactions += 1
                assert found  # tools and system are still held
            held |= {prefixes[cut] for cut in cuts}
            last = cuts[-1]
        assert compactions


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_state_stands_late_and_leaves_what_is_before_it_alone(policy: Policy) -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a", system="Be brief.")
        for turn in range(5):
            tree.user(f"Question {turn}")
            tree.assistant(f"Answer {turn}")
        tree.set_state(phase="plan")
        tree.user("And now?")
        before = tree.compile(budget=8_000, target="anthropic", policy=policy)
        tree.set_state(phase="build")
        after = tree.compile(budget=8_000, target="anthropic", policy=policy)
        old, new = blocks(before.payload), blocks(after.payload)
        (at,) = [i for i, (text, _) in enumerate(old) if "phase" in text]
        assert at >= len(old) - 2
        assert old[:at] == new[:at]
        assert old[at - 1][1]  # a break point before what changes
        assert "plan" in old[at][0]
        assert "build" in new[at][0]
        assert after.report.prefix.cause == "the state changed or moved to newer words"


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_failed_attempt_is_told_where_it_was_left_and_nothing_before_changes(policy: Policy) -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a", system="Be brief.")
        for turn in range(5):
            tree.user(f"Question {turn}")
            tree.assistant(f"Answer {turn}")
        tree.user("Fix the build")
        before = [
            text for text, _ in blocks(tree.compile(budget=8_000, target="anthropic", policy=policy).payload)
        ]
        tree.assistant("I deleted the lock file.")
        tree.retry("the build still fails")
        after = tree.compile(budget=8_000, target="anthropic", policy=policy)
        now = [text for text, _ in blocks(after.payload)]
        assert now[: len(before)] == before
        assert "the build still fails" in "".join(now[len(before) :])


def test_a_break_says_what_broke_it() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a", system="Be brief.")
        for turn in range(4):
            tree.user(f"Question {turn}")
            answer = tree.assistant(f"Answer {turn}")
        tree.user("And now?")
        ask: dict[str, Any] = {"budget": Budget(8_000), "target": "anthropic", "policy": Policy.hybrid()}

        def cause(**changes: Any) -> str:
            return tree.compile(**{**ask, **changes}).report.prefix.cause

        assert cause() == "the first request on this branch"
        assert cause() == ""
        assert cause(tools=TOOLS) == "the tools or the response format changed"
        cause()
        assert cause(budget=Budget(500)) == ""  # all of it still fits: nothing broke
        cause()
        tree.remember("The user is called Ada.")
        assert cause() == "the facts changed"
        assert cause(retrieved=["a passage"]) == "the retrieved texts changed"
        cause()
        tree.set_state(phase="plan")
        assert cause() == "the state changed or moved to newer words"
        assert cause(policy=Policy.stable()) == "another policy than in the request before"
        cause()
        tree.edit(answer, "Another answer")
        tree.user("And now?")
        cause()
        tree.edit(tree.path()[1], "Another question")
        assert "first request" in cause()


def test_a_break_is_named_after_a_restart(tmp_path: Path) -> None:
    with ctxtree.connect(tmp_path / "a.db") as store:
        tree = store.tree("a", system="Be brief.")
        tree.user("Hello")
        tree.compile(budget=8_000)
    with ctxtree.connect(tmp_path / "a.db") as store:
        tree = store.tree("a", system="Be long.")
        assert tree.compile(budget=8_000).report.prefix.cause == "the system prompt changed"


def test_a_compaction_says_what_it_saved_and_cost() -> None:
    made = requests(Policy.agent(), "openai.chat", Budget(8_000))
    told = [one.report.compaction for one in made if one.report.compaction is not None]
    for one in told:
        prices = Prices(**one.prices)
        assert prices == Prices()
        assert one.saved == pytest.approx(prices.read * (one.before - one.after), abs=0.1)
        assert one.cost == pytest.approx((prices.write - prices.read) * one.after, abs=0.1)
        assert one.break_even is not None
        assert (one.break_even - 1) * one.saved < one.cost <= one.break_even * one.saved
        assert f"paid for after {one.break_even}" in one.line
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a")
        for _ in session(tree, steps=12):
            pass
        kept = tree.compile(budget=Budget(4_000), policy=Policy.agent()).report.compaction
        stored = tree.turns()[-1].report["compaction"]
        assert kept is not None
        assert (stored["saved"], stored["break_even"]) == (kept.saved, kept.break_even)


def real_session(tree: ctxtree.Tree) -> Iterator[Node]:
    """The log that ships; yields each answer where the request for it is made, and then appends it."""
    with ctxtree.connect(":memory:") as store:
        path = store.tree(store.import_file(LOG).conversations[-1].tree).path()
    for node in path:
        if node.role == "assistant" and tree.path():
            yield node
        tree.append(node.message)


@pytest.mark.parametrize("safety", ["centre", "bound"])
@pytest.mark.parametrize("window", [7_000, 10_000])
def test_a_factor_that_moves_with_each_bill_breaks_nothing(window: int, safety: Any) -> None:
    rng = random.Random(1)
    factors, over, recalled, between, billed = set(), 0, 0, 0, 0
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a")
        made: Context | None = None
        for _ in real_session(tree):
            if made is not None:  # the answer to the request before
                answer = next(node for node in reversed(tree.path()) if node.role == "assistant")
                tree.record_usage(answer, {"input_tokens": billed}, context=made)
            budget = Budget(window, safety=safety)
            made = tree.compile(budget=budget, target="anthropic", policy=Policy.agent())
            report = made.report
            billed = round(report.tokens * rng.uniform(1.22, 1.62))
            over += billed > window
            factors.add(report.counter.factor)
            recalled += any(item.kind == "recall" for item in report.items)
            between += report.compaction is None and report.prefix.break_at >= 0
            assert report.counter.estimated <= window
    assert recalled
    assert len(factors) > 3
    assert not between
    assert over <= (0 if safety == "bound" else 3)
