"""Heads that outlive a restart and other writers, on both engines, through the public surface."""

from __future__ import annotations

import pytest

import ctxtree
from ctxtree import TargetError
from tests.cases.terms import texts
from tests.validity import violations

from .writers import processes, speak_from

TARGETS = ["openai.chat", "openai.responses", "anthropic", "gemini", "text"]


# -- S8 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", [None, "Be brief."])
def test_s8_a_branch_without_a_word_stays_empty_through_a_restart(
    system: str | None, shared_url: str
) -> None:
    with ctxtree.connect(shared_url) as store:
        tree = store.tree("s8", system=system)
        tree.user("Hello.")
        tree.assistant("Hi there.")
        tree.backtrack("start over")
        empty = tree.branch
        assert empty != "main"
    for _ in range(2):
        with ctxtree.connect(shared_url) as store:
            tree = store.tree("s8")
            assert (tree.branch, [node.text for node in tree.path()]) == (empty, [system] if system else [])
            assert {row.name: row.nodes for row in tree.branches()}[empty] == len(tree.path())
            for target in TARGETS:
                with pytest.raises(TargetError) as caught:
                    tree.compile(budget=1_000, target=target)
                assert caught.value.code == "no_user_turn"
                made = tree.compile(budget=1_000, target=target, input="Anew.", record=False)
                assert not violations(target, made.payload)
                assert "Hello." not in texts(made.payload)
            tree.switch("main")
            assert tree.path()[-1].text == "Hi there."
            tree.switch(empty)
    with ctxtree.connect(shared_url) as store:
        tree = store.tree("s8")
        first = tree.user("Anew.")
        assert (tree.branch, first.parent) == (empty, tree.path()[0].id if system else None)


# -- S9 --------------------------------------------------------------------------------------


def test_s9_a_stale_handle_moves_no_head_neither_late_nor_when_it_ends(shared_url: str) -> None:
    with ctxtree.connect(shared_url) as store:
        tree = store.tree("s9")
        old = tree.user("one")
        tree.assistant("two")
        tree.fork("here", at=old)
    with ctxtree.connect(shared_url) as store:
        assert (store.tree("s9").branch, store.tree("s9").head) == ("here", old)
        stale = ctxtree.connect(shared_url)
        late = stale.tree("s9")
        now = store.tree("s9")
        kept = now.assistant("from the one that works")
        with pytest.warns(UserWarning, match="another writer"):
            lost = late.assistant("from the one that slept")
        assert (late.branch, lost.parent, kept.parent) == ("here.2", old.id, old.id)
        now.user("more")
        stale.close()
        rows = {row.name: row.head for row in now.branches()}
        assert rows["here"] == now.path()[-1].id
        assert rows["here.2"] == lost.id
        assert store.verify() == ()
        store.tree("s9").switch("here")
    with ctxtree.connect(shared_url) as store:
        assert [node.text for node in store.tree("s9").path()] == ["one", "from the one that works", "more"]


def test_s9_of_two_processes_on_one_head_none_loses_a_node(shared_url: str) -> None:
    """Each opens the store where the other does, and appends without looking again."""
    with ctxtree.connect(shared_url) as store:
        head = store.tree("s9").user("where both start").id
    start = processes().Barrier(2)
    running = [
        processes().Process(target=speak_from, args=(shared_url, "s9", name, 30, start))
        for name in ("a", "b")
    ]
    for process in running:
        process.start()
    for process in running:
        process.join(60)
    assert [process.exitcode for process in running] == [0, 0]
    with ctxtree.connect(shared_url) as store:
        tree = store.tree("s9")
        rows = {row.name: row for row in tree.branches()}
        assert sorted(rows) == ["main", "main.2"]
        said = {name: [node.text for node in tree.path(row.head)] for name, row in rows.items()}
        assert {lines[1] for lines in said.values()} == {"a 0", "b 0"}
        for lines in said.values():
            who = lines[1][0]
            assert lines == ["where both start", *(f"{who} {step}" for step in range(30))]
        assert {tree.path(row.head)[0].id for row in rows.values()} == {head}
        assert store.verify() == ()
