"""What is written for another program is read back as what was said."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

import pytest

import ctxtree
from ctxtree import NotFound, Store, ToolCall, Tree
from ctxtree.exporters import EXPORTERS
from ctxtree.exporting import FORMATS
from ctxtree.importers import detect
from ctxtree.model import Media, Message, Node, Text
from tests.importers.logs import FIXTURES

Atom = tuple[Any, ...]

NO_SYSTEM = frozenset({"librechat", "claude-code", "sillytavern"})
NO_CALLS = frozenset({"sillytavern"})
LOGS = (
    "claude_ai_sentinel.json", "codex_rollback.jsonl", "llamacpp.jsonl", "pi_v3.jsonl", "cc_parallel_tools.jsonl",
    "cc_sidechain.jsonl", "inspect.json", "gemini_rewind.jsonl", "oasst.jsonl", "langgraph_history.json",
)  # fmt: skip


def made(store: Store) -> Tree:
    """A tree with edits, retries, parallel calls, words of two languages and a state."""
    tree = store.tree("made", system="Be exact.")
    asked = tree.user("Compare a.py and b.py.")
    tree.assistant(
        "I read both.",
        calls=[
            ToolCall(id="c1", name="read", arguments={"file": "a.py"}),
            ToolCall(id="c2", name="read", arguments={"file": "b.py"}),
        ],
    )
    tree.tool("c1", "one")
    tree.tool("c2", "no such file", error=True)
    done = tree.assistant("Only a.py is there.")
    tree.label(done, "found")
    tree.patch_state({"step": 1})
    tree.user("那就只看 a.py。")
    tree.assistant("好的。")
    tree.retry()
    tree.assistant("a.py 里只有一行。")
    tree.edit(asked, "Compare all files.")
    tree.assistant("There are two.")
    tree.switch("main.2")
    return tree


def atoms(path: tuple[Node, ...], form: str) -> tuple[Atom, ...]:
    """A path as what was said in it, however it is divided into messages; pictures told in words are no words."""
    found: list[Atom] = []
    for node in path:
        message = node.message
        role = "system" if message.role == "developer" else message.role
        if role in ("note", "state") or (role == "system" and form in NO_SYSTEM):
            continue
        text = "\n".join(part.text for part in message.parts if isinstance(part, Text))
        found += [(role, line) for line in text.split("\n") if line and not line.startswith("[image ")]
        if form not in NO_CALLS:
            found += [("call", call.name, json.dumps(call.object, sort_keys=True)) for call in message.calls]
            found += [("result", result.text) for result in message.results]
    if form in ("chatgpt", "librechat", "sharegpt"):  # calls and results in turn
        return tuple(sorted(found, key=str))
    return tuple(found)


def leaves(tree: Tree, form: str) -> Counter[tuple[Atom, ...]]:
    """The distinct paths of the tree, or the active one for a format that holds one only."""
    graph = tree.graph()
    ends = [name for name in graph if not list(graph.successors(name))]
    if not EXPORTERS[form].whole or form == "sillytavern":
        ends = [tree.head.id] if tree.head else []
    return Counter({atoms(tree.path(end), form) for end in ends} - {()})


def raw(made_: Any) -> bytes:
    return made_.encode() if isinstance(made_, str) else json.dumps(made_, ensure_ascii=False).encode()


def back(tree: Tree, form: str) -> Counter[tuple[Atom, ...]]:
    """The paths after the tree was written and read again; the second time nothing is added."""
    written = raw(tree.export(form))
    assert detect(io.BytesIO(written)) == form
    with ctxtree.connect(":memory:") as other:
        report = other.import_file(io.BytesIO(written), strict=True)
        assert other.import_file(io.BytesIO(written)).added == 0
        assert raw(tree.export(form)) == written
        return leaves(other.tree(report.conversations[0].tree), form)


@pytest.mark.parametrize("form", EXPORTERS)
def test_a_tree_is_read_back_as_it_was_said(form: str) -> None:
    with ctxtree.connect(":memory:") as store:
        tree = made(store)
        expected = leaves(tree, form)
        assert len(expected) == (3 if EXPORTERS[form].whole and form != "sillytavern" else 1)
        assert back(tree, form) == expected


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize(
    "form", [name for name, one in EXPORTERS.items() if one.whole and name != "sillytavern"]
)
def test_a_log_of_one_program_goes_to_another_with_all_branches(form: str, name: str) -> None:
    with ctxtree.connect(":memory:") as store:
        store.import_file(FIXTURES / name)
        for tree in map(store.tree, store.trees()):
            assert back(tree, form) == leaves(tree, form)


def test_alternatives_come_along_as_swipes() -> None:
    with ctxtree.connect(":memory:") as store:
        store.import_file(FIXTURES / "st_swipes.jsonl")
        lines = [json.loads(line) for line in store.tree().export("sillytavern").splitlines()]
        assert (lines[1]["swipe_id"], lines[1]["swipes"]) == (1, ["Hello.", "Well met.", "Hail."])
        assert [line["mes"] for line in lines[1:]][1:3] == ["Where am I?", "(a note that is not sent)"]
        assert lines[3]["is_system"] is True


def test_labels_usage_and_the_active_leaf_come_along() -> None:
    with ctxtree.connect(":memory:") as store, ctxtree.connect(":memory:") as other:
        tree = made(store)
        other.import_file(io.BytesIO(tree.export("pi").encode()))
        again = other.tree("made")
        assert again.node("found").text == "Only a.py is there."
        assert again.head is not None
        assert again.head.text == "a.py 里只有一行。"


def test_pictures_are_written_where_a_format_has_them() -> None:
    picture = Media(mime="image/png", data="iVBORw0KGgo=")
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("t")
        tree.append(Message(role="user", parts=(Text(text="Look."), picture)))
        for form in ("pi", "llama.cpp", "openai.responses", "langchain", "claude-code"):
            with ctxtree.connect(":memory:") as other:
                report = other.import_file(io.BytesIO(raw(tree.export(form))))
                parts = other.tree(report.conversations[0].tree).path()[0].message.parts
                assert [part.type for part in parts] == ["text", "media"], form
                assert getattr(parts[1], "data", None) == picture.data, form


def test_a_path_can_be_written_instead_of_the_tree() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = made(store)
        whole, path = tree.export("pi"), tree.export("pi", at="main")
        assert len(path.splitlines()) < len(whole.splitlines())
        assert "There are two." in whole
        assert "There are two." not in path


def test_an_empty_tree_and_an_unknown_format() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("empty")
        for form in FORMATS:
            assert raw(tree.export(form)) is not None
        with pytest.raises(NotFound, match="no export format"):
            tree.export("klingon")
