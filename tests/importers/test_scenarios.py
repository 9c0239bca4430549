"""Five situations in which readers of logs lost or invented parts of a conversation, through the public surface."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ctxtree
from ctxtree import FormatError, Store
from ctxtree.cli.app import app
from ctxtree.importers import read
from tests.cases.terms import texts
from tests.validity import violations

TARGETS = ["openai.chat", "openai.responses", "anthropic", "gemini", "text"]
Row = tuple[str, str | None, str, str]  # id, parent, role, words


@pytest.fixture
def store() -> Iterator[Store]:
    with ctxtree.connect(":memory:") as opened:
        yield opened


def moment(second: int) -> str:
    return f"2026-01-01T00:{second // 60:02d}:{second % 60:02d}Z"


def claude_code(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {"uuid": name, "parentUuid": parent, "type": role, "timestamp": moment(at),
         "message": {"role": role, "content": words}}
        for at, (name, parent, role, words) in enumerate(rows)
    ]  # fmt: skip


def pi(rows: Sequence[Row]) -> list[dict[str, Any]]:
    head = {"type": "session", "version": 3, "id": "s", "cwd": "/w", "timestamp": moment(0)}
    return [head] + [
        {"type": "message", "id": name, "parentId": parent, "timestamp": moment(at),
         "message": {"role": role, "content": [{"type": "text", "text": words}]}}
        for at, (name, parent, role, words) in enumerate(rows)
    ]  # fmt: skip


def chatgpt(rows: Sequence[Row]) -> list[dict[str, Any]]:
    mapping = {
        name: {"id": name, "parent": parent, "message": {
            "id": name, "author": {"role": role}, "create_time": 1_000 + at,
            "content": {"content_type": "text", "parts": [words]}}}
        for at, (name, parent, role, words) in enumerate(rows)
    }  # fmt: skip
    return [{"id": "c", "title": "t", "current_node": rows[-1][0], "mapping": mapping}]


def claude_ai(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [{"uuid": "c", "name": "t", "chat_messages": [
        {"uuid": name, "parent_message_uuid": parent or "00000000-0000-4000-8000-000000000000", "text": words,
         "sender": "human" if role == "user" else role, "created_at": moment(at)}
        for at, (name, parent, role, words) in enumerate(rows)
    ]}]  # fmt: skip


def librechat(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [{"conversationId": "c", "title": "t", "messages": [
        {"messageId": name, "parentMessageId": parent or "00000000-0000-0000-0000-000000000000",
         "conversationId": "c", "isCreatedByUser": role == "user", "text": words, "createdAt": moment(at)}
        for at, (name, parent, role, words) in enumerate(rows)
    ]}]  # fmt: skip


def open_webui(rows: Sequence[Row]) -> list[dict[str, Any]]:
    messages = {
        name: {"id": name, "parentId": parent, "role": role, "content": words, "timestamp": 1_000 + at}
        for at, (name, parent, role, words) in enumerate(rows)
    }
    return [{"id": "c", "title": "t", "chat": {"history": {"currentId": rows[-1][0], "messages": messages}}}]


LINES = {"claude-code": claude_code, "pi": pi}
MAPS = {"chatgpt": chatgpt, "claude.ai": claude_ai, "librechat": librechat, "open-webui": open_webui}
Writer = Callable[[Sequence[Row]], list[dict[str, Any]]]
LINKED: dict[str, Writer] = {**LINES, **MAPS}


def write(path: Path, name: str, rows: Sequence[Row]) -> Path:
    """The rows as a log of a format."""
    made = LINKED[name](rows)
    path.write_text("".join(json.dumps(one) + "\n" for one in made) if name in LINES else json.dumps(made))
    return path


def line(count: int) -> list[Row]:
    """Messages n1, n2, … in one line."""
    return [
        (f"n{n}", f"n{n - 1}" if n > 1 else None, "user" if n % 2 else "assistant", f"words {n}.")
        for n in range(1, count + 1)
    ]


def to_the_root(rows: Sequence[Row]) -> list[str]:
    """What a reader that only follows parents from the last row finds."""
    held = {name: (parent, words) for name, parent, _, words in rows}
    found: list[str] = []
    at: str | None = rows[-1][0]
    while at in held and held[at][1] not in found:
        at, words = held[at]
        found.append(words)
    return found[::-1]


# -- S1 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LINKED)
def test_s1_a_parent_that_is_not_there_costs_no_message_and_is_told(
    name: str, store: Store, tmp_path: Path
) -> None:
    """A log goes on from the row before; an export in no order gets a second beginning."""
    rows = line(6)
    rows[3] = ("n4", "gone", *rows[3][2:])
    assert to_the_root(rows) == ["words 4.", "words 5.", "words 6."]
    path = write(tmp_path / "log", name, rows)
    (made,) = store.import_file(path).conversations
    assert (made.messages, made.added, made.skipped) == (6, 6, 0)
    (told,) = [issue for issue in made.issues if issue.code == "dangling_parent"]
    assert "gone" in told.message
    assert told.message.startswith(f"line {4 + (name == 'pi') if name in LINES else 1}: n4")
    tree = store.tree(made.tree)
    held = {text for row in tree.branches() for text in (node.text for node in tree.path(row.head))}
    assert held == {words for *_, words in rows}
    if name in LINES:
        for target in TARGETS:
            payload = tree.compile(budget=4_000, target=target).payload
            assert all(words in texts(payload) for *_, words in rows)
            assert not violations(target, payload)
    with pytest.raises(FormatError, match=r"n4.*gone") as caught:
        store.import_file(path, name="strict", strict=True)
    assert caught.value.line == 4 + (name == "pi") if name in LINES else 1
    assert "strict" not in store.trees()
    assert store.verify() == ()


# -- S2 --------------------------------------------------------------------------------------

CIRCLES: list[Row] = [
    ("a", "b", "user", "of a"),
    ("b", "a", "assistant", "of b"),
    ("c", "c", "user", "of c"),
    ("d", "c", "assistant", "of d"),
    *((f"r{n}", f"r{(n + 1) % 300}", "user" if n % 2 else "assistant", f"ring {n}") for n in range(300)),
]


@pytest.mark.parametrize("name", LINKED)
def test_s2_circles_are_cut_at_the_same_edge_each_time_and_all_is_reachable(
    name: str, tmp_path: Path
) -> None:
    cuts = []
    for number in range(2):
        with ctxtree.connect(":memory:") as store:
            path = write(tmp_path / f"log {number}", name, CIRCLES)
            if number and name in MAPS:
                path.write_text(json.dumps(backwards(json.loads(path.read_text()))))
            (made,) = store.import_file(path).conversations
            assert (made.messages, made.skipped) == (len(CIRCLES), 0)
            told = [(issue.code, issue.message) for issue in made.issues]
            assert [code for code, _ in told] == ["self_parent", "cycle", "cycle"]
            cuts.append(told)
            tree = store.tree(made.tree)
            reached = {node.text for row in tree.branches() for node in tree.path(row.head)}
            assert reached == {words for *_, words in CIRCLES}
            assert store.verify() == ()
    assert cuts[0] == cuts[1]


def backwards(value: Any) -> Any:
    """The same with every list and map in reverse: their order means nothing in an export."""
    if isinstance(value, dict):
        return {key: backwards(value[key]) for key in reversed(value)}
    return [backwards(one) for one in reversed(value)] if isinstance(value, list) else value


# -- S3 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LINES)
def test_s3_two_damaged_lines_of_five_hundred_and_two_cost_themselves_alone(
    name: str, store: Store, tmp_path: Path
) -> None:
    whole = line(501)
    made = [json.dumps(row).encode() for row in LINES[name](whole)]
    made.insert(250, b'{"a":')
    made[-1] = made[-1][:100]
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join(made))
    before = path.read_bytes()
    (conversation,) = read(path)
    assert len(list(conversation.drafts)) == 500
    assert conversation.skipped == 2
    assert [(issue.code, issue.line, issue.offset) for issue in conversation.issues] == [
        ("bad_line", 251, before.index(b'{"a":\n')),
        ("truncated_line", len(made), len(before) - 100),
    ]
    done = CliRunner().invoke(app, ["--store", str(tmp_path / "s.db"), "import", str(path)])
    assert done.exit_code == 3
    assert "2 left out" in done.stdout
    assert path.read_bytes() == before
    report = store.import_file(path)
    assert (report.added, report.skipped) == (500, 2)
    # The tool that wrote the log goes on in the middle of the cut line.
    after = [("n502", "n500", "user", "after the crash"), ("n503", "n502", "assistant", "welcome back")]
    more = [json.dumps(row).encode() for row in LINES[name](after)[-2:]]
    path.write_bytes(before + b"\n".join(more) + b"\n")
    assert store.import_file(path).added == 2
    tree = store.tree(report.conversations[0].tree)
    assert [row.name for row in tree.branches()] == ["main"]
    said = [node.text for node in tree.path()]
    assert said == [f"words {n}." for n in range(1, 501)] + ["after the crash", "welcome back"]


# -- S10 -------------------------------------------------------------------------------------


def node(name: str, parent: str | None, role: str | None, text: str = "", **more: Any) -> dict[str, Any]:
    if role is None:
        return {"id": name, "parent": parent, "message": None}
    content = {"content_type": "text", "parts": [text]}
    message = {"id": name, "author": {"role": role}, "content": content, "metadata": {}, **more}
    return {"id": name, "parent": parent, "message": message}


def edge_set() -> list[dict[str, Any]]:
    """A folder, and a conversation with everything that importers of this format fell over."""
    hidden = {"is_visually_hidden_from_conversation": True}
    context = {"content_type": "user_editable_context", "user_instructions": "HIDDEN-CONTEXT"}
    nodes = [
        node("root", None, None),
        node("ctx", "root", "user", content=context, metadata=hidden),
        node("u1", "ctx", "user", "QUESTION-ONE", create_time=1.0),
        node("a1", "u1", "assistant", "ANSWER-ONE", create_time=2.0),
        node("sys", "a1", "system", "", metadata=hidden, create_time=3.0),
        node("u2", "sys", "user", "QUESTION-TWO", create_time=4.0),
        node("a2", "u2", "assistant", "FIRST-SIBLING", create_time=6.0),
        node("a3", "u2", "assistant", "SECOND-SIBLING", create_time=5.0),
    ]
    del nodes[3]["message"]["metadata"]
    held = {one["id"]: one for one in nodes}
    return [{"id": "f", "name": "a folder"}, {"title": None, "current_node": "a3", "mapping": held}]


def first_children(entry: dict[str, Any]) -> list[str]:
    """What a reader sees that starts at the root and goes down lists of children."""
    mapping = entry["mapping"]
    seen, at = [], "root"
    while at:
        seen.append(at)
        at = next(iter(mapping[at].get("children", [])), "")
    return seen


def test_s10_an_export_of_chatgpt_with_all_its_edges(store: Store, tmp_path: Path) -> None:
    entries = edge_set()
    assert first_children(entries[1]) == ["root"]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(entries))
    report = store.import_file(path)
    (made,) = report.conversations
    assert report.skipped == 1
    (left_out,) = [issue for issue in report.issues if issue.code == "no_conversation"]
    assert "entry 1 has no mapping" in left_out.message
    tree = store.tree(made.tree)
    path_now = tree.path()
    assert [one.text for one in path_now][-1] == "SECOND-SIBLING"
    assert all(child.parent == parent.id for parent, child in pairwise(path_now))
    spoken = [one.text for one in path_now if one.text and "HIDDEN" not in one.text]
    assert spoken == ["QUESTION-ONE", "ANSWER-ONE", "QUESTION-TWO", "SECOND-SIBLING"]
    assert {tree.node(row.head).text for row in tree.branches() if row.head} == {
        "FIRST-SIBLING",
        "SECOND-SIBLING",
    }
    for target in TARGETS:
        payload = tree.compile(budget=4_000, target=target).payload
        assert "HIDDEN-CONTEXT" not in texts(payload)
        assert "FIRST-SIBLING" not in texts(payload)
        assert "ANSWER-ONE" in texts(payload)
        assert not violations(target, payload)
    assert store.import_file(path).added == 0


# -- S11 -------------------------------------------------------------------------------------

ORDER: list[Row] = [
    ("u1", None, "user", "first question"),
    ("a1", "u1", "assistant", "first answer"),
    ("v2", "a1", "user", "EDITED question"),
    ("b2", "v2", "assistant", "EDITED answer"),
    ("u2", "a1", "user", "second question"),
    ("a2", "u2", "assistant", "second answer"),
]


def test_s11_an_export_of_claude_in_the_order_of_writing_is_a_tree(store: Store, tmp_path: Path) -> None:
    path = write(tmp_path / "c.json", "claude.ai", ORDER)
    tree = store.tree(store.import_file(path).conversations[0].tree)
    assert [node.text for node in tree.path()] == [ORDER[place][3] for place in (0, 1, 4, 5)]
    (fork,) = {node.id for node in tree.path() if sum(one.parent == node.id for one in tree_nodes(tree)) == 2}
    assert tree.node(fork).text == "first answer"
    assert "EDITED" not in texts(tree.compile(budget=2_000).payload)
    bare = json.loads(path.read_text())
    for message in bare[0]["chat_messages"]:
        del message["parent_message_uuid"]
    path.write_text(json.dumps(bare))
    line_only = store.tree(store.import_file(path, name="bare").conversations[0].tree)
    assert [node.text for node in line_only.path()] == [words for *_, words in ORDER]
    assert len(line_only.branches()) == 1


def tree_nodes(tree: ctxtree.Tree) -> list[ctxtree.Node]:
    return [tree.node(identity) for identity in tree.graph().nodes]


@pytest.mark.parametrize("target", TARGETS)
def test_s11_a_call_and_its_result_in_one_message_are_valid_everywhere(
    target: str, store: Store, tmp_path: Path
) -> None:
    blocks = [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "whale"}},
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "FOUND-IT"}]},
        {"type": "text", "text": "It is a whale."},
    ]
    (export,) = claude_ai(ORDER)
    export["chat_messages"][1]["content"] = blocks
    path = tmp_path / "c.json"
    path.write_text(json.dumps([export]))
    tree = store.tree(store.import_file(path).conversations[0].tree)
    made = tree.compile(budget=2_000, target=target)
    text = texts(made.payload)
    assert not violations(target, made.payload)
    assert [text.index(word) for word in ("Let me look.", "whale", "FOUND-IT", "It is a whale.")] == sorted(
        text.index(word) for word in ("Let me look.", "whale", "FOUND-IT", "It is a whale.")
    )
    assert text.count("FOUND-IT") == 1
    assert not made.report.repairs or {one.code for one in made.report.repairs} <= {
        "continue",
        "empty_content",
    }


# -- answers beside each other ---------------------------------------------------------------


def test_answers_of_two_models_and_one_made_anew_are_three_siblings_with_their_models(
    store: Store, tmp_path: Path
) -> None:
    rows: list[Row] = [
        ("u", None, "user", "Which?"),
        ("m0", "u", "assistant", "This."),
        ("m1", "u", "assistant", "That."),
        ("m0-again", "u", "assistant", "This, rather."),
        ("v", "m1", "user", "Why that?"),
    ]
    (export,) = open_webui(rows)
    for name, model, number in (("m0", "small", 0), ("m1", "large", 1), ("m0-again", "small", 0)):
        export["chat"]["history"]["messages"][name] |= {"model": model, "modelIdx": number}
    path = tmp_path / "chats.json"
    path.write_text(json.dumps([export]))
    tree = store.tree(store.import_file(path).conversations[0].tree)
    assert [one.text for one in tree.path()] == ["Which?", "That.", "Why that?"]
    asked = tree.path()[0]
    siblings = {one.text: tree.marks(one) for one in tree_nodes(tree) if one.parent == asked.id}
    assert {
        text: (marks["model"], marks["source"]["fields"]["modelIdx"]) for text, marks in siblings.items()
    } == {"This.": ("small", 0), "That.": ("large", 1), "This, rather.": ("small", 0)}
