"""Long conversations: a new process reads little of them, and makes the same requests as one that was there all along."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from hypothesis import given, settings
from hypothesis import strategies as st

import ctxtree
from ctxtree import Budget, Policy, Store, ToolCall, Tree
from ctxtree.bm25 import SIZE, Segment
from ctxtree.outline import outline_in, outline_out, words_in, words_out
from ctxtree.tree import Step

TOPICS = ("harbour", "ledger", "orchard", "violin", "glacier", "compiler", "teapot", "lantern")
POLICIES = [Policy.hybrid(), Policy.agent()]


def talk(tree: Tree, turns: int, seed: int = 1) -> None:
    """Turns with a tool call each; every seventh has a fact that is told once."""
    chance = random.Random(seed)
    for turn in range(turns):
        topic = chance.choice(TOPICS)
        tree.user(f"Turn {turn} of {seed}: what about the {topic}?")
        call = ToolCall(id=f"c{seed}.{turn}", name="look", arguments=json.dumps({"at": topic}))
        tree.assistant("I look.", calls=[call])
        tree.tool(call.id, f"{topic}: " + " ".join(chance.choice(TOPICS) for _ in range(40)))
        fact = f"The {topic} key of turn {turn} is {chance.randrange(10**6)}." if turn % 7 == 0 else "Done."
        tree.assistant(fact)


def asked(tree: Tree, words: str | None, policy: Policy, target: str = "openai.chat") -> dict[str, Any]:
    made = tree.compile(budget=Budget(1_500), policy=policy, input=words, target=target, record=False)
    return {"payload": made.payload, "path": made.report.path.model_dump()}


def reopened(store: Store, tree: Tree) -> Tree:
    return store.tree(tree.name)


def without_segments(place: Path) -> None:
    engine = sqlalchemy.create_engine(f"sqlite:///{place}")
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM segments")
    engine.dispose()


def segments(place: Path) -> int:
    engine = sqlalchemy.create_engine(f"sqlite:///{place}")
    with engine.connect() as connection:
        count = connection.exec_driver_sql("SELECT count(*) FROM segments").scalar_one()
    engine.dispose()
    return int(count)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "long.db"


QUESTIONS = (None, "what is the violin key of turn 14?", "and the glacier?")


@pytest.mark.parametrize("policy", POLICIES, ids=["hybrid", "agent"])
def test_a_new_process_compiles_what_the_old_one_does_and_reads_little(place: Path, policy: Policy) -> None:
    with ctxtree.connect(place) as store:
        tree = store.tree("long")
        for part in range(4):
            talk(tree, 50, part)
            tree.compile(budget=Budget(1_500), policy=policy)
        assert segments(place) == 800 // SIZE
        with ctxtree.connect(place) as other:
            for words in QUESTIONS:
                fresh = other.tree("long")
                assert asked(fresh, words, policy) == asked(tree, words, policy)
                assert len(fresh._history._nodes) < 300
        without_segments(place)
        with ctxtree.connect(place) as other:
            for words in QUESTIONS:
                assert asked(other.tree("long"), words, policy) == asked(tree, words, policy)


def changed(tree: Tree) -> None:
    """Ways in which a path differs from the one that its segments were made of."""
    path = tree.path()
    tree.pin(path[9])
    tree._mark(path[40].id, {"hidden": True})
    tree.fail(path[-1], "it broke")


def forked(tree: Tree) -> None:
    tree.fork("other", at=tree.path()[SIZE + 10])
    talk(tree, 30, 77)


def at_a_seam(tree: Tree) -> None:
    tree.fork("seam", at=tree.path()[SIZE - 1])
    talk(tree, 70, 78)


def late(tree: Tree) -> None:
    """A call is answered after the segment that holds it was closed."""
    call = ToolCall(id="late", name="look", arguments='{"at": "basement"}')
    tree.assistant("I look in the basement.", calls=[call])
    for turn in range(SIZE):
        tree.user(f"Meanwhile {turn}.")
        tree.assistant("Yes.")
    tree.compile(budget=Budget(1_500))
    tree.tool("late", "basement: a violin of great age")
    tree.assistant("There is an old violin.")


def new_system(tree: Tree) -> None:
    tree._set_system("You are brief.")
    talk(tree, 3, 79)
    tree._set_system("You are very brief.")


@pytest.mark.parametrize("change", [changed, forked, at_a_seam, late, new_system])
def test_whatever_happens_later_the_segments_hold(place: Path, change: Callable[[Tree], None]) -> None:
    with ctxtree.connect(place) as store:
        tree = store.tree("long", system="You are kind.")
        talk(tree, 150)
        tree.compile(budget=Budget(1_500))
        change(tree)
        tree.compile(budget=Budget(1_500))
        for policy in POLICIES:
            for words in QUESTIONS:
                kept = asked(tree, words, policy)
                assert asked(reopened(store, tree), words, policy) == kept
        held = segments(place)
        assert held >= 2
        answers = [asked(tree, words, POLICIES[0]) for words in QUESTIONS]
        without_segments(place)
        assert [asked(reopened(store, tree), words, POLICIES[0]) for words in QUESTIONS] == answers
        reopened(store, tree).compile(budget=Budget(1_500))
        assert segments(place) >= 1


def test_damaged_segments_are_made_anew(place: Path) -> None:
    with ctxtree.connect(place) as store:
        tree = store.tree("long")
        talk(tree, 150)
        tree.compile(budget=Budget(1_500))
        before = [asked(tree, words, POLICIES[0]) for words in QUESTIONS]
        engine = sqlalchemy.create_engine(f"sqlite:///{place}")
        for column in ("words", "outline"):
            with engine.begin() as connection:
                connection.exec_driver_sql(f"UPDATE segments SET {column} = x'00'")
            assert [asked(reopened(store, tree), words, POLICIES[0]) for words in QUESTIONS] == before
        engine.dispose()


def test_an_erased_text_is_not_found_by_its_words(place: Path) -> None:
    with ctxtree.connect(place) as store:
        tree = store.tree("long")
        secret = tree.user("The xylophone code is 998877.")
        talk(tree, 150)
        tree.compile(budget=Budget(1_500))
        assert "998877" in json.dumps(asked(tree, "what is the xylophone code?", POLICIES[0]))
        store.purge(secret, "asked for")
        for one in (tree, reopened(store, tree)):
            assert "998877" not in json.dumps(asked(one, "what is the xylophone code?", POLICIES[0]))
        reopened(store, tree).compile(budget=Budget(1_500))
        assert segments(place) == 601 // SIZE


IDS = st.binary(min_size=32, max_size=32).map(bytes.hex)
CALLS = st.lists(st.text(max_size=8), max_size=2).map(tuple)
WHEN = st.none() | st.floats(0, 4e9).map(lambda at: round(at, 6))
STEPS = st.builds(
    Step, IDS, st.sampled_from(["system", "user", "assistant", "tool", "note"]), CALLS, CALLS, st.booleans(),
    st.sampled_from(["", '{"a": 1}']), WHEN,
)  # fmt: skip


@settings(max_examples=20)
@given(st.lists(STEPS, min_size=3, max_size=9))
def test_an_outline_gives_its_steps_back(some: list[Step]) -> None:
    steps = (some * SIZE)[:SIZE]
    assert outline_in(outline_out(steps)) == steps


@settings(max_examples=20)
@given(st.lists(st.lists(st.text(max_size=3), max_size=300), min_size=1, max_size=5))
def test_words_give_their_segment_back(some: list[list[str]]) -> None:
    segment = Segment.of((some * SIZE)[:SIZE])
    assert words_in(words_out(segment)) == segment
    for damaged in (b"", words_out(segment)[:-1], words_out(segment) + b"x"):
        with pytest.raises(ValueError):
            words_in(damaged)
    with pytest.raises(ValueError):
        outline_in(b"x" * 9_000)
