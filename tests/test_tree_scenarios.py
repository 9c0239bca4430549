"""Situations in which trees of other tools lost, leaked or invented something, through the public surface alone."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ctxtree
from ctxtree import Budget, BudgetError, Context, Policy, Store, ToolCall, Tree
from tests.cases.terms import texts
from tests.test_fuzz import broken
from tests.validity import violations

TARGETS = ["openai.chat", "openai.responses", "anthropic", "gemini", "text"]
DIALECTS = ["strict", "no_system", "mistral", "bedrock", "deepseek"]
PLACES = [*((target, None) for target in TARGETS), *(("openai.chat", dialect) for dialect in DIALECTS)]
POLICIES = {"hybrid": Policy.hybrid(), "agent": Policy.agent(), "stable": Policy.stable()}
BODY = "one two three four five six seven eight nine ten " * 4
NOTHING_RECORDED = "no result recorded here; it may have run"


@pytest.fixture
def store() -> Iterator[Store]:
    with ctxtree.connect(":memory:") as opened:
        yield opened


def faults(made: Context, place: tuple[str, str | None] = ("openai.chat", None)) -> list[str]:
    return [*violations(place[0], made.payload, place[1]), *broken(made.report)]


def exchanges(tree: Tree, first: int, last: int) -> None:
    """Exchanges by number, each word of them told apart from all others."""
    for turn in range(first, last + 1):
        tree.user(f"question {turn}: {BODY}")
        tree.assistant(f"answer {turn}: {BODY}")


def numbers(text: str) -> set[int]:
    """The exchanges whose words stand in a text in full."""
    return {turn for turn in range(60) if f"answer {turn}: {BODY}" in text}


def listed(payload: dict[str, Any]) -> list[str]:
    """The messages of a request as bytes, break points for caching left out."""
    held = payload.get("messages") or payload.get("input") or payload.get("contents") or payload["text"]

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: bare(inner) for key, inner in value.items() if key != "cache_control"}
        return [bare(inner) for inner in value] if isinstance(value, list) else value

    return [json.dumps(bare(one), sort_keys=True, ensure_ascii=False) for one in held]


def words(payload: dict[str, Any]) -> list[str]:
    """The lines of a request without the names of its parts: a text alone and a list of one text are the same."""
    return [line for line in texts(payload).splitlines() if line not in ("text", "input_text")]


def common(one: list[str], other: list[str]) -> int:
    same = [mine == theirs for mine, theirs in zip(one, other, strict=False)]
    return same.index(False) if False in same else len(same)


# -- S4 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("target", TARGETS)
def test_s4_going_back_before_a_compaction_is_free_of_its_summary_and_a_fork_after_keeps_it(
    target: str, policy: Policy, tmp_path: Path
) -> None:
    told = 0

    def summarizer(request: Any) -> str:
        nonlocal told
        told += 1
        return "The user asked one question after the other. MARK-OF-THE-SUMMARY"

    ask: dict[str, Any] = {
        "budget": Budget(1_700), "target": target, "policy": policy, "summarizer": summarizer,
    }  # fmt: skip
    with ctxtree.connect(tmp_path / "s4.db") as store:
        tree = store.tree("s4")
        exchanges(tree, 1, 20)
        tree.user("question 21")
        tip = tree.compile(**ask)
        assert "MARK-OF-THE-SUMMARY" in texts(tip.payload)
        assert tip.report.compaction is not None
        covered = numbers("".join(tree.node(node).text for node in tip.report.compaction.covered))
        assert covered >= set(range(1, 8))
        early = tree.path()[7]
        assert early.text.startswith("answer 4")
    asked = told
    for visit in range(3):
        with ctxtree.connect(tmp_path / "s4.db") as store:
            tree = store.tree("s4")
            tree.fork(f"early {visit}", at=early)
            made = tree.compile(**ask)
            assert not faults(made, (target, None))
            assert numbers(texts(made.payload)) == {1, 2, 3, 4}
            assert "MARK-OF-THE-SUMMARY" not in texts(made.payload)
            assert made.report.budget.summary == 0
            tree.switch("main")
            assert tree.compile(**ask).payload == tip.payload
            tree.fork(f"late {visit}")
            late = tree.compile(**ask)
            assert late.payload == tip.payload
            assert late.report.tokens <= tip.report.tokens
            assert late.report.compaction is None
            tree.switch("main")
    assert told == asked


# -- S5 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("seed", range(3))
def test_s5_what_is_said_on_one_branch_changes_no_byte_of_another(
    seed: int, policy: Policy, tmp_path: Path
) -> None:
    """Branches of branches, written in turn and compiled over budget, the store reopened on the way."""
    rng = random.Random(seed)
    target = TARGETS[seed]
    ask: dict[str, Any] = {"budget": Budget(700), "target": target, "policy": policy}
    names = ["main"]
    own: dict[str, set[str]] = {"main": set()}

    def sent(tree: Tree, name: str) -> str:
        tree.switch(name)
        return texts(tree.compile(record=False, **ask).payload)

    def step(tree: Tree, number: int) -> str:
        name = rng.choice(names)
        tree.switch(name)
        if number > 6 and len(names) < 6 and rng.random() < 0.3:
            fork = f"fork {len(names)}"
            at = rng.choice(tree.path())
            tree.fork(fork, at=at)
            own[fork] = {word for node in tree.path() for word in node.text.split() if word.startswith("W-")}
            names.append(fork)
            name = fork
        word = f"W-{number:03}-{name.replace(' ', '-')}"
        own[name].add(word)
        said = tree.user if number % 2 else tree.assistant
        said(f"{word} speaks of the cache, the queue and the deploy. {BODY}")
        if rng.random() < 0.5 and number > 2:
            tree.user(f"{word}-more What did we say about the cache?")
            own[name].add(f"{word}-more")
            tree.compile(**ask)
        return name

    number = 0
    for _ in range(4):
        with ctxtree.connect(tmp_path / "s5.db") as store:
            tree = store.tree("s5")
            if not number:
                tree.user("Start here.")
            for _ in range(12):
                number += 1
                before = {name: sent(tree, name) for name in names}
                moved = step(tree, number)
                for name, text in before.items():
                    assert name == moved or sent(tree, name) == text, (number, name)
            for name in names:
                seen = {word for word in sent(tree, name).split() if word.startswith("W-")}
                assert seen <= own[name]
                assert seen
    assert len(names) > 2


# -- S6 --------------------------------------------------------------------------------------


def batch(tree: Tree) -> None:
    tree.user("Read all three files.")
    calls = [ToolCall(id=f"c{n}", name="read", arguments={"path": f"{n}.py"}) for n in range(3)]
    tree.assistant("Reading.", calls=calls)
    for n in range(3):
        tree.tool(f"c{n}", f"body-of-{n} " * 120)
    tree.assistant("All read.")
    tree.user("And now?")
    tree.assistant("Now nothing.")


def naive(tree: Tree) -> dict[str, Any]:
    """The path role for role, as a client without a compiler sends it."""
    return {"messages": tree.export("openai.chat")}


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_s6_a_fork_or_a_budget_at_any_index_leaves_no_half_of_a_batch(
    place: tuple[str, str | None], store: Store
) -> None:
    target, dialect = place
    tree = store.tree("s6")
    batch(tree)
    path = tree.path()
    refused = stubs = 0
    for index, node in enumerate(path):
        tree.fork(f"at {index}", at=node)
        tree.user("Go on from here.")
        refused += bool(violations("openai.chat", naive(tree)))
        for window in (150, 200, 260, 400, 700, 1_200, 4_000):
            try:
                made = tree.compile(budget=window, target=target, dialect=dialect, record=False)
            except BudgetError as error:
                assert error.needed > window
                continue
            text = texts(made.payload)
            assert not faults(made, place), (index, window)
            assert "Go on from here." in text
        answered = max(0, min(3, index - 1))
        assert text.count(NOTHING_RECORDED) == (3 - answered if index else 0), index
        assert [f"body-of-{n}" in text for n in range(3)] == [n < answered for n in range(3)]
        stubs += text.count(NOTHING_RECORDED)
    assert refused == 3
    assert stubs == 3 + 2 + 1


# -- S7 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_s7_a_retry_knows_what_failed_and_not_the_noise_of_it(target: str, store: Store) -> None:
    tree = store.tree("s7")
    asked = tree.user("Make the tests pass.")
    sent: list[str] = []
    notes: list[int] = []
    for number in range(12):
        attempt = f"approach-{number:02}"
        tree.assistant(
            f"I try {attempt}.",
            calls=[ToolCall(id=f"c{number}", name="pytest", arguments={"way": attempt})],
        )
        noise = "\n".join(f"noise line {line} of {attempt}" for line in range(200))
        tree.tool(f"c{number}", f"{noise}\nImportError: foo_{number:02}", error=True)
        assert tree.retry(reason=f"{attempt} is wrong") == asked
        made = tree.compile(budget=8_000, target=target)
        assert not faults(made, (target, None))
        text = texts(made.payload)
        assert "noise line" not in text
        assert f"ImportError: foo_{number:02}" in text
        assert "pytest" in text
        assert text not in sent
        shown = [n for n in range(12) if f"ImportError: foo_{n:02}" in text]
        assert shown == list(range(number + 1 - len(shown), number + 1))
        places = [text.index(f"foo_{n:02}") for n in shown]
        assert places == sorted(places)
        cost = sum(item.tokens for item in made.report.items if item.kind == "dead_end")
        assert cost <= Policy().dead_end_tokens
        notes.append(len(shown))
        sent.append(text)
    assert notes[1] == 2
    assert max(notes) < 12
    assert {row.nodes for row in tree.branches()} == {1, 3}


# -- S12 -------------------------------------------------------------------------------------


def plans(tree: Tree) -> dict[str, str]:
    ids = {}
    tree.user("The parser is slow. What can we do?")
    ids["A"] = tree.assistant("Plan A: rewrite parser as a state machine.").id
    ids["between"] = tree.user("Is there something smaller?").id
    ids["B"] = tree.assistant("Plan B: patch regex where it backtracks.").id
    ids["go"] = tree.user("Take B.").id
    ids["call"] = tree.assistant(None, calls=[ToolCall(id="c1", name="pytest", arguments={"k": "regex"})]).id
    ids["failure"] = tree.tool("c1", "FAILED test_regex - AssertionError: catastrophic", error=True).id
    ids["last"] = tree.assistant("The tests failed.").id
    return ids


def test_s12_words_lead_to_a_node_with_a_score_and_a_reason(store: Store) -> None:
    tree = store.tree("s12")
    ids = plans(tree)
    found = tree.find("go back to the parser plan")
    assert found.winner is not None
    assert found.winner.node == ids["A"]
    assert 0 < found.winner.score <= 1
    assert "parser" in found.winner.why
    assert tree.path()[-1].id == ids["last"]
    done = tree.backtrack("go back to the parser plan")
    assert tree.head is not None
    assert (tree.head.id, done.node.id, done.branch) == (ids["A"], ids["A"], tree.branch)


def test_s12_before_the_tests_failed_is_before_the_first_error(store: Store) -> None:
    tree = store.tree("s12")
    ids = plans(tree)
    tree.assistant(None, calls=[ToolCall(id="c2", name="pytest", arguments={"k": "again"})])
    tree.tool("c2", "FAILED test_regex - AssertionError: again", error=True)
    tree.backtrack("go back to before the tests failed")
    path = [node.id for node in tree.path()]
    assert ids["go"] in path
    assert ids["failure"] not in path


def test_s12_words_in_results_and_other_scripts_are_found(store: Store) -> None:
    tree = store.tree("s12")
    tree.user("查一下数据库")
    tree.assistant(None, calls=[ToolCall(id="c1", name="sql", arguments={"q": "select"})])
    tree.tool("c1", "columns: zebra_count, okapi_count")
    tree.assistant("方案甲：用索引重写查询。")
    chinese = tree.path()[-1]
    tree.user("Что ещё можно сделать?")
    russian = tree.assistant("План: построить материализованное представление.")
    tree.user("What about lunch?")
    tree.assistant("Pizza.")
    step = {node.id for node in tree.path()[1:4]}  # the result, or the end of its turn
    found = tree.find("go back to where we saw zebra_count")
    assert found.winner is not None
    assert found.winner.node in step
    for words, meant in (
        ("回到用索引重写查询的方案", chinese),
        ("go back to материализованное представление", russian),
    ):
        found = tree.find(words)
        assert found.winner is not None, words
        assert found.winner.node == meant.id


# -- S13 -------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("moved_on", [False, True])
def test_s13_what_a_branch_found_stands_once_at_the_end_with_its_origin(
    target: str, moved_on: bool, store: Store
) -> None:
    tree = store.tree("s13")
    exchanges(tree, 1, 2)
    fork = tree.user("Which index is missing?")
    tree.fork("b", at=fork)
    for step in range(3):
        tree.assistant(None, calls=[ToolCall(id=f"c{step}", name="explain", arguments={"q": step})])
        tree.tool(f"c{step}", f"RAW-PLAN-{step} " * 40)
    end = tree.assistant("The index on orders.customer_id is MISSING-INDEX.")
    there = [node.id for node in tree.path()[5:]]
    tree.switch("main")
    gap = [tree.assistant("While you look, I wait.").id, tree.user("Fine.").id] if moved_on else []
    before = tree.compile(budget=8_000, target=target).payload
    note = tree.merge("b")
    assert (note.merged_from, tree.merge("b").id) == ((end.id,), note.id)
    assert [node.id for node in tree.path()].count(note.id) == 1
    between = tree.diff(note.parents[0], note.merged_from[0])
    assert between.ancestor is not None
    assert between.ancestor.id == fork.id
    assert ([one.id for one in between.right], [one.id for one in between.left]) == (there, gap)
    made = tree.compile(budget=8_000, target=target)
    assert not faults(made, (target, None))
    text = texts(made.payload)
    assert text.count("MISSING-INDEX") == 1
    assert "RAW-PLAN" not in text
    assert "branch b" in text
    assert common(listed(before), listed(made.payload)) >= len(listed(before)) - 1
    assert words(made.payload)[: len(words(before))] == words(before)
    tree.switch("b")
    assert note.id not in {node.id for node in tree.path()}
    assert store.verify() == ()


# -- S14 -------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("target", TARGETS[:4])
def test_s14_branches_share_the_bytes_of_what_they_share(target: str, policy: Policy, store: Store) -> None:
    ask: dict[str, Any] = {"target": target, "policy": policy, "budget": Budget(20_000)}
    tree = store.tree("s14", system="Be brief.")
    exchanges(tree, 1, 15)
    shared = listed(tree.compile(record=False, input="x", **ask).payload)
    tree.fork("b")
    tree.user("Only on b.")
    tree.assistant("Yes, only there.")
    tree.user("Go on, b.")
    tree.switch("main")
    tree.user("Only on a.")
    one = tree.compile(**ask)
    assert tree.compile(**ask).payload == one.payload
    tree.switch("b")
    other = tree.compile(**ask)
    assert common(listed(one.payload), listed(other.payload)) >= len(shared) - 1
    assert json.dumps(one.payload.get("system")) == json.dumps(other.payload.get("system"))
    tree.switch("main")
    tree.assistant("I try the first way.")
    before = tree.compile(input="And?", **ask)
    tree.retry(reason="the first way is too slow")
    noted = tree.compile(**ask)
    assert "too slow" in texts(noted.payload)
    assert common(listed(before.payload), listed(noted.payload)) >= len(shared) - 1


@pytest.mark.parametrize("target", TARGETS[:4])
def test_s14_a_break_that_the_budget_forces_is_told_with_its_place_and_cause(
    target: str, store: Store
) -> None:
    tree = store.tree("s14", system="Be brief.")
    ask: dict[str, Any] = {"target": target, "policy": Policy.stable(), "budget": Budget(2_500)}
    before: list[str] = []
    compactions = 0
    for turn in range(1, 40):
        tree.user(f"question {turn}: {BODY}")
        made = tree.compile(**ask)
        now = listed(made.payload)
        prefix = made.report.prefix
        if made.report.compaction is not None:
            compactions += 1
            assert 0 <= prefix.break_at <= common(before, now) + 1
            assert prefix.cause.startswith("a compaction")
        elif before:
            assert (prefix.break_at, prefix.cause) == (-1, "")
            assert common(before, now) == len(before)
        before = now
        tree.assistant(f"answer {turn}: {BODY}")
    assert 2 <= compactions <= 8


def test_s14_an_input_that_was_stored_in_other_words_is_told_as_the_cause(store: Store) -> None:
    tree = store.tree("s14")
    exchanges(tree, 1, 2)
    tree.compile(budget=4_000, input="And?")
    tree.user("And what then?")
    tree.assistant("Nothing.")
    for input in (None, "And?"):
        prefix = tree.compile(budget=4_000, input=input, record=False).report.prefix
        assert prefix.break_at == 4
        assert prefix.cause == "the input of the request before was not stored as it was given"


# -- what others fell over besides -----------------------------------------------------------


def test_a_summary_that_is_cancelled_leaves_no_half_of_it(store: Store) -> None:
    tree = store.tree("cancelled")
    exchanges(tree, 1, 20)
    started = asyncio.Event()

    async def slow(request: Any) -> str:
        started.set()
        await asyncio.sleep(60)
        return "never"

    async def main() -> None:
        work = asyncio.create_task(tree.acompile(budget=1_500, summarizer=slow))
        await started.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(main())

    def stopped(request: Any) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tree.compile(budget=1_500, summarizer=stopped)
    assert tree.turns() == ()
    asked: list[int] = []

    def works(request: Any) -> str:
        asked.append(1)
        return "The user asked many questions. WHOLE"

    made = tree.compile(budget=1_500, summarizer=works)
    assert asked
    assert "WHOLE" in texts(made.payload)
    assert not faults(made)
    assert store.verify() == ()


def test_a_move_during_a_summary_leaves_it_on_the_path_that_it_tells_of(store: Store) -> None:
    tree = store.tree("moving")
    exchanges(tree, 1, 20)
    early = tree.path()[5]

    async def summarizer(request: Any) -> str:
        tree.fork("elsewhere", at=early)
        tree.user("What is this?")
        return "The user asked many questions. OF-MAIN"

    made = asyncio.run(tree.acompile(budget=1_500, summarizer=summarizer))
    assert "OF-MAIN" in texts(made.payload)
    assert "What is this?" not in texts(made.payload)
    assert tree.branch == "elsewhere"
    assert "OF-MAIN" not in texts(tree.compile(budget=1_500).payload)
    (turn,) = [row for row in tree.turns() if row.payload_hash != tree.turns()[-1].payload_hash]
    assert turn.branch == "main"
    tree.switch("main")

    async def again(request: Any) -> str:
        raise AssertionError("a second summary of the same messages")

    assert asyncio.run(tree.acompile(budget=1_500, summarizer=again)).payload == made.payload


@pytest.mark.parametrize("name", ["main", "taken", "", "HEAD", "a~1", "deadbeef", "a\nb"])
def test_a_name_that_is_taken_or_none_is_refused_and_nothing_moves(name: str, store: Store) -> None:
    tree = store.tree("names")
    tree.user("hello")
    tree.fork("taken")
    tree.switch("main")
    with pytest.raises(ctxtree.CtxtreeError):
        tree.fork(name)
    assert tree.branch == "main"
    assert [row.name for row in tree.branches()] == ["main", "taken"]


def test_a_summary_of_summaries_is_left_behind_with_the_originals_by_going_back(store: Store) -> None:
    tree = store.tree("deep")
    compactions = 0
    for turn in range(1, 50):
        exchanges(tree, turn, turn)
        made = tree.compile(budget=1_500, input="And?")
        compactions += made.report.compaction is not None
    assert compactions >= 3
    path = tree.path()
    for at in (3, 9, 29, 61):
        tree.fork(f"back {at}", at=path[at])
        text = texts(tree.compile(budget=100_000, input="And?").payload)
        assert numbers(text) == set(range(1, (at + 1) // 2 + 1))
        assert "[summary" not in text
        small = texts(tree.compile(budget=1_500, input="And?").payload)
        assert not any(f"question {turn}:" in small for turn in range((at + 1) // 2 + 1, 50))


def test_a_branch_gets_no_name_from_what_was_said(store: Store) -> None:
    tree = store.tree("named")
    exchanges(tree, 1, 20)
    tree.compile(budget=1_500)
    asked = tree.path()[-2]
    tree.edit(asked, "other words")
    tree.backtrack("start over")
    tree.switch("main")
    tree.retry()
    assert [row.name for row in tree.branches()] == ["main", "main.2", "main.3", "main.4"]


def test_the_users_turn_that_a_client_sends_again_after_a_retry_is_one_turn(store: Store) -> None:
    asked = {"role": "user", "content": "Do it."}
    tree = store.tree("again")
    tree.sync([asked, {"role": "assistant", "content": "Badly."}])
    tree.retry(reason="badly done")
    assert tree.sync([asked]) == ()
    tree.sync([asked, {"role": "assistant", "content": "Well."}])
    assert [node.text for node in tree.path()] == ["Do it.", "Well."]
    assert texts(tree.compile(budget=1_000, input="Thanks.").payload).count("Do it.") == 1


def test_what_is_erased_on_a_shared_path_leaves_both_branches_whole(store: Store) -> None:
    tree = store.tree("shared")
    exchanges(tree, 1, 3)
    gone = tree.user("The SECRET-WORD is swordfish.")
    kept = tree.assistant("Understood.")
    tree.fork("other", at=kept)
    tree.user("On the other.")
    tree.switch("main")
    tree.user("On main.")
    lengths = [row.nodes for row in tree.branches()]
    store.purge(gone.id, "asked for", "shared")
    assert [row.nodes for row in tree.branches()] == lengths
    for row in tree.branches():
        tree.switch(row.name)
        made = tree.compile(budget=4_000)
        assert not faults(made)
        assert "SECRET-WORD" not in texts(made.payload)
        assert "Understood." in texts(made.payload)


def test_many_threads_read_what_one_writes_and_see_whole_paths(store: Store) -> None:
    tree = store.tree("threads")
    exchanges(tree, 1, 5)
    wrong: list[str] = []
    done = threading.Event()

    def watch() -> None:
        mine = store.tree("threads")
        while not done.is_set():
            path = store.tree("threads").path()
            if any(child.parent != parent.id for parent, child in pairwise(path)):
                wrong.append("a gap")
            wrong.extend(faults(mine.compile(budget=1_000, record=False)))

    threads = [threading.Thread(target=watch) for _ in range(3)]
    for thread in threads:
        thread.start()
    exchanges(tree, 6, 25)
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []
