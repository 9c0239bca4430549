"""Relevance by words and by meaning, with a small embedder that knows three topics, and with the real one."""

import asyncio
import json
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ctxtree
from ctxtree import CtxtreeError, NotFound, Policy, Tree
from ctxtree.cli.app import app
from ctxtree.embedding import Embedder, NoVectors, embedder_for, nearness
from ctxtree.fusion import fuse

TOPICS = (("doctor", "physician", "pills"), ("car", "garage", "engine"), ("cache", "index", "question"))
FACT = "My doctor told me to take the blue pills at noon."
QUESTION = "What did the physician prescribe?"


class Topics:
    """One dimension a topic, and one for the rest."""

    name = "topics/1"

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.batches.append(list(texts))
        return [[*(float(any(w in t.lower() for w in topic)) for topic in TOPICS), 0.1] for t in texts]


def talk(store: ctxtree.Store) -> Tree:
    tree = store.tree("t")
    tree.user(FACT)
    tree.assistant("Noted.")
    for number in range(60):
        tree.user(f"Question {number}: what of the cache and the index? " + "It is slow again today. " * 6)
        tree.assistant(f"Answer {number}: " + "the index of the cache is rebuilt. " * 8)
    return tree


def asked(tree: Tree, embedder: Any = None, **given: Any) -> ctxtree.Context:
    return tree.compile(budget=1_200, input=QUESTION, embedder=embedder, **given)


def held(tree: Tree, name: str = Topics.name) -> dict[str, bytes]:
    return dict(tree._database.vectors(tree._history.tree, name, [node.id for node in tree.path()]))


def relevance(context: ctxtree.Context) -> dict[str, float]:
    return {i.nodes[0]: i.parts["relevance"] for i in context.report.items if "relevance" in i.parts}


def test_what_fits_in_meaning_alone_comes_back() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = talk(store)
        first = tree.path()[0].id
        assert not relevance(asked(tree, record=False)).get(first)
        made = asked(tree, Topics(), record=False)
        assert relevance(made)[first] == pytest.approx(0.5)
        assert FACT in json.dumps(made.payload)
        assert made.report.tokens <= 1_200


def test_the_same_bytes_from_held_from_stored_and_from_new_vectors(tmp_path: Path) -> None:
    with ctxtree.connect(tmp_path / "a.db") as store:
        tree = talk(store)
        made = [asked(tree, Topics(), record=False).payload, asked(tree, Topics()).payload]
    with ctxtree.connect(tmp_path / "a.db") as store:
        made.append(asked(store.tree("t"), Topics()).payload)
        made.append(
            asyncio.run(store.tree("t").acompile(budget=1_200, input=QUESTION, embedder=Topics())).payload
        )
    assert made == made[:1] * 4


def test_vectors_are_made_once_in_one_batch_and_stored_once(tmp_path: Path) -> None:
    with ctxtree.connect(tmp_path / "a.db") as store:
        tree, embedder = talk(store), Topics()
        asked(tree, embedder, record=False)
        assert held(tree) == {}
        asked(tree, embedder)
        assert [len(batch) for batch in embedder.batches] == [len(tree.path()) + 1]
        assert set(held(tree)) == {node.id for node in tree.path()}
        assert {len(vector) for vector in held(tree).values()} == {4 * 4}
    with ctxtree.connect(tmp_path / "a.db") as store:
        tree, embedder = store.tree("t"), Topics()
        tree.user("The car is at the garage.")
        asked(tree, embedder)
        assert embedder.batches == [["The car is at the garage.", QUESTION]]


def test_a_function_without_a_name_stores_nothing() -> None:
    with ctxtree.connect(":memory:") as store:
        tree, topics = talk(store), Topics()
        asked(tree, lambda texts: topics(texts))
        assert len(topics.batches) == 1
        assert held(tree, "") == {}


def test_vectors_of_other_dimensions_under_one_name_are_made_anew() -> None:
    class Wider(Topics):
        def __call__(self, texts: Sequence[str]) -> list[list[float]]:
            return [[*row, 0.2] for row in super().__call__(texts)]

    with ctxtree.connect(":memory:") as store:
        tree = talk(store)
        asked(tree, Topics())
        made = asked(store.tree("t"), Wider())
        assert "embedder_failed" not in {alert.code for alert in made.report.alerts}
        assert {len(vector) for vector in held(tree).values()} == {5 * 4}


def test_purge_erases_vectors_also_those_that_a_handle_holds() -> None:
    with ctxtree.connect(":memory:") as store:
        tree, embedder = talk(store), Topics()
        asked(tree, embedder)
        node = tree.path()[0].id
        assert node in held(tree)
        store.purge(node, "asked for", "t")
        assert held(tree) == {}
        made = asked(tree, embedder)
        assert node not in held(tree)
        assert FACT not in embedder.batches[-1]
        assert FACT not in json.dumps(made.payload)


