from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import ctxtree
from ctxtree.errors import FormatError
from ctxtree.importers import read
from tests.importers import LOGS, chain, found, one


def node(name: str, parent: str | None, role: str | None, text: str = "", **more: Any) -> dict[str, Any]:
    """A node as a slim export writes it: no list of children. Without a role it has no message."""
    message = None
    if role is not None:
        message = {
            "id": name,
            "author": {"role": role},
            "content": {"content_type": "text", "parts": [text]},
            **more,
        }
    return {"id": name, "parent": parent, "message": message}


def export(path: Path, *nodes: dict[str, Any], **fields: Any) -> Path:
    entry = {"title": "t", "id": "c1", "mapping": {each["id"]: each for each in nodes}, **fields}
    path.write_text(json.dumps([entry]), "utf-8")
    return path


def test_a_hidden_system_node_in_the_middle_is_spliced_out(tmp_path: Path) -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    nodes = [
        node("r", None, None) | {"children": ["u1"]},
        node("u1", "r", "user", "a") | {"children": ["a1"]},
        node("a1", "u1", "assistant", "b") | {"children": ["s"]},
        node("s", "a1", "system", metadata=hidden) | {"children": ["u2"]},
        node("u2", "s", "user", "c") | {"children": ["a2"]},
        node("a2", "u2", "assistant", "d") | {"children": []},
    ]
    conversation, drafts = one(export(tmp_path / "c.json", *nodes, current_node="a2"))
    assert chain(drafts) == [("u1", None), ("a1", "u1"), ("u2", "a1"), ("a2", "u2")]
    assert (conversation.name, conversation.title, conversation.head) == ("c1", "t", "a2")
    assert (found(conversation), conversation.skipped) == ([("spliced", 0)], 0)


def test_a_slim_export_without_children_and_entries_without_mapping(tmp_path: Path) -> None:
    context = {"content_type": "user_editable_context", "user_instructions": "Answer concisely."}
    nodes = [
        node("root", None, None),
        node("ctx", "root", "user", content=context),
        node("u1", "ctx", "user", "q", create_time=None),
        node("a1", "u1", "assistant", "v1", status="in_progress"),
        node("a2", "u1", "assistant", "v2"),
    ]
    path = export(tmp_path / "c.json", *nodes, current_node="a2")
    entries = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps([*entries, {"title": "none"}, {"title": "null", "mapping": None}], indent=1))
    conversation, drafts = one(path)
    assert chain(drafts) == [("ctx", None), ("u1", "ctx"), ("a1", "u1"), ("a2", "u1")]
    assert conversation.head == "a2"
    assert conversation.instructions == ("Answer concisely.",)
    marks = {draft.source: dict(draft.marks) for draft in drafts}
    assert marks["ctx"]["hidden"] is True
    assert marks["a1"]["incomplete"] is True
    assert "incomplete" not in marks["a2"]
    text = path.read_text()
    places = [
        text[: text.index(f'"{title}"')].count("\n") for title in ("none", "null")
    ]  # a brace stands one line above its title
    assert found(conversation) == [("spliced", 0), *(("no_conversation", place) for place in places)]
    assert conversation.skipped == 2


def test_the_parent_holds_where_children_say_otherwise(tmp_path: Path) -> None:
    nodes = [
        node("u1", None, "user", "q") | {"children": []},
        node("a1", "u1", "assistant", "v1") | {"children": ["a2"]},
        node("a2", "u1", "assistant", "v2") | {"children": []},
    ]
    conversation, drafts = one(export(tmp_path / "c.json", *nodes, current_node="a1"))
    assert chain(drafts) == [("u1", None), ("a1", "u1"), ("a2", "u1")]
    assert found(conversation) == [("parent_disagrees", 1)]
    assert conversation.head == "a1"


