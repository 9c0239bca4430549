"""Markdown, HTML, Mermaid and DOT: what is said is shown literally and never comes to life."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import ctxtree
from ctxtree import ToolCall
from ctxtree.drawing import Choice, Sketch, headline, visible
from ctxtree.drawing.graphs import dot, mermaid
from ctxtree.drawing.markdown import markdown
from ctxtree.drawing.page import page
from ctxtree.drawing.pieces import plain
from ctxtree.model import Media, Message, Node, Reasoning, Text, ToolResult
from tests.drawing.trees import HOSTILE, chain, random_tree, sketch

HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def everywhere(words: str) -> Sketch:
    """A tree that says the same words in every place that takes any."""
    parts = (
        Reasoning(text=words),
        Text(text=words),
        ToolCall(id=words, name=words, arguments={words: words}),
        ToolCall(id="2", name="raw", arguments=words),
    )
    media = Media(name=words, url=words, mime=words, transcript=words)
    first = Node.make(Message(role="user", parts=(Text(text=words), media)))
    second = Node.make(Message(role="assistant", parts=parts, name=words), (first.id,))
    result = ToolResult(call_id=words, name=words, parts=(Text(text=words), media), error=True)
    third = Node.make(Message(role="tool", parts=(result,)), (second.id,))
    aside = Node.make(Message.of("assistant", words), (first.id,))
    held = {"label": words, "status": {"status": "failed", "reason": words}}
    return Sketch.of(
        [first, second, third, aside], {}, {third.id: held, aside.id: held}, {words: third.id, words + ".2": aside.id}, third.id, words,
    )  # fmt: skip


class Page(HTMLParser):
    """Its text, its tags with their attributes, and whether every tag was closed in order."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.text, self.tags, self.open = "", list[tuple[str, dict[str, str | None]]](), list[str]()
        self.deepest = 0
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "hr"):
            self.open.append(tag)
            self.deepest = max(self.deepest, len(self.open))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


TAGS = {
    "html", "head", "meta", "title", "style", "body", "h1", "p", "details", "summary", "table", "tr", "th", "td", "a", "main",
    "article", "header", "b", "span", "time", "pre", "code", "div", "img", "hr",
}  # fmt: skip
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "alt", "src"}


@pytest.mark.parametrize("words", HOSTILE)
def test_a_page_shows_every_text_literally(words: str) -> None:
    source = page(everywhere(words))
    seen = Page(source)
    assert seen.open == []
    assert {tag for tag, _ in seen.tags} <= TAGS
    for _, attributes in seen.tags:
        assert attributes.keys() <= ATTRIBUTES
        assert re.fullmatch(r"#n[0-9a-f]{16}", attributes.get("href") or "#n0123456789abcdef")
        assert (attributes.get("src") or "data:image/").startswith("data:image/")
    line = visible(" ".join(words.split()))[:40]
    assert " ".join(seen.text.split()).count(" ".join(line.split())) >= 5
    assert not HIDDEN.search(source.replace("\u200d", ""))


def test_a_page_needs_nothing_from_outside_and_runs_nothing() -> None:
    source = page(sketch(chain(3), {"main": 2}))
    style = re.search(r"<style>(.*?)</style>", source, re.S)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:" in source
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    assert "://" not in source


def test_branches_beside_the_active_path_are_closed_and_listed() -> None:
    nodes = random_tree(5, 400)
    leaves = [at for at, node in enumerate(nodes) if node.id not in {one.parent for one in nodes}]
    source = page(sketch(nodes, {f"b{at}": at for at in leaves}))
    seen = Page(source)
    assert sum(tag == "article" for tag, _ in seen.tags) == len(nodes)
    assert sum(held.get("class") == "side" for tag, held in seen.tags if tag == "details") == len(leaves) - 1
    ids = {held["id"] for tag, held in seen.tags if tag == "article"}
    assert {(held["href"] or "")[1:] for tag, held in seen.tags if tag == "a"} <= ids
    assert "open" not in {name for _, held in seen.tags for name in held}


def test_ten_thousand_nodes_make_a_page_that_is_not_deep() -> None:
    assert Page(page(sketch(random_tree(1, 10_000)))).deepest < 30
    assert Page(page(sketch(chain(10_000)))).deepest < 10


def test_pictures_in_the_log_are_shown_if_they_can_hold_no_script() -> None:
    data = base64.b64encode(b"\x89PNG").decode()
    shown = [
        Media(data=data, mime="image/png", name='"x'),
        Media(data=data, mime="image/svg+xml"),
        Media(data='">', mime="image/png"),
    ]
    shown.append(Media(url="https://evil.example/p.png", mime="image/png"))
    source = page(sketch([Node.make(Message(role="user", parts=tuple(shown)))]))
    pictures = [held for tag, held in Page(source).tags if tag == "img"]
    assert pictures == [{"alt": '"x', "src": f"data:image/png;base64,{data}"}]


def tokens(source: str) -> list[str]:
    """Kinds of everything that a Markdown reader finds, with the words of headings and paragraphs."""
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    found = []
    for token in reader.parse(source):
        found.append(token.type)
        found += [child.type for child in token.children or ()]
    return found


ALIVE = {
    "heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text", "hardbreak", "fence", "code_inline",
    "blockquote_open", "blockquote_close", "softbreak", "text_special",
}  # fmt: skip


