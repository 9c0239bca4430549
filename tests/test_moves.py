from __future__ import annotations

import pytest

import ctxtree
from ctxtree import NoBacktrack, Tree


def talk(tree: Tree) -> None:
    tree.user("How do we pass jobs?")
    tree.assistant("Plan A: a Redis list.")
    tree.user("What else?")
    tree.assistant("Plan B: a PostgreSQL table.")


def test_an_undone_move_leads_back_and_takes_its_mark_along() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("t")
        talk(tree)
        path, branch, left = tree.path(), tree.branch, tree.head
        assert left is not None
        tree.backtrack("go back to plan A", "too slow")
        assert tree.marks(left)["status"]["status"] == "failed"
        assert tree.undo() == left
        assert (tree.branch, tree.path()) == (branch, path)
        assert tree.marks(left)["status"]["status"] == "ok"


def test_undo_keeps_what_was_said_since_and_a_second_one_returns_to_it() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("t")
        talk(tree)
        left = tree.head
        assert left is not None
        tree.backtrack("go back to plan A", "too slow")
        there, said = tree.branch, tree.user("Redis, then.")
        tree.undo()
        assert tree.undo() == said
        assert tree.branch == there
        assert tree.marks(left)["status"]["reason"] == "too slow"


def test_an_earlier_mark_holds_again_after_an_undo() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("t")
        talk(tree)
        left = tree.head
        assert left is not None
        tree.fail(left, "deadlock")
        tree.backtrack("go back to plan A", "too slow")
        tree.undo()
        assert tree.marks(left)["status"] == {"status": "failed", "reason": "deadlock"}


def test_without_a_move_there_is_nothing_to_undo() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("t")
        talk(tree)
        with pytest.raises(NoBacktrack, match="no move led to"):
            tree.undo()
