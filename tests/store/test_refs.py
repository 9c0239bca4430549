from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ctxtree.errors import ConflictError, NotFound
from ctxtree.model import Message
from ctxtree.store import Database
from ctxtree.store.records import Draft

NAMES = [
    "../outside", "..", "/etc/passwd", "a/../../x", "a\\..\\..\\x", "C:\\x", "id\0.json", ".", "", "CON",
    "x" * 500, "名字", "a%2f..%2fb", "'; DROP TABLE nodes; --", "\ud800", "main.2", "main/", "é", "e\u0301",
]  # fmt: skip


def grow(database: Database, tree: int, *words: str) -> list[str]:
    drafts = [Draft(Message.of("user", word)) for word in words]
    return [node.id for node in database.append(tree, None, drafts, "main").nodes]


def test_a_new_tree_has_an_empty_active_branch_and_is_made_once(database: Database) -> None:
    made = database.create_tree("talk")
    assert (made.name, made.active, made.nodes) == ("talk", "main", 0)
    assert database.create_tree("talk") == made == database.tree("talk")
    assert [(row.name, row.head) for row in database.branches(made.id)] == [("main", None)]
    assert database.tree("nobody") is None


def test_any_string_names_a_tree_or_a_branch(database: Database) -> None:
    for name in NAMES:
        tree = database.create_tree(name)
        database.create_branch(tree.id, name, None) if name != "main" else None
        assert database.tree(name) == tree
        assert database.branch(tree.id, name) is not None
    assert [row.name for row in database.trees()] == NAMES


def test_the_tree_used_last_is_remembered(database: Database) -> None:
    assert database.last_tree() is None
    first, second = (database.create_tree(name) for name in ("first", "second"))
    assert database.last_tree() == second
    grow(database, first.id, "x")
    assert (last := database.last_tree()) is not None
    assert last.id == first.id
    database.activate(second.id, "main")
    assert database.last_tree() == second


def test_a_branch_is_a_name_for_a_node_and_is_made_once(database: Database, tree: int) -> None:
    ids = grow(database, tree, "a", "b")
    moment = datetime(2024, 1, 2, tzinfo=UTC)
    made = database.create_branch(tree, "try", ids[0], parent="main", fork=ids[0], at=moment)
    assert database.branch(tree, "try") == made
    assert (made.head, made.parent, made.fork, made.updated) == (ids[0], "main", ids[0], moment)
    with pytest.raises(ConflictError):
        database.create_branch(tree, "try", ids[1])
    with pytest.raises(NotFound):
        database.create_branch(tree, "other", "0" * 64)
    assert [row.name for row in database.branches(tree)] == ["main", "try"]


def test_a_branch_moves_only_from_where_it_was_expected(database: Database, tree: int) -> None:
    ids = grow(database, tree, "a", "b", "c")
    database.move(tree, "main", ids[2], ids[0], reason="back")
    with pytest.raises(ConflictError):
        database.move(tree, "main", ids[2], ids[1])
    with pytest.raises(NotFound):
        database.move(tree, "nobody", None, ids[1])
    assert (row := database.branch(tree, "main")) is not None
    assert row.head == ids[0]


def test_every_move_is_logged_and_a_run_of_appends_is_one(database: Database, tree: int) -> None:
    a, b, c = grow(database, tree, "a", "b", "c")
    d = database.append(tree, c, [Draft(Message.of("user", "d"))], "main").nodes[0].id
    database.move(tree, "main", d, a, reason="back")
    e = database.append(tree, a, [Draft(Message.of("user", "e"))], "main").nodes[0].id
    logged = [(row.old, row.new, row.reason) for row in database.moves(tree, "main")]
    assert logged == [(None, d, "append"), (d, a, "back"), (a, e, "append")]
    assert b not in {row.new for row in database.moves(tree)}


def test_active_branch_and_status_are_kept(database: Database, tree: int) -> None:
    database.create_branch(tree, "try", None)
    database.activate(tree, "try")
    database.set_status(tree, "try", "merged")
    assert (row := database.tree("talk")) is not None
    assert row.active == "try"
    assert [row.status for row in database.branches(tree)] == ["open", "merged"]
    with pytest.raises(NotFound):
        database.activate(tree, "nobody")
    with pytest.raises(NotFound):
        database.set_status(tree, "nobody", "x")


def test_a_new_branch_takes_the_first_free_number(database: Database, tree: int) -> None:
    ids = grow(database, tree, "a", "b")
    for name in ("main.2", "main.4", "main.x", "main/3", "mainly.3"):
        database.create_branch(tree, name, ids[0])
    draft = [Draft(Message.of("user", "z"))]
    made = [database.append(tree, ids[0], draft, "main").branch for _ in range(3)]
    assert made == ["main.3", "main.5", "main.6"]
