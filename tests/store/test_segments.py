"""Segments of paths: what is kept is found again along each branch, and only along it."""

from __future__ import annotations

import pytest

from ctxtree.bm25 import SIZE
from ctxtree.errors import NotFound
from ctxtree.model import Message
from ctxtree.store import Database
from ctxtree.store.records import Draft, SegmentRow


def grown(database: Database, tree: int, head: str | None, count: int, branch: str = "main") -> list[str]:
    drafts = [Draft(Message.of("user", f"{branch} {turn}")) for turn in range(count)]
    return [node.id for node in database.append(tree, head, drafts, branch).nodes]


def rows(ids: list[str], *numbers: int) -> list[SegmentRow]:
    ends = [None, *ids[SIZE - 1 :: SIZE]]
    return [
        SegmentRow(str(ends[at + 1]), ends[at], f"outline {at}".encode(), f"words {at}".encode())
        for at in numbers
    ]


def test_a_path_is_its_segments_and_the_nodes_after_them(database: Database, tree: int) -> None:
    ids = grown(database, tree, None, 2 * SIZE + 5)
    database.put_segments(tree, 1, rows(ids, 0, 1))
    for place, count in ((2 * SIZE + 4, 5), (2 * SIZE, 1), (2 * SIZE - 1, 0)):
        found = database.line(tree, ids[place], 1)
        assert found is not None
        assert found[0] == (b"outline 0", b"outline 1")
        assert [node.id for node in found[1]] == ids[place + 1 - count : place + 1]
    inside = database.line(tree, ids[2 * SIZE - 2], 1)
    assert inside is not None
    assert (inside[0], len(inside[1])) == ((b"outline 0",), SIZE - 1)
    short = database.line(tree, ids[3], 1)
    assert short is not None
    assert (short[0], [node.id for node in short[1]]) == ((), ids[:4])
    with pytest.raises(NotFound):
        database.line(tree, "0" * 64, 1)


def test_a_few_missing_segments_are_read_as_nodes_and_many_are_refused(database: Database, tree: int) -> None:
    ids = grown(database, tree, None, 6 * SIZE)
    assert database.line(tree, ids[-1], 1) is None
    database.put_segments(tree, 1, rows(ids, 0, 1, 2))
    found = database.line(tree, ids[-1], 1)
    assert found is not None
    assert (len(found[0]), [node.id for node in found[1]]) == (3, ids[3 * SIZE :])
    database.put_segments(tree, 2, rows(ids, 2))
    assert database.line(tree, ids[-1], 2) is None, "the segments above it are of another version"


def test_branches_share_what_lies_above_their_fork(database: Database, tree: int) -> None:
    ids = grown(database, tree, None, 2 * SIZE)
    database.put_segments(tree, 1, rows(ids, 0, 1))
    database.create_branch(tree, "other", ids[SIZE + 9], fork=ids[SIZE + 9])
    other = grown(database, tree, ids[SIZE + 9], SIZE, "other")
    found = database.line(tree, other[-1], 1)
    assert found is not None
    assert found[0] == (b"outline 0",)
    assert [node.id for node in found[1]] == [*ids[SIZE : SIZE + 10], *other]


def test_words_are_found_by_their_last_node_and_version(database: Database, tree: int) -> None:
    ids = grown(database, tree, None, 2 * SIZE)
    database.put_segments(tree, 1, rows(ids, 0, 1))
    database.put_segments(tree, 1, rows(ids, 0))
    ends = ids[SIZE - 1 :: SIZE]
    assert database.words(tree, 1, [*ends, ids[0]]) == {ends[0]: b"words 0", ends[1]: b"words 1"}
    assert database.words(tree, 2, ends) == {}


def test_a_purge_leaves_no_segment_of_the_tree(database: Database, tree: int) -> None:
    ids = grown(database, tree, None, SIZE + 1)
    database.put_segments(tree, 1, rows(ids, 0))
    database.purge(tree, ids[5], "asked for")
    assert database.words(tree, 1, [ids[SIZE - 1]]) == {}
    found = database.line(tree, ids[-1], 1)
    assert found is not None
    assert (found[0], len(found[1])) == ((), SIZE + 1)
