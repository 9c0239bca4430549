"""Fifteen situations that other context tools got wrong, each through the public surface alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

import ctxtree
from ctxtree import Budget, BudgetError, Context, CtxtreeError, Policy, Store, TargetError, ToolCall, Tree
from tests.cases.terms import texts
from tests.test_fuzz import broken
from tests.validity import violations

TARGETS = ["openai.chat", "openai.responses", "anthropic", "gemini", "text"]
DIALECTS = ["strict", "no_system", "mistral", "bedrock", "deepseek"]
PLACES = [*((target, None) for target in TARGETS), *(("openai.chat", dialect) for dialect in DIALECTS)]
POLICIES = [Policy.hybrid(), Policy.agent()]
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa "
NOTHING_RECORDED = "no result recorded here; it may have run"


@pytest.fixture
def store() -> Iterator[Store]:
    with ctxtree.connect(":memory:") as opened:
        yield opened


def faults(made: Context, place: tuple[str, str | None] = ("openai.chat", None)) -> list[str]:
    """Rules of the target and promises of the report that the request breaks."""
    return [*violations(place[0], made.payload, place[1]), *broken(made.report)]


def size(text: str) -> int:
    return ctxtree.count(text, model="o200k_base")


def body(tokens: int, word: str = "") -> str:
    """About so many tokens of lines, each with a number of its own."""
    lines = [f"{word}{number}: {WORDS}" for number in range(tokens // 14 + 1)]
    return "\n".join(lines)


def call(tree: Tree, identity: str, name: str, result: str, error: bool = False, **arguments: Any) -> str:
    """One call with its result; the id of the node of the result."""
    tree.assistant(None, calls=[ToolCall(id=identity, name=name, arguments=arguments)])
    return tree.tool(identity, result, error=error).id


def within(tree: Tree, windows: range | list[int], **ask: Any) -> Iterator[tuple[int, Context]]:
    """The requests that can be made at these windows; the others raise `BudgetError` with what they need."""
    made = 0
    for window in windows:
        try:
            context = tree.compile(budget=window, record=False, **ask)
        except BudgetError as error:
            assert error.needed > window
            continue
        made += 1
        yield window, context
    assert made


# -- 1 ---------------------------------------------------------------------------------------

ROWS = json.dumps(
    {
        "total": 321,
        "next_page": "p2",
        "rows": [{"id": n, "name": f"row {n}", "state": "ok", "size": n * 37} for n in range(250)],
    }
)


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_01_a_batch_over_the_cut_stays_whole_with_its_long_result_condensed(
    place: tuple[str, str | None], store: Store
) -> None:
    target, dialect = place
    tree = store.tree("batch")
    tree.user("List all rows, and the state of the queue.")
    tree.assistant(
        None,
        calls=[ToolCall(id="c1", name="rows", arguments={}), ToolCall(id="c2", name="queue", arguments={})],
    )
    long = tree.tool("c1", ROWS)
    tree.tool("c2", "queue state: idle. " + WORDS * 3)
    assert size(ROWS) > 4_500
    made = tree.compile(budget=1_000, target=target, dialect=dialect)
    text = texts(made.payload)
    assert not faults(made, place)
    assert "queue state: idle" in text
    assert "321" in text
    assert "next_page" in text
    notice = re.search(r"recall ([0-9a-f]{12})", text)
    assert notice is not None
    assert notice[1] == long.id[:12]
    assert tree.recall(notice[1]) == ROWS
    for _, made in within(
        tree, [60, 90, 130, 200, 400, 700, 1_500, 3_000, 9_000], target=target, dialect=dialect
    ):
        assert not faults(made, place)
        text = texts(made.payload)
        shown = [name in text for name in ("rows", "queue")]
        assert len(set(shown)) == 1


# -- 2 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_02_the_newest_user_message_keeps_both_ends_and_a_notice(target: str, store: Store) -> None:
    """The code of the report is `newest_user_truncated` in `degraded`."""
    tree = store.tree("long", system=body(180, "rule "))
    for turn in range(6):
        tree.user(f"question {turn}: {body(150)}")
        tree.assistant(f"answer {turn}: {body(150)}")
    words = f"FIRST WORDS\n{body(9_000)}\nLAST WORDS"
    newest = tree.user(words)
    for _, made in within(tree, [2_400, 3_000, 4_000, 6_000], target=target):
        text = texts(made.payload)
        assert not faults(made, (target, None))
        assert "FIRST WORDS" in text
        assert "LAST WORDS" in text
        assert re.search(r"truncated: [\d,]+ tokens; whole: recall " + newest.id[:12], text)
        assert "newest_user_truncated" in {signal.code for signal in made.report.degraded}
        spoken = next(item for item in made.report.items if newest.id in item.nodes)
        assert spoken.level == "condensed"
        assert spoken.tokens >= 1_000
    assert tree.recall(newest.id[:12]) == words


# -- 3 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_03_a_head_over_the_budget_is_an_error_with_the_least_that_would_do(
    target: str, store: Store
) -> None:
    tree = store.tree("head", system=body(800))
    tree.user("hello")
    tools = [
        {
            "type": "function",
            "function": {"name": f"tool_{n}", "description": body(100), "parameters": {"type": "object"}},
        }
        for n in range(5)
    ]
    with pytest.raises(BudgetError) as caught:
        tree.compile(budget=Budget(600, reserve=100), target=target, tools=tools)
    error = caught.value
    assert error.available == 500
    assert error.needed > 800
    assert sum(error.parts.values()) >= error.needed - len(error.parts)
    assert error.parts["system"] >= 700
    assert str(error.needed) in str(error)
    assert tree.turns() == ()
    made = tree.compile(budget=Budget(error.needed + 100, reserve=100), target=target, tools=tools)
    assert not faults(made, (target, None))
    with pytest.raises(BudgetError):
        tree.compile(budget=Budget(error.needed + 99, reserve=100), target=target, tools=tools)


# -- 4 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("policy", POLICIES, ids=["hybrid", "agent"])
def test_04_the_only_user_message_outlives_forty_tool_rounds(
    target: str, policy: Policy, store: Store
) -> None:
    goal = "Bring the deploy scripts up to date, but never touch prod."
    tree = store.tree("deploy")
    tree.user(goal)
    for turn in range(40):
        call(tree, f"c{turn}", "bash", body(1_500, f"run {turn} line "), command=f"step {turn}")
    for _, made in within(tree, [3_000, 6_000, 12_000, 30_000], target=target, policy=policy):
        text = texts(made.payload)
        assert not faults(made, (target, None))
        assert goal in text
        assert "run 39 line" in text
        whole = [item for item in made.report.items if item.kind == "exchange" and item.level == "full"]
        assert len(whole) <= 5
        newest = next(item for item in made.report.items if tree.path()[-1].id in item.nodes)
        assert newest.level in ("full", "condensed")
        asked = next(item for item in made.report.items if item.nodes == (tree.path()[0].id,))
        assert asked.level == "full"


# -- 5 ---------------------------------------------------------------------------------------

MIXED: list[dict[str, Any]] = [
    {"role": "user", "content": "look at both"},
    *(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": f"{name}1", "type": "function", "function": {"name": name, "arguments": "{}"}}
            ],
        }
        for name in "ab"
    ),
    *({"role": "tool", "tool_call_id": f"{name}1", "content": f"result {name} " * 20} for name in "ab"),
    {"role": "user", "content": "go on"},
]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_05_no_cut_of_a_mixed_run_leaves_an_orphan(place: tuple[str, str | None], store: Store) -> None:
    target, dialect = place
    for start in range(len(MIXED)):
        for stop in range(start + 1, len(MIXED) + 1):
            tree = store.tree(f"{start} {stop}")
            tree.extend(MIXED[start:stop])
            for spoken in (None, "and now?"):
                try:
                    made = tree.compile(budget=4_000, target=target, dialect=dialect, input=spoken)
                except TargetError as error:
                    assert error.code == "no_user_turn"
                    assert not any(one["role"] == "user" for one in MIXED[start:stop])
                    assert spoken is None
                    continue
                assert not faults(made, place), (start, stop)
    tree = store.tree(f"0 {len(MIXED)}")
    for window, made in within(tree, range(10, 240, 7), target=target, dialect=dialect):
        assert not faults(made, place), window


# -- 6 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES, ids=["hybrid", "agent"])
def test_06_thirty_three_compactions_keep_the_goal_and_pins_without_growth(
    policy: Policy, store: Store
) -> None:
    goal = "Move the invoices of all customers to the new schema."
    pinned = "The schema file is db/schema_v7.sql."
    tree = store.tree("cycles", system="You are careful.")
    tree.user(goal)
    tree.assistant("I will.")
    tree.pin(tree.user(pinned))
    tree.assistant("Noted.")
    summaries: list[int] = []
    totals: list[int] = []
    for cycle in range(33):
        for step in range(3):
            tree.user(f"What about customer {cycle}-{step}? {body(150)}")
            tree.assistant(f"Customer {cycle}-{step} has moved. {body(150)}")
        tree.user(f"Continue with batch {cycle}.")
        made = tree.compile(budget=Budget(1_500, reserve=200), policy=policy)
        assert made.report.compaction is not None, cycle
        assert not faults(made)
        text = texts(made.payload)
        assert goal in text
        assert pinned in text
        summaries.append(made.report.budget.summary)
        totals.append(made.report.tokens)
        tree.assistant("Done.")
    assert max(totals) <= 1_300
    assert max(summaries[-10:]) <= max(summaries[:10]) + 30


# -- 7 ---------------------------------------------------------------------------------------


def _repeats(request: Any) -> str:
    return "The user went on and on about everything that was ever said here. " * 400


def _limit(request: Any) -> str:
    return "429 rate limit exceeded, please try again later"


def _silent(request: Any) -> str:
    return ""


def _failing(request: Any) -> str:
    raise TimeoutError("no answer")


@pytest.mark.parametrize("summarizer", [_repeats, _limit, _silent, _failing])
def test_07_a_summary_that_is_none_is_replaced_and_the_reason_told(summarizer: Any, store: Store) -> None:
    tree = store.tree("bad summaries")
    tree.user("Plan the trip to Oslo for 4 people.")
    for turn in range(12):
        tree.assistant(f"answer {turn}: {body(100)}")
        tree.user(f"question {turn}: {body(100)}")
    made = tree.compile(budget=1_500, summarizer=summarizer)
    text = texts(made.payload)
    assert not faults(made)
    assert made.report.compaction is not None
    assert made.report.compaction.after < made.report.compaction.before
    (rejected,) = [signal for signal in made.report.notes if signal.code == "summary_rejected"]
    assert rejected.message
    assert "went on and on" not in text
    assert "rate limit" not in text
    assert "Plan the trip to Oslo for 4 people." in text
    by_rules = texts(tree.compile(budget=1_500, record=False).payload)
    assert _without_key(text) == _without_key(by_rules)


def _without_key(text: str) -> str:
    return re.sub(r"(?<=summary )[0-9a-f]{6}", "key", text)


# -- 8 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES, ids=["hybrid", "agent"])
def test_08_a_compaction_that_can_free_nothing_is_tried_once(policy: Policy, store: Store) -> None:
    asked: list[int] = []

    def summarizer(request: Any) -> str:
        asked.append(len(request.entries))
        return "The user greeted."

    tree = store.tree("full")
    tree.user("hi")
    tree.assistant("hello")
    tree.pin(tree.user(f"Keep all of this: {body(1_700)}"))
    tree.assistant("Kept.")
    tree.user("Next?")
    first = tree.compile(budget=2_000, policy=policy, summarizer=summarizer)
    assert "no_progress" in {signal.code for signal in first.report.degraded}
    tries = len(asked)
    assert tries <= 1
    for _ in range(5):
        made = tree.compile(budget=2_000, policy=policy, summarizer=summarizer)
        assert made.payload == first.payload
        assert made.report.compaction is None
    assert len(asked) == tries
    tree.assistant("Here.")
    tree.user("And then?")
    made = tree.compile(budget=2_000, policy=policy, summarizer=summarizer)
    assert not faults(made)
    assert len(asked) <= tries + 1
