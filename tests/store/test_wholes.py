"""A whole tree out of one store and into another, on every engine: the same bytes everywhere."""

from __future__ import annotations

import io

import pytest

import ctxtree
from ctxtree import StoreError, whole
from ctxtree.model import Mark, Message, Node
from ctxtree.store import Database
from tests.importers.logs import FIXTURES

FILE = FIXTURES / "ctxtree.json"


def text(store: ctxtree.Store, name: str) -> str:
    return "".join(whole.as_text(store._database, store._database.tree(name)))


def test_a_tree_travels_between_engines_and_stays_the_same_to_the_byte(url: str) -> None:
    raw = FILE.read_text(encoding="utf-8")
    with ctxtree.connect(url) as store, ctxtree.connect(":memory:") as other:
        store.tree("before").user("another tree comes first")
        assert store.import_file(FILE, strict=True).added == 10
        assert text(store, "oak") == raw
        assert store.import_file(FILE).added == 0
        assert text(store, "oak") == raw
        other.import_file(io.BytesIO(text(store, "oak").encode()))
        assert text(other, "oak") == raw
        assert {problem.code for problem in store.verify()} == {"erased"}
        there, here = (one.tree("oak").compile(budget=4_000, record=False).payload for one in (store, other))
        assert there == here


def test_a_log_of_a_program_gives_the_same_tree_on_every_engine(url: str) -> None:
    for name in ("cc_sidechain.jsonl", "st_swipes.jsonl", "inspect.json", "claude_ai_sentinel.json"):
        with ctxtree.connect(url) as store, ctxtree.connect(":memory:") as other:
            first, second = store.import_file(FIXTURES / name), other.import_file(FIXTURES / name)
            assert first.conversations == second.conversations
            assert store.import_file(FIXTURES / name).added == 0
            for one in first.conversations:
                here, there = store.tree(one.tree), other.tree(one.tree)
                assert {node.id for node in here.path()} == {node.id for node in there.path()}
                assert set(here.graph().edges) == set(there.graph().edges)


def test_a_tombstone_that_its_hash_does_not_name_is_refused(database: Database, tree: int) -> None:
    node = Node.make(Message.of("user", "words"))
    with pytest.raises(StoreError, match="tombstone"):
        database.put_nodes(tree, [(node, "0" * 63 + "1")])
    assert database.put_nodes(tree, [(node, node.message.hash)]) == 1
    assert database.put_nodes(tree, [(node, node.message.hash)]) == 0
    assert [problem.code for problem in database.verify()] == ["erased"]


def test_marks_come_back_in_their_order_and_those_that_stand_are_passed_over(
    database: Database, tree: int
) -> None:
    node = Node.make(Message.of("user", "words"))
    database.put_nodes(tree, [(node, None)])
    marks = [Mark(node=node.id, name="status", value={"status": one}) for one in ("failed", "ok", "failed")]
    assert database.put_marks(tree, marks, fresh=True) == 3
    assert list(database.all_marks(tree)) == marks
    assert database.put_marks(tree, marks, fresh=False) == 0
    assert database.put_marks(tree, [Mark(node=node.id, name="pin")], fresh=False) == 1