def read_back(source: str) -> str:
    """What a reader sees, without the marks of structure."""
    seen = ""
    for token in MarkdownIt("commonmark").parse(source):
        seen += token.content + "\n" if token.type == "fence" else ""
        for child in token.children or ():
            seen += "\n" if child.type == "hardbreak" else child.content
        seen += "\n" if token.type == "inline" else ""
    return seen


@pytest.mark.parametrize("words", HOSTILE)
def test_markdown_keeps_words_from_coming_to_life(words: str) -> None:
    there = everywhere(words)
    source = markdown(there.spots)
    kinds = tokens(source)
    assert set(kinds) <= ALIVE
    assert kinds.count("heading_open") == 4
    assert not HIDDEN.search(source)


@given(st.text(alphabet=st.sampled_from("ab1. \n\t`~*_#>-+=[]()!<>&;|\\$:\"'你\u202e\x1b{}"), max_size=60))
@settings(max_examples=300, deadline=None)
def test_markdown_says_what_was_said(words: str) -> None:
    source = markdown(sketch([Node.make(Message.of("user", words))]).spots)
    assert set(tokens(source)) <= ALIVE
    seen = read_back(source).removeprefix("user [n]")
    fences = re.compile(r"^ {0,3}(`{3,}|~{3,}).*$", re.M)
    said = fences.sub("", visible(words, keep="\n\t"))
    assert "".join(fences.sub("", seen.removeprefix("user")).split()) == "".join(said.split())


def test_markdown_keeps_code_as_code() -> None:
    words = "look:\n```py\nx = `a` < 1\n```\ndone\n\n    indented"
    assert markdown(sketch([Node.make(Message.of("user", words))], n0={"label": "the plan"}).spots) == (
        "### user \\[the plan\\]\n\nlook:\n\n```py\nx = `a` < 1\n```\n\ndone\n\n```\n    indented\n```\n"
    )


@pytest.mark.parametrize("words", HOSTILE)
def test_mermaid_labels_hold_nothing_that_mermaid_reads(words: str) -> None:
    line = re.compile(
        r'flowchart TD|  classDef \w+ [\w:#,]+|  n[0-9a-f]{16}\["[^"\[\]<>`&{}|\\%$*_^~;#]*(#\d+;[^"\[\]<>`&{}|\\%$*_^~;#]*)*"\](:::\w+)?'
        r'|  n[0-9a-f]{16} (-->|-\.->|-\. "[\d,]+ nodes?" \.->) n[0-9a-f]{16}|  b\d+\(\["(#\d+;|[^"\[\]<>`&{}|\\%$*_^~;#])*"\]\) -\.- n[0-9a-f]{16}'
    )
    source = mermaid(everywhere(words), Choice())
    assert all(line.fullmatch(row) for row in source.splitlines())
    assert not HIDDEN.search(source)


@pytest.mark.parametrize("words", HOSTILE)
def test_dot_labels_are_strings_that_end_where_they_should(words: str) -> None:
    source = dot(everywhere(words), Choice())
    bare = re.sub(r'"(?:[^"\\\n]|\\\\|\\")*"', "S", source)
    statement = re.compile(r"digraph conversation \{|\}|  (graph|node|edge|S|S -> S)( \[[\w=S, ]+\])?;")
    assert all(statement.fullmatch(row) for row in bare.splitlines())
    assert not re.search(r"&(?!amp;)", source)
    assert not HIDDEN.search(source)


def test_drawings_for_other_tools_fold_long_runs() -> None:
    there = sketch(chain(10_000), {"main": -1})
    assert len(mermaid(there, Choice()).splitlines()) < 25
    assert '"9,995 nodes"' in mermaid(there, Choice())
    assert 'label="9,995 nodes"' in dot(there, Choice())
    assert mermaid(there, Choice(fold=False)).startswith(
        "flowchart TD\n  %% 10000 nodes; Mermaid draws 500 edges"
    )


def test_hidden_characters_are_shown_and_letters_stay() -> None:
    assert visible("a\x1b[31m\u202eb\x00\x7f\u3000c\ud800") == "a‹ESC›[31m‹U+202E›b‹NUL›‹DEL› c\ufffd"
    assert visible("👨\u200d👩 می\u200cخواهم\n", keep="\n") == "👨\u200d👩 می\u200cخواهم\n"
    assert headline(Message.of("user", "a\n\n b\x1b"), 10) == "a b‹ESC›"


def test_a_message_for_the_terminal_keeps_its_lines() -> None:
    said = (Text(text="one\n### two\x1b[2J"), ToolCall(id="1", name="read", arguments={"p": "a\x07"}))
    assert plain(Message(role="assistant", parts=said)) == "one\n### two‹ESC›[2J\n\nread(p=a‹BEL›)"


def test_a_tree_draws_itself_in_every_form() -> None:
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("t")
        tree.user("one")
        tree.assistant("two")
        tree.fork("side", tree.path()[0])
        tree.user("three")
        assert "├─● " in str(tree.draw())
        assert "├─╯" in str(tree.draw("lanes"))
        assert "╰─ side" in str(tree.draw_diff("main", "side"))
        for form in ("html", "mermaid", "dot"):
            assert "three" in tree.export(form)
            assert "three" not in tree.export(form, at="main")
            assert "three" not in tree.export(form, branches=("main",))
        with pytest.raises(ctxtree.NotFound, match="no style"):
            tree.draw("nope")
