"""What people call, on every engine: the same answers, to the byte."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import ctxtree
from ctxtree import Budget, Store, ToolCall, Tree

BODY = "one two three four five six seven eight nine ten " * 4
ODD = "NUL \0 and half a pair \ud83d in the words, 名字 🙂"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with ctxtree.connect(url) as opened:
        yield opened


def talk(tree: Tree, turns: int = 20) -> None:
    for turn in range(turns):
        tree.user(f"question {turn}: {BODY}")
        tree.assistant(f"answer {turn}: {BODY}")


def fill(store: Store) -> Tree:
    """A tree with a call, a failed attempt, a fork, state, a fact and two compactions."""
    tree = store.tree("talk", system="Be brief.")
    talk(tree)
    tree.user("Read the file.")
    tree.assistant("Reading.", calls=[ToolCall(id="c1", name="read", arguments='{"path": "a.py"}')])
    tree.tool("c1", "line of code\n" * 400)
    tree.compile(budget=Budget(1_500))
    tree.retry("it read the wrong file")
    tree.assistant("The other file, then.")
    tree.set_state(step=3, note=ODD)
    tree.remember("The deploy runs on Fridays.")
    tree.fork("side", at="HEAD~8")
    tree.user(ODD)
    tree.compile(budget=Budget(1_200))
    return tree


def test_the_same_calls_give_the_same_requests_as_in_memory(store: Store) -> None:
    with ctxtree.connect(":memory:") as plain:
        ours, theirs = fill(store), fill(plain)
        for branch in [one.name for one in theirs.branches()]:
            ours.switch(branch)
            theirs.switch(branch)
            assert [node.id for node in ours.path()] == [node.id for node in theirs.path()]
            mine, other = (tree.compile(budget=Budget(1_500)) for tree in (ours, theirs))
            assert mine.payload == other.payload
            assert mine.report.tokens == other.report.tokens
            assert ours.state == theirs.state
        assert [(row.name, row.head, row.parent, row.nodes) for row in ours.branches()] == [
            (row.name, row.head, row.parent, row.nodes) for row in theirs.branches()
        ]
        assert [fact.text for fact in ours.facts] == [fact.text for fact in theirs.facts]
        assert len(ours.turns()) == len(theirs.turns()) >= 4
        assert store.verify() == plain.verify() == ()


def test_a_new_handle_finds_what_another_left(store: Store) -> None:
    fill(store)
    again = store.tree("talk")
    assert again.branch == "side"
    assert again.state == {}
    again.switch("main.2")
    assert again.state == {"step": 3, "note": ODD.replace("\ud83d", "\ufffd")}
    assert "wrong file" in json.dumps(again.compile(budget=Budget(3_000)).payload)


def test_an_append_that_is_sent_again_is_stored_once(store: Store) -> None:
    tree = store.tree("talk")
    first = tree.user("hello", key="k1")
    tree.assistant("hi")
    again = store.tree("talk").user("hello", key="k1")
    assert again.id == first.id
    assert len(tree.graph().nodes) == 2


def test_what_is_erased_is_in_no_request_and_no_report(store: Store) -> None:
    tree = fill(store)
    node = tree.user("the code is Zebra-9931")
    tree.assistant("noted")
    assert "Zebra" in json.dumps(tree.compile(budget=Budget(1_500)).payload)
    store.purge(node.id, "asked for", "talk")
    assert "Zebra" not in json.dumps(tree.compile(budget=Budget(1_500)).payload)
    assert [(problem.code, problem.node) for problem in store.verify()] == [("erased", node.id)]


def test_words_that_point_back_move_and_merge_brings_what_was_found(store: Store) -> None:
    tree = store.tree("talk")
    tree.user("How do we store sessions?")
    plan = tree.assistant("Plan A: keep sessions in Redis.")
    tree.label(plan, "redis plan")
    tree.user("And without Redis?")
    tree.assistant("Plan B: keep sessions in PostgreSQL tables.")
    assert tree.backtrack("go back to the redis plan").node.id == plan.id
    tree.user("Go on with this.")
    note = tree.merge("main")
    assert tree.merge("main").id == note.id
    assert store.verify() == ()


def test_lessons_picks_and_facts_of_branches_are_kept(store: Store) -> None:
    tree = store.tree("talk")
    asked = tree.user("How do we store sessions?")
    tree.assistant("Writing.", calls=[ToolCall(id="c1", name="write_file", arguments={"path": "a.py"})])
    tree.tool("c1", "written")
    tree.fork("probe", at=asked)
    tree.remember("The budget is 500 euros", scope="branch")
    tree.user("Try it.")
    tree.remember("The budget is 650 euros", scope="branch")
    tree.switch("main")
    tree.retry("wrong file")
    again = store.tree("talk")
    text = json.dumps(again.compile(budget=Budget(3_000)).payload)
    assert "reason: wrong file; done and not undone: write_file(path=a.py)" in text
    assert [fact.text for fact in again.facts] == ["The budget is 500 euros"]
    (copy,) = again.pick("probe")
    assert again.pick("probe") == (copy,)
    again.merge("probe")
    assert [fact.text for fact in again.facts] == ["The budget is 650 euros"]
    assert store.verify() == ()
