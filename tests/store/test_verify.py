"""Damage done by hand is found and named."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from ctxtree.errors import StoreError
from ctxtree.model import Media, Message
from ctxtree.store import Database
from ctxtree.store.records import Draft


@pytest.fixture
def ids(database: Database, tree: int) -> list[str]:
    said = [
        *(Message.of("user", f"words {turn}") for turn in range(4)),
        Message(role="user", parts=(Media(data="A" * 5000),)),
    ]
    return [
        node.id for node in database.append(tree, None, [Draft(message) for message in said], "main").nodes
    ]


# A statement, the bytes for `:data` in hex, and what verify must say of which node.
DAMAGE = {
    "id: other words": ("UPDATE nodes SET data = :data WHERE depth = 1", "046869", {("id", 1)}),
    "id: other attempt": ("UPDATE nodes SET attempt = 1 WHERE depth = 3", "", {("id", 3)}),
    "id: other parent": ("UPDATE nodes SET parent = (SELECT seq FROM nodes WHERE depth = 0) WHERE depth = 2", "", {("id", 2), ("depth", 2)}),
    "content: no bytes": ("UPDATE nodes SET data = NULL WHERE depth = 1", "", {("content", 1)}),
    "content: empty": ("UPDATE nodes SET data = :data WHERE depth = 1", "", {("content", 1)}),
    "content: not deflated": ("UPDATE nodes SET data = :data WHERE depth = 1", "01FFFF", {("content", 1)}),
    "content: not JSON": ("UPDATE nodes SET data = :data WHERE depth = 1", "00FFFF", {("content", 1)}),
    "content: no message": ("UPDATE nodes SET data = :data WHERE depth = 1", "005B5D", {("content", 1)}),
    "parent gone": ("DELETE FROM nodes WHERE depth = 0", "", {("parent", 1), ("id", 1)}),
    "depth": ("UPDATE nodes SET depth = 7 WHERE depth = 4", "", {("depth", 4)}),
    "blob gone": ("DELETE FROM blobs", "", {("content", 4)}),
    "blob changed": ("UPDATE blobs SET data = :data", "0041", {("blob", None), ("id", 4)}),
    "branch astray": ("UPDATE branches SET head = 99", "", {("ref", None)}),
    "move astray": ("UPDATE moves SET old = 99", "", {("ref", None)}),
}  # fmt: skip


def harm(database: Database, statement: str, data: bytes) -> None:
    with database._engine.connect() as connection:
        connection.execute(text(statement), {"data": data} if ":data" in statement else {})
        connection.commit()


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found_where_it_is(database: Database, tree: int, ids: list[str], damage: str) -> None:
    assert database.verify() == database.verify(tree) == ()
    statement, data, expected = DAMAGE[damage]
    harm(database, statement, bytes.fromhex(data))
    found = {
        (problem.code, ids.index(problem.node) if problem.node else None) for problem in database.verify()
    }
    assert found == expected
    assert {problem.tree for problem in database.verify(tree)} == {"talk"}
    assert database.verify(tree + 1) == ()


def test_reading_damaged_content_is_a_store_error_without_its_words(
    database: Database, tree: int, ids: list[str]
) -> None:
    harm(database, "UPDATE nodes SET data = :data WHERE depth = 1", b"\0secret")
    with pytest.raises(StoreError, match=ids[1]) as caught:
        database.path(tree, ids[-1])
    assert "secret" not in str(caught.value)
