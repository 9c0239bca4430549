"""Ids, names, labels, keys and search words are data: never a path, a query, a format or markup."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctxtree
from ctxtree import Budget, CtxtreeError, ToolCall

NAMES = (
    "../../x", "..", "/etc/passwd", "~/x", "C:\\x", "%s%n%d", "{0}{self}", "'; DROP TABLE nodes; --", "\" OR 1=1 --", "x' UNION SELECT 1 --",
    "100%", "_%_", "a\\", "[red]x[/red]", "[link=https://evil.example]y[/link]", "<script>alert(1)</script>", "a|b&&c`d`$(e)", "--help", "-",
    ":memory:", "sqlite:///x.db", "名字", "\u202egnp.exe", "e\u0301", "é", "x" * 300, "a b\u00a0c", "None", "null", "*", "?", "#", "HEAD ", "main ",
)  # fmt: skip
CONTROL = ("a\nb", "a\x00b", "\x1b[31mred", "a\tb", "\x7f")
LONG = "y" * 100_000


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_kept_as_it_is_and_means_nothing_else(place: Path, name: str) -> None:
    with ctxtree.connect("chats.db") as store:
        other = store.tree("other")
        other.user("untouched")
        tree = store.tree(name)
        first = tree.append({"role": "user", "content": f"said in {name}"}, key=name)
        assert tree.append({"role": "user", "content": "again"}, key=name).id == first.id
        reserved = "~" in name or len(name) > 290
        label = "the label" if reserved else f"label {name}"
        tree.label(first, label)
        tree.remember(f"fact {name}", key=name)
        branch = "a branch" if reserved else name
        tree.fork(branch)
        tree.assistant("ok", calls=[ToolCall(id=name, name=name, arguments={name: name})])
        tree.tool(name, name, name=name)
        tree.fail("HEAD", name)
        assert store.trees() == ("other", name)
        assert tree.branch == branch
        assert tree.node(label).id == first.id
        assert tree.switch(branch) is not None
        assert [fact.key for fact in tree.facts] == [name]
        assert tree.node(branch).id == tree.path()[-1].id
        for target in ("openai.chat", "openai.responses", "anthropic", "gemini", "text"):
            tree.compile(budget=Budget(8_000), target=target, input=name)
        for form in ("html", "markdown", "mermaid", "dot", "ctxtree"):
            tree.export(form, branches=(branch,) if form in ("html", "mermaid", "dot") else ())
        assert store.verify() == ()
        assert [node.text for node in other.path()] == ["untouched"]
    assert {path.name for path in place.rglob("*")} <= {"chats.db", "chats.db-wal", "chats.db-shm"}


@pytest.mark.parametrize("name", CONTROL)
def test_control_characters_name_no_branch_and_no_label(name: str) -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree(f"tree {name}")
        node = tree.user("x")
        for refused in (lambda: tree.fork(name), lambda: tree.label(node, name)):
            with pytest.raises(CtxtreeError) as error:
                refused()
            assert name not in str(error.value)
        assert store.trees() == (f"tree {name}",)


@pytest.mark.parametrize(
    "words",
    [*NAMES, *CONTROL, LONG, "", "go back to " + LONG, "go back to '; DROP TABLE nodes; --", "回到 [red]"],
)
def test_what_is_looked_up_is_found_or_refused_by_a_typed_error(words: str) -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("t")
        tree.user("the first plan")
        tree.assistant("ok")
        before = tree.export("ctxtree")
        looked: list[Any] = [
            lambda: tree.node(words), lambda: tree.switch(words), lambda: tree.recall(words), lambda: tree.merge(words), lambda: tree.diff(words, "HEAD"),
            lambda: tree.export(words), lambda: store.tree(words, create=False), lambda: store.purge(words, "x"), lambda: tree.draw(branches=(words,)),
            lambda: tree.draw(words), lambda: tree.backtrack(words), lambda: tree.compile(words, budget=100, record=False), lambda: tree.forget(words),
        ]  # fmt: skip
        for look in looked:
            try:
                look()
            except CtxtreeError as error:
                assert len(str(error)) < 1_000
        tree.find(words)
        assert tree.export("ctxtree") == before
        assert store.verify() == ()


@given(st.text(min_size=1, max_size=40))
@settings(deadline=None, max_examples=60)
def test_any_text_as_a_name_comes_back_or_is_refused(name: str) -> None:
    with ctxtree.connect(":memory:") as store:
        try:
            tree = store.tree(name)
            tree.user("x")
            tree.fork(name)
        except CtxtreeError:
            return
        assert store.trees() == (name,)
        assert name in {branch.name for branch in tree.branches()}
        tree.export("html")
        str(tree.draw("lanes"))


SETUP = """
import ctxtree
with ctxtree.connect("ctxtree.db") as store:
    tree = store.tree("[red]t[/red]\\x1b]0;title\\x07")
    first = tree.user("[bold]loud[/bold] \\x1b[2J\\u202e [link=https://evil.example]x[/link]")
    tree.label(first, "[blink]b[/blink]")
    tree.fork("[green]g[/green]")
    tree.assistant("[/] [red")
    tree.fail("HEAD", "[on red]r[/]")
    tree.remember("[red]f[/red]", key="[k]")
"""
VERBS = (
    "trees",
    "branches",
    "tree",
    "log",
    "log --graph",
    "show HEAD",
    "facts",
    "diff main HEAD",
    "explain",
    "turns",
    "find [red]",
    "verify",
)


@pytest.mark.parametrize("verb", VERBS)
def test_a_terminal_shows_markup_and_escapes_as_text(place: Path, verb: str) -> None:
    exec(SETUP)
    shown = on_a_terminal(["-c", "from ctxtree.cli import main; main()", *verb.split()])
    bare = shown.replace("\x1b[", "").encode()
    assert b"\x07" not in bare
    assert "\x1b]" not in shown
    assert "\x1b[2J" not in shown
    assert "\u202e" not in shown
    assert "Traceback" not in shown
    if verb in ("trees", "branches", "tree", "log", "facts"):
        assert any(mark in shown for mark in ("[red]", "[bold]", "[green]"))


def on_a_terminal(words: list[str]) -> str:
    """What a command prints where standard output is a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"}
    child = subprocess.Popen(
        [sys.executable, *words], stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=environment
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    child.wait(60)
    return shown.decode("utf-8", "replace")
