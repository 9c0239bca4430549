from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ctxtree
from ctxtree.errors import FormatError
from ctxtree.importers import read
from tests.importers import LOGS, chain, found, lines, one

HEADER: dict[str, Any] = {"type": "session", "version": 3, "id": "s1", "cwd": "/w"}


def entry(name: str, parent: str | None, role: str, text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {
        "type": "message",
        "id": name,
        "parentId": parent,
        "timestamp": "2026-01-01T00:00:00Z",
        "message": {"role": role, "content": content, **more},
    }


def aside(kind: str, entry_id: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": entry_id, "parentId": parent, "timestamp": "2026-01-01T00:00:00Z", **more}


def test_a_log_without_ids_is_a_chain_named_by_lines(tmp_path: Path) -> None:
    rows = [entry("", None, "user", "one"), entry("", None, "assistant", "two")]
    for each in rows:
        del each["id"], each["parentId"]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", [HEADER, *rows]))
    assert chain(drafts) == [("line:2", None), ("line:3", "line:2")]
    assert (conversation.name, conversation.head, found(conversation)) == ("s1", "line:3", [])


def test_branches_labels_titles_and_the_leaf(tmp_path: Path) -> None:
    rows = [
        HEADER,
        entry("a", None, "user", "one"),
        aside("model_change", "m", "a", provider="p", modelId="x"),
        entry("b", "m", "assistant", "two"),
        entry("c", "b", "user", "three"),
        aside("branch_summary", "d", "b", fromId="c", summary="tried three"),
        entry("e", "d", "user", "four"),
        aside("label", "l", "e", targetId="b", label="good"),
        aside("session_info", "i", "l", name="A title"),
        aside("leaf", "f", "i", targetId="c"),
    ]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert chain(drafts) == [("a", None), ("b", "a"), ("c", "b"), ("d", "b"), ("e", "d")]
    assert [draft.message.role for draft in drafts] == ["user", "assistant", "user", "note", "user"]
    assert (conversation.head, conversation.title) == ("c", "A title")
    assert conversation.labels == (("good", "b"),)
    assert found(conversation) == [("spliced", 0)]
    assert conversation.skipped == 0


def test_a_compaction_is_an_annotation(tmp_path: Path) -> None:
    rows = [
        HEADER,
        entry("a", None, "user", "one"),
        aside("compaction", "k", "a", summary="short", firstKeptEntryId="a", tokensBefore=7),
        entry("b", "k", "assistant", "two"),
    ]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert chain(drafts) == [("a", None), ("b", "a")]
    note = dict(drafts[0].marks)["annotation"]
    assert (note["summary"], note["first_kept"], note["line"]) == ("short", "a", 3)
    assert conversation.head == "b"


def test_damaged_lines(tmp_path: Path) -> None:
    rows = [HEADER, entry("a", None, "user", "one"), b"}{", b"\0" * 9, entry("b", "a", "assistant", "two")]
    path = lines(tmp_path / "log.jsonl", rows)
    path.write_bytes(path.read_bytes() + b'{"type":"message","id":"c","par')
    conversation, drafts = one(path)
    assert chain(drafts) == [("a", None), ("b", "a")]
    assert found(conversation) == [("bad_line", 3), ("nul_bytes", 4), ("truncated_line", 6)]
    assert conversation.skipped == 3
    with pytest.raises(FormatError, match="bad_line"):
        next(read(path, strict=True))


def test_parents_that_cannot_be_trusted(tmp_path: Path) -> None:
    rows = [
        HEADER,
        entry("a", "b", "user", "one"),
        entry("b", "a", "assistant", "two"),
        entry("c", "gone", "user", "three"),
        entry("d", "d", "user", "four"),
        entry("b", "a", "assistant", "other words"),
        entry("d", "d", "user", "four"),
    ]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert chain(drafts) == [("a", None), ("b", "a"), ("c", "b"), ("d", None)]
    assert found(conversation) == [
        ("duplicate_id", 6),
        ("repeated", 0),
        ("dangling_parent", 4),
        ("self_parent", 5),
        ("cycle", 2),
    ]
    assert (conversation.head, conversation.skipped) == ("d", 1)


def test_an_unknown_leaf_and_an_unknown_role(tmp_path: Path) -> None:
    rows = [
        HEADER,
        entry("a", None, "user", "one"),
        entry("b", "a", "oracle", "two"),
        aside("leaf", "f", "b", targetId="gone"),
    ]
    conversation, drafts = one(lines(tmp_path / "log.jsonl", rows))
    assert drafts[1].message.role == "note"
    assert ("hidden", True) in drafts[1].marks
    assert found(conversation) == [("spliced", 0), ("dangling_head", 0), ("unknown_role", 3)]
    assert conversation.head == "b"


def test_a_real_log_is_imported_once_and_compiles() -> None:
    with ctxtree.connect(":memory:") as store:
        first = store.import_file(LOGS / "coding-agent.jsonl")
        again = store.import_file(LOGS / "coding-agent.jsonl")
        assert (first.format, first.added, first.skipped, first.issues) == ("pi", 81, 0, ())
        assert [(each.messages, each.branches) for each in first.conversations] == [(81, 1)]
        assert again.added == 0
        assert [each.messages for each in again.conversations] == [81]
        tree = store.tree(first.conversations[0].tree, create=False)
        assert tree.compile(budget=200_000).payload["messages"]
        assert store.verify() == ()