def test_children_serve_where_no_parent_is_named(tmp_path: Path) -> None:
    nodes = [node("u1", None, "user", "q") | {"children": ["a1"]}, node("a1", "u1", "assistant", "v")]
    for each in nodes:
        del each["parent"]
    conversation, drafts = one(export(tmp_path / "c.json", *nodes, current_node="a1"))
    assert chain(drafts) == [("u1", None), ("a1", "u1")]
    assert found(conversation) == []


@pytest.mark.parametrize("fields", [{"current_node": "gone"}, {"current_node": None}, {}])
def test_without_an_active_leaf_the_newest_is_taken(tmp_path: Path, fields: dict[str, Any]) -> None:
    nodes = [
        node("u1", None, "user", "q", create_time=1.0),
        node("a1", "u1", "assistant", "newer", create_time=9.0),
        node("a2", "u1", "assistant", "older", create_time=5.0),
    ]
    conversation, drafts = one(export(tmp_path / "c.json", *nodes, **fields))
    assert chain(drafts) == [("u1", None), ("a2", "u1"), ("a1", "u1")]
    assert conversation.head == "a1"
    assert found(conversation) == [("dangling_head", 1)]


def test_an_active_node_without_words_points_to_what_is_above(tmp_path: Path) -> None:
    nodes = [node("u1", None, "user", "q"), node("a1", "u1", "assistant", "v"), node("e", "a1", None)]
    conversation, _ = one(export(tmp_path / "c.json", *nodes, current_node="e"))
    assert conversation.head == "a1"
    assert found(conversation) == [("spliced", 0)]


def test_missing_parents_circles_and_nodes_that_are_none(tmp_path: Path) -> None:
    nodes = [
        node("a", "gone", "user", "one", create_time=1.0),
        node("b", "b", "user", "two", create_time=2.0),
        node("c", "d", "user", "three", create_time=3.0),
        node("d", "c", "assistant", "four", create_time=4.0),
    ]
    path = export(tmp_path / "c.json", *nodes, current_node="d")
    entries = json.loads(path.read_text("utf-8"))
    entries[0]["mapping"]["x"] = None
    path.write_text(json.dumps(entries))
    conversation, drafts = one(path)
    assert chain(drafts) == [("a", None), ("b", None), ("c", None), ("d", "c")]
    assert found(conversation) == [
        ("bad_record", 1),
        ("dangling_parent", 1),
        ("self_parent", 1),
        ("cycle", 1),
    ]
    assert conversation.skipped == 1


def test_shards_of_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in (1, 0):
            held = export(tmp_path / "c.json", node("u", None, "user", "q"), id=f"c{number}").read_text()
            archive.writestr(f"conversations-00{number}.json", held)
        archive.writestr("user.json", "{}")
    assert [conversation.name for conversation in read(path)] == ["c0", "c1"]


def test_an_export_without_a_conversation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text('[{"title": "none", "mapping": {}}]')
    with pytest.raises(FormatError, match="no conversation"):
        next(read(path))


def test_a_real_export_keeps_all_its_branches() -> None:
    conversation, drafts = one(LOGS / "chatgpt-branches.json")
    inner = {draft.parent for draft in drafts}
    assert len(drafts) == 11
    assert len([draft for draft in drafts if draft.source not in inner]) == 3
    assert conversation.skipped == 0


def test_a_real_export_is_imported_once_and_compiles() -> None:
    with ctxtree.connect(":memory:") as store:
        first = store.import_file(LOGS / "chatgpt-branches.json")
        again = store.import_file(LOGS / "chatgpt-branches.json")
        assert (first.format, first.added, first.skipped) == ("chatgpt", 11, 0)
        assert [(each.messages, each.branches) for each in first.conversations] == [(11, 3)]
        assert again.added == 0
        assert [(each.messages, each.branches) for each in again.conversations] == [(11, 3)]
        tree = store.tree(first.conversations[0].tree, create=False)
        assert len(tree.branches()) == 3
        assert tree.compile(budget=100_000).payload["messages"]
        assert store.verify() == ()
