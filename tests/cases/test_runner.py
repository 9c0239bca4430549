"""The runner runs what case files say, and sees what is wrong; generated hard cases of all kinds come out right."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ctxtree
from tests.cases.hard import KINDS, make
from tests.cases.runner import run

NODES = [
    {"id": "u1", "parent": None, "role": "user", "content": "first words"},
    {"id": "a1", "parent": "u1", "role": "assistant", "content": "an answer"},
    {"id": "u2", "parent": "a1", "role": "user", "content": "second words"},
    {"id": "b1", "parent": "u1", "role": "assistant", "content": "another answer"},
]


def case(*ops: dict[str, Any], must: list[str] | None = None, **given: Any) -> dict[str, Any]:
    return {"id": "X", "input": {"nodes": NODES, "ops": list(ops), **given}, "expected": {"must": must or []}}


def test_terms_that_do_not_hold_are_violations(tmp_path: Path) -> None:
    ask = {"op": "compile", "at": "u2", "target": "text"}
    assert run(case(ask, must=['contains("first words")', 'absent("another")']), tmp_path)["status"] == "ok"
    found = run(case(ask, must=['contains("nowhere")', 'absent("answer")']), tmp_path)
    assert found["status"] == "violation"
    assert found["violations"] == ['contains("nowhere")', 'absent("answer")']


def test_an_error_is_a_violation_unless_the_case_allows_it(tmp_path: Path) -> None:
    ask = {"op": "compile", "at": "u2", "target": "text", "budget": 2}
    assert run(case(ask), tmp_path)["status"] == "violation"
    assert run(case(ask, must=["ok or error(budget_too_small)"]), tmp_path)["status"] == "ok"


def test_what_the_runner_does_not_know_is_named(tmp_path: Path) -> None:
    found = run(case({"op": "teleport"}), tmp_path)
    assert (found["status"], found["signals"]) == (
        "unsupported", ["unsupported: teleport: the public API has no such operation"],
    )  # fmt: skip


def test_a_request_that_changes_with_nothing_said_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = {"op": "compile", "at": "u2", "target": "openai.chat", "repeat": 2}
    assert run(case(ask), tmp_path)["status"] == "ok"
    plain = ctxtree.Tree.compile

    def unsteady(tree: ctxtree.Tree, **options: Any) -> ctxtree.Context:
        made = plain(tree, **options)
        made.payload["messages"][0]["content"] += f" {len(tree.turns())}"
        return made

    monkeypatch.setattr(ctxtree.Tree, "compile", unsteady)
    assert "other bytes for the same path" in run(case(ask), tmp_path)["violations"]


def test_a_deleted_subtree_is_gone_and_what_stands_beside_it_stays(tmp_path: Path) -> None:
    ops = [
        {"op": "delete_subtree", "node": "a1"},
        {"op": "compile", "at": "b1", "target": "text"},
    ]
    assert run(case(*ops, must=['contains("another answer")']), tmp_path)["status"] == "ok"
    assert run(case({"op": "delete_subtree", "node": "root"}), tmp_path)["status"] == "ok"


def test_several_writers_and_a_reader_lose_nothing(tmp_path: Path) -> None:
    found = run(case({"op": "stress"}, gen="3 processes x 20 appends to the same conversation"), tmp_path)
    assert (found["status"], found["violations"]) == ("ok", [])


def test_an_export_nested_deeper_than_recursion_goes_is_read(tmp_path: Path) -> None:
    gen = "chain of 40 alternating nodes; also LibreChat recursive export nested 3,000 deep"
    found = run({"id": "X", "input": {"gen": gen, "ops": [{"op": "import"}]}, "expected": {}}, tmp_path)
    assert (found["status"], found["violations"]) == ("ok", [])


@pytest.mark.parametrize("kind", KINDS)
def test_hard_cases_of_every_kind_come_out_valid(kind: str, tmp_path: Path) -> None:
    rows = [run(make(kind, seed, tmp_path), tmp_path) for seed in range(15)]
    assert [row for row in rows if row["status"] != "ok"] == []
    outcomes = Counter(one["tokens"] is not None for row in rows for one in row["compiles"])
    assert outcomes[True] >= 20
    assert make(kind, 3, tmp_path) == make(kind, 3, tmp_path)
