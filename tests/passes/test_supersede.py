"""Superseded views: only the newest stands in full, older ones point to it, and the request stays the same."""

import json
from typing import Any

import pytest

import ctxtree
from ctxtree import Budget, Policy, ToolCall, Tree

BODY = "\n".join(f"def step_{number}(value): return value * {number} + offset" for number in range(60))


def call(tree: Tree, number: int, name: str, arguments: dict[str, Any], text: str) -> None:
    tree.assistant(calls=[ToolCall(id=f"c{number}", name=name, arguments=arguments)])
    tree.tool(f"c{number}", text)


def session(tree: Tree, reads: list[dict[str, Any]]) -> None:
    tree.user("Repair step_7 in a.py.")
    for number, arguments in enumerate(reads):
        call(tree, number, "read", arguments, f"# version {number}\n{BODY}")
        call(tree, 100 + number, "edit", {"path": "a.py", "old": "offset", "new": f"offset_{number}"}, "ok")


def results(payload: dict[str, Any]) -> list[str]:
    return [m["content"] for m in payload["messages"] if m["role"] == "tool" and "version" in m["content"]]


def test_the_pointers_stay_the_same_until_the_next_compaction_and_over_it() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a")
        session(tree, [{"path": "a.py"}] * 5)
        ask: dict[str, Any] = {"budget": Budget(4_000), "policy": Policy.agent(recall=False)}
        first = tree.compile(**ask).payload["messages"]
        tree.assistant("Done.")
        tree.user("Now step_8.")
        second = tree.compile(**ask)
        assert second.report.compaction is None
        assert second.payload["messages"][: len(first)] == first
        for number in range(5, 9):
            call(tree, number, "read", {"path": "a.py"}, f"# version {number}\n{BODY}")
        third = tree.compile(**ask)
        assert third.report.compaction is not None
        assert results(third.payload) == [f"# version 8\n{BODY}"]
        assert tree.compile(**ask).payload == third.payload


@pytest.mark.parametrize(
    ("reads", "whole"),
    [
        ([{"path": "a.py"}, {"path": "a.py", "offset": 10}], 2),
        ([{"path": "a.py", "offset": 10}, {"path": "a.py"}], 1),
        ([{"path": "a.py", "offset": 10}, {"path": "a.py", "offset": 10}], 1),
        ([{"path": "a.py"}, {"path": "b.py"}], 2),
    ],
    ids=["a part hides no whole", "the whole hides a part", "the same part", "another file"],
)
def test_what_supersedes_what(reads: list[dict[str, Any]], whole: int) -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a")
        session(tree, reads)
        policy = Policy.agent(recall=False, tool_tokens=5_000)
        made = tree.compile(budget=Budget(2_900, high=0.5, low=0.45), policy=policy)
        assert json.dumps(made.payload).count("superseded by #") == 2 - whole


def test_the_same_text_again_is_shown_once() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("a")
        tree.user("Look around.")
        for number in range(4):
            call(tree, number, f"tool_{number}", {"q": number}, BODY)
        made = tree.compile(budget=Budget(2_500), policy=Policy.agent(recall=False))
        assert json.dumps(made.payload).count("superseded by #") == 3
