from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ctxtree.errors import ConflictError, NotFound
from ctxtree.model import Media, Message, Node, Text, ToolCall
from ctxtree.store import Database
from ctxtree.store.records import Appended, Draft


def say(
    database: Database, tree: int, parent: str | None, *words: str, branch: str | None = "main"
) -> Appended:
    return database.append(tree, parent, [Draft(Message.of("user", word)) for word in words], branch)


def test_drafts_chain_under_the_parent_and_the_branch_follows(database: Database, tree: int) -> None:
    first = say(database, tree, None, "a", "b").nodes
    second = say(database, tree, first[-1].id, "c").nodes
    assert [node.parent for node in (*first, *second)] == [None, first[0].id, first[1].id]
    assert database.path(tree, second[0].id) == (*first, *second)
    row = database.branch(tree, "main")
    assert row is not None
    assert row.head == second[0].id


def test_ids_are_those_that_the_model_gives(database: Database, tree: int) -> None:
    made = say(database, tree, None, "a", "b").nodes
    root = Node.make(Message.of("user", "a"))
    assert made == (root, Node.make(Message.of("user", "b"), (root.id,)))


def test_equal_siblings_are_numbered_by_attempt(database: Database, tree: int) -> None:
    made = [say(database, tree, None, "again", branch=None).nodes[0] for _ in range(9)]
    assert [node.attempt for node in made] == list(range(9))
    assert len({node.id for node in made}) == 9
    other = say(database, tree, None, "else", branch=None).nodes[0]
    assert other.attempt == 0
    assert say(database, tree, other.id, "again", branch=None).nodes[0].attempt == 0


def test_a_draft_of_a_merge_has_its_further_parents_in_order(database: Database, tree: int) -> None:
    root, left = say(database, tree, None, "r", "l", branch=None).nodes
    right = [say(database, tree, root.id, word, branch=None).nodes[0] for word in ("x", "y")]
    merged = tuple(node.id for node in right)
    made = database.append(tree, left.id, [Draft(Message.of("note", "m"), merged=merged)], None).nodes[0]
    again = database.append(tree, left.id, [Draft(Message.of("note", "m"))], None).nodes[0]
    assert made.parents == (left.id, *merged)
    assert again.attempt == 0  # other parents, so no equal sibling
    assert database.node(tree, made.id) == made
    assert database.verify() == ()


def test_a_key_sent_again_gives_the_same_node_and_moves_nothing(database: Database, tree: int) -> None:
    draft = Draft(Message.of("user", "once"), key="k", marks=(("pin", True),))
    first = database.append(tree, None, [draft], "main")
    again = database.append(tree, None, [draft], "main")
    assert again.nodes == first.nodes
    assert not again.forked
    assert len(database.marks(tree)) == 1
    later = database.append(tree, None, [draft, Draft(Message.of("assistant", "x"))], "main")
    assert not later.forked
    assert later.nodes[1].parent == first.nodes[0].id
    assert len(list(database.all_nodes(tree))) == 2


def test_a_late_key_does_not_fork_a_branch_that_went_on(database: Database, tree: int) -> None:
    first = database.append(tree, None, [Draft(Message.of("user", "once"), key="k")], "main").nodes[0]
    newer = say(database, tree, first.id, "on").nodes[0]
    again = database.append(tree, None, [Draft(Message.of("user", "once"), key="k")], "main")
    assert (again.branch, again.forked) == ("main", False)
    assert [row.head for row in database.branches(tree)] == [newer.id]


def test_a_branch_moved_by_another_writer_makes_a_new_branch(database: Database, tree: int) -> None:
    root = say(database, tree, None, "r").nodes[0]
    say(database, tree, root.id, "theirs")
    mine = [say(database, tree, root.id, word) for word in ("mine", "and mine")]
    assert [(made.branch, made.forked) for made in mine] == [("main.2", True), ("main.3", True)]
    row = database.branch(tree, "main.2")
    assert row is not None
    assert (row.head, row.parent, row.fork) == (mine[0].nodes[0].id, "main", root.id)
    on = say(database, tree, mine[0].nodes[0].id, "on", branch="main.2")
    assert (on.branch, on.forked) == ("main.2", False)


def test_asked_to_raise_a_moved_branch_stores_nothing(database: Database, tree: int) -> None:
    root = say(database, tree, None, "r").nodes[0]
    say(database, tree, root.id, "theirs")
    with pytest.raises(ConflictError):
        database.append(tree, root.id, [Draft(Message.of("user", "mine"))], "main", "raise")
    assert len(list(database.all_nodes(tree))) == 2


def test_an_unknown_parent_branch_or_tree_is_not_found(database: Database, tree: int) -> None:
    for parent in ("0" * 64, "short", "g" * 64):
        with pytest.raises(NotFound):
            say(database, tree, parent, "x")
    with pytest.raises(NotFound):
        say(database, tree, None, "x", branch="nowhere")
    with pytest.raises(NotFound):
        say(database, tree + 1, None, "x", branch=None)
    assert list(database.all_nodes(tree)) == []


def test_no_drafts_move_nothing(database: Database, tree: int) -> None:
    assert database.append(tree, None, [], "main") == Appended((), "main", False)


TEXTS = [
    "",
    "\0",
    "a\0b" * 3000,
    "é\u2028\ufffd😀",
    "x" * 4095,
    "x" * 4096,
    "[null,[[[0],1]]]" * 500,
    "QUJD" * 4000,
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_every_text_comes_back_as_it_was(database: Database, tree: int, text: str) -> None:
    plain = Message.of("user", text)
    call = Message(role="assistant", parts=(ToolCall(name="f", arguments={text: [text, {"a": text}, None]}),))
    rich = Message(role="user", parts=(Text(text=text), Media(data=text, mime="image/png")), name="n")
    made = database.append(tree, None, [Draft(plain), Draft(call), Draft(rich)], "main").nodes
    read = database.path(tree, made[-1].id)
    assert [node.message for node in read] == [plain, call, rich]
    assert [node.message.hash for node in read] == [plain.hash, call.hash, rich.hash]
    assert database.verify() == ()


def test_times_come_back_to_the_microsecond_and_with_a_zone(database: Database, tree: int) -> None:
    moment = datetime(1969, 7, 20, 20, 17, 40, 123457, tzinfo=timezone(timedelta(hours=-5)))
    draft = Draft(Message.of("user", "x"), created_at=moment)
    made = database.append(tree, None, [draft], "main").nodes[0]
    read = database.node(tree, made.id)
    assert read is not None
    assert read.created_at == moment
    assert read.created_at.tzinfo is UTC


def test_marks_of_a_draft_are_stored_with_its_node(database: Database, tree: int) -> None:
    draft = Draft(Message.of("user", "x"), marks=(("label", "plan"), ("source", {"line": 3})))
    made = database.append(tree, None, [draft], "main").nodes[0]
    assert [(row.node, row.name, row.value) for row in database.marks(tree)] == [
        (made.id, "label", "plan"),
        (made.id, "source", {"line": 3}),
    ]