def raises(texts: Sequence[str]) -> Any:
    raise ValueError(texts[0])


BROKEN: dict[str, Callable[[Sequence[str]], Any]] = {
    "raises": raises,
    "too few": lambda texts: [[1.0, 0.0]] * (len(texts) - 1),
    "ragged": lambda texts: [[1.0] * (1 + at % 2) for at in range(len(texts))],
    "not a number": lambda texts: [[float("nan"), 1.0]] * len(texts),
    "zero": lambda texts: [[0.0, 0.0]] * len(texts),
    "words": lambda texts: list(texts),
    "nothing": lambda texts: None,
}


@pytest.mark.parametrize("embedder", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("policy", [Policy.hybrid(), Policy.stable()], ids=["hybrid", "stable"])
def test_a_broken_embedder_costs_an_alert_and_nothing_else(embedder: Any, policy: Policy) -> None:
    with ctxtree.connect(":memory:") as store:
        tree = talk(store)
        words = asked(tree, policy=policy, record=False)
        made = asked(tree, embedder, policy=policy)
        assert made.payload == words.payload
        (alert,) = [alert for alert in made.report.alerts if alert.code == "embedder_failed"]
        assert "doctor" not in alert.message
        assert held(tree, "") == {}


def test_units_without_words_are_not_sent_to_the_embedder() -> None:
    with ctxtree.connect(":memory:") as store:
        tree, embedder = talk(store), Topics()
        blank = tree.assistant("  ").id
        tree.user("And the car?")
        asked(tree, embedder)
        asked(tree, embedder)
        assert len(embedder.batches) == 1
        assert all(text.strip() for text in embedder.batches[0])
        assert blank not in held(tree)


def test_the_command_takes_an_embedder_by_name(tmp_path: Path) -> None:
    url = str(tmp_path / "a.db")
    with ctxtree.connect(url) as store:
        talk(store)
    words = ["--budget", "1200", "--input", QUESTION, "--embedder"]
    found = CliRunner().invoke(app, ["--store", url, "compile", *words, "wordllama"])
    assert FACT in found.stdout
    refused = CliRunner().invoke(app, ["--store", url, "explain", *words, "unknown"])
    assert isinstance(refused.exception, NotFound)


def test_a_plain_list_takes_an_embedder_too() -> None:
    with ctxtree.connect(":memory:") as store:
        messages = [node.message for node in talk(store).path()]
    made = ctxtree.compile_messages(messages, budget=1_200, input=QUESTION, embedder=Topics())
    assert FACT in json.dumps(made.payload)
    made = ctxtree.compile_messages(messages, budget=1_200, input=QUESTION, embedder=raises)
    assert made.report.alerts[-1].code == "embedder_failed"


def test_what_is_no_embedder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFound, match="wordllama"):
        embedder_for("unknown")
    with pytest.raises(CtxtreeError, match="int"):
        embedder_for(3)
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(CtxtreeError, match=r"pip install 'ctxtree\[embeddings\]'"):
        embedder_for(Topics())
    assert embedder_for(None) is None


def test_fusion_keeps_the_shares_of_words_and_lets_a_few_near_ones_in() -> None:
    words = {0: 1.0, 1: 0.9, 2: 0.05}
    assert fuse(words, {}) == pytest.approx({0: 1.0, 1: 0.9, 2: 0.25})
    assert list(fuse(words, {2: 0.9, 1: 0.8})) == [1, 2, 0]
    assert fuse({}, {7: 0.9, 3: 0.2}) == pytest.approx({7: 1 / 2, 3: 1 / 3})
    assert fuse({}, {}) == {}


def test_nearness_leaves_out_what_all_have_in_common() -> None:
    vectors = Embedder(lambda texts: [[5.0, 1.0], [5.0, -1.0], [5.0, 0.9]]).vectors(["a", "b", "q"])
    assert nearness(vectors[:2], vectors[2], ()) == pytest.approx([1.0, 0.0], abs=0.01)
    assert nearness(vectors[:2], vectors[2], (0.5,)) == pytest.approx([1.0, 0.5], abs=0.01)
    assert nearness([], vectors[2], ()) == []
    with pytest.raises(NoVectors, match="1 vectors for 2"):
        Embedder(lambda texts: [[1.0]]).vectors(["a", "b"])


def test_the_local_model_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise OSError("no network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    with ctxtree.connect(":memory:") as store:
        tree = talk(store)
        made = asked(tree, "wordllama")
        assert FACT in json.dumps(made.payload)
        vectors = held(tree, "wordllama/l2_supercat_256")
        assert {len(vector) for vector in vectors.values()} == {256 * 4}
        assert asked(tree, "wordllama").payload == made.payload
