from __future__ import annotations

import pytest

from ctxtree.errors import NotFound, StoreError
from ctxtree.model import Mark, Message, Node
from ctxtree.store import Database
from ctxtree.store.records import Draft


def chain(database: Database, tree: int, count: int) -> tuple[Node, ...]:
    drafts = [Draft(Message.of("user" if turn % 2 else "assistant", f"step {turn}")) for turn in range(count)]
    return database.append(tree, None, drafts, "main").nodes


def test_a_path_runs_from_the_root_or_from_below_an_ancestor(database: Database, tree: int) -> None:
    made = chain(database, tree, 1200)
    assert database.path(tree, made[-1].id) == made
    assert database.path(tree, made[-1].id, after=made[700].id) == made[701:]
    assert database.path(tree, made[5].id, after=made[5].id) == ()


def test_a_path_after_a_node_that_is_no_ancestor_is_refused(database: Database, tree: int) -> None:
    made = chain(database, tree, 5)
    side = database.append(tree, made[1].id, [Draft(Message.of("user", "side"))], None).nodes[0]
    for leaf, after in ((made[-1], side), (side, made[-1]), (side, made[2])):
        with pytest.raises(NotFound):
            database.path(tree, leaf.id, after=after.id)


def test_a_path_holds_no_word_of_another_branch(database: Database, tree: int) -> None:
    made = chain(database, tree, 4)
    side = database.append(tree, made[1].id, [Draft(Message.of("user", "side"))], None).nodes[0]
    assert database.path(tree, side.id) == (*made[:2], side)
    assert database.children(tree, made[1].id) == (made[2], side)


def test_a_path_of_twenty_thousand_nodes_is_read_whole(database: Database) -> None:
    tree = database.create_tree("long").id
    made = chain(database, tree, 20_000)
    assert len(database.path(tree, made[-1].id)) == 20_000
    placed = database.placed(tree, made[-1].id)
    assert placed is not None
    assert placed.depth == 19_999


def test_unknown_ids_are_none_and_left_out(database: Database, tree: int) -> None:
    made = chain(database, tree, 3)
    odd = ["0" * 64, "", "../x", made[0].id.upper(), "é" * 64]
    assert [database.node(tree, identity) for identity in odd] == [None] * len(odd)
    assert database.nodes(tree, [*odd, made[1].id]) == {made[1].id: made[1]}
    with pytest.raises(NotFound):
        database.path(tree, "0" * 64)


def test_a_prefix_finds_ids_of_its_own_tree_only(database: Database, tree: int) -> None:
    made = chain(database, tree, 40)
    other = database.create_tree("other").id
    for digits in (1, 7, 8, 9, 20, 63, 64):
        wanted = made[11].id[:digits]
        same = tuple(node.id for node in made if node.id.startswith(wanted))
        assert database.prefix(tree, wanted, 100) == same
        assert database.prefix(other, wanted) == ()
    assert database.prefix(tree, made[11].id[:9].upper()) == (made[11].id,)
    assert database.prefix(tree, "xyz") == database.prefix(tree, "0" * 65) == ()
    assert len(database.prefix(tree, "", limit=7)) == 7


def test_roots_links_and_all_nodes_come_in_order_of_creation(database: Database, tree: int) -> None:
    made = chain(database, tree, 1001)
    root = database.append(tree, None, [Draft(Message.of("system", "s"))], None).nodes[0]
    assert database.children(tree, None) == (made[0], root)
    assert tuple(database.all_nodes(tree)) == (*made, root)
    assert database.links(tree) == [(node.id, node.parent, node.role) for node in (*made, root)]


def test_inserted_nodes_keep_their_ids_and_known_ones_are_passed_over(database: Database, tree: int) -> None:
    made = chain(database, tree, 30)
    other = database.create_tree("copy").id
    marks = [Mark(node=made[3].id, name="label", value="here"), Mark(node=made[3].id, name="pin")]
    assert database.insert(other, made[:10], batch=3) == 10
    assert database.insert(other, (node for node in made), marks, batch=7) == 20
    assert database.insert(other, made, marks) == 0
    assert database.path(other, made[-1].id) == made
    assert len(database.marks(other)) == 2
    assert database.verify() == ()


def test_an_insert_that_fails_leaves_nothing_behind(database: Database, tree: int) -> None:
    root = Node.make(Message.of("user", "r"))
    orphan = Node.make(Message.of("user", "o"), ("0" * 64,))
    forged = root.model_copy(update={"id": "1" * 64})
    with pytest.raises(NotFound):
        database.insert(tree, [root, orphan], batch=1)
    with pytest.raises(StoreError):
        database.insert(tree, [root, forged], batch=1)
    with pytest.raises(NotFound):
        database.insert(tree, [root], [Mark(node=orphan.id, name="pin")])
    assert list(database.all_nodes(tree)) == []


def test_equal_nodes_in_two_trees_are_two_nodes(database: Database, tree: int) -> None:
    other = database.create_tree("other").id
    for number in (tree, other):
        chain(database, number, 3)
    assert [row.nodes for row in database.trees()] == [3, 3]
    database.purge(other, next(iter(database.links(other)))[0], "test")
    assert [problem.tree for problem in database.verify()] == ["other"]
