"""What leaves the library by another door than a request: masked exports, files of a folder, logs, error texts."""

from __future__ import annotations

import io
import logging
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import ctxtree
from ctxtree import CtxtreeError, Media, Message, Text, ToolCall

NUMBERS = dict(
    zip(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
        range(1, 11),
        strict=True,
    )
)
_KEPT = re.compile(r"\b(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b")
_RUN = re.compile(r"[A-Za-z0-9]{16,}")


def runs(text: str) -> list[str]:
    """Long runs of letters and digits that are neither a hash nor a UUID: parts of secrets."""
    return _RUN.findall(_KEPT.sub(" ", text))


def leaks(text: str, shown: str) -> list[str]:
    """The parts of secrets in `text` that can be read in what is shown."""
    return [f"shown: {run[:4]}…" for run in runs(text) if run in shown]


def unmasked(case: dict[str, Any], text: str, shown: str) -> list[str]:
    """What is wrong with a masked form of a text: secrets that show, hashes that do not, fewer masks than are demanded."""
    found = leaks(text, shown) + [f"masked: {kept}" for kept in _KEPT.findall(text) if kept not in shown]
    demands = re.search(r"\ball (\w+) secrets? masked", " ".join(case["expected"].get("must") or ()))
    least = NUMBERS.get(demands[1], 0) if demands else 1
    masks = len(re.findall(r"\[redacted: [\w-]+\]", shown))
    return [*found, f"{masks} masks, {least} demanded"] if masks < least else found


def say_everywhere(tree: Any, text: str) -> None:
    """The text in the user's words, in a call, in its result, and in signed thinking."""
    tree.user(text)
    thought = ctxtree.Reasoning(text="a thought", signature="signed", origin="anthropic")
    call = ToolCall(id="c1", name="bash", arguments={"command": text})
    tree.append(Message(role="assistant", parts=(thought, Text(text=text), call)))
    tree.tool("c1", text, error=True)
    tree.user("go on")


def logged(work: Callable[[], object]) -> str:
    """Everything that is logged, at any level, while something runs."""
    stream = io.StringIO()
    handler, root = logging.StreamHandler(stream), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        work()
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    return stream.getvalue()


def errors(tree: Any) -> Iterator[str]:
    """The texts of errors that the library raises about a tree."""
    broken = io.BytesIO(f'{{"role": "user", "content": "{tree.path()[0].text}"'.encode())
    works: list[Callable[[], object]] = [
        lambda: tree.compile(budget=ctxtree.Budget(20)), lambda: tree.node("nope"), lambda: tree.retry(at="HEAD~40"),
        lambda: tree.store.import_file(broken, strict=True), lambda: tree.append({"role": "robot", "content": tree.path()[0].text}),
    ]  # fmt: skip
    for work in works:
        try:
            work()
        except CtxtreeError as error:
            yield str(error)


@contextmanager
def watched() -> Iterator[tuple[Path, list[str]]]:
    """A folder to write in, and what is wrong with it after: everything beside it must stay as it was."""
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as held:
        around = Path(held)
        (around / "outside").write_text("precious")
        folder = around / "in" / "D"
        folder.mkdir(parents=True)
        (folder / "link.md").symlink_to(around / "outside")
        yield folder, wrong
        beside = {path for path in around.rglob("*") if folder not in path.parents and path != folder}
        if beside != {around / "outside", around / "in"} or (around / "outside").read_text() != "precious":
            wrong.append("something was written outside the folder")
        wrong += [
            f"{path.name!r} lies elsewhere"
            for path in folder.iterdir()
            if path.resolve().parent != folder.resolve() and path.name != "link.md"
        ]


def named_trees(store: Any, names: list[str]) -> list[str]:
    """A tree for each name; what is wrong is a refusal without a typed error."""
    wrong = []
    for name in names:
        try:
            store.tree(name).user(f"I am {name}")
        except CtxtreeError as refused:
            if not str(refused):
                wrong.append(f"{name[:20]!r} was refused without a word")
    return wrong


def looked_up(store: Any, names: list[str]) -> list[str]:
    """Each name given where a tree is looked for: the tree, or a typed error."""
    wrong = []
    for name in [*names, *(f"{name}/../x" for name in names)]:
        try:
            tree = store.tree(name, create=False)
        except CtxtreeError:
            continue
        if tree.name != name:
            wrong.append(f"{name[:20]!r} led to {tree.name[:20]!r}")
    return wrong


def attached(store: Any, names: list[str], folder: Path) -> list[str]:
    """Each name as the file of a message: it is told, and never read."""
    tree = store.tree("attachments")
    secret = folder.parent / "read.txt"
    secret.write_text("never read")
    for name in [*names, "../read.txt", str(secret)]:
        tree.append(
            Message(
                role="user", parts=(Text(text="see"), Media(kind="file", name=name, url=name, file_id=name))
            )
        )
    shown = [str(tree.export(form)) for form in ("html", "markdown", "openai.chat", "anthropic")]
    shown.append(str(tree.compile(budget=ctxtree.Budget(50_000)).payload))
    secret.unlink()
    return ["an attachment was read"] if "never read" in "".join(shown) else []


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text, self.wrong = "", list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "iframe", "object", "embed", "svg", "form", "link", "base"):
            self.wrong.append(f"a tag {tag}")
        for name, value in attrs:
            remote = name in ("src", "href") and not (value or "").startswith(("#", "data:image/"))
            if name.startswith("on") or name == "style" or remote:
                self.wrong.append(f"an attribute {name}")

    def handle_data(self, data: str) -> None:
        self.text += data


def said_in_all_places(store: Any, words: str) -> Any:
    """A tree that says the same in its name, in content, tool name, node marks and an error."""
    tree = store.tree(words)
    first = tree.user(words)
    tree.append(
        Message(
            role="assistant", parts=(Text(text=words), ToolCall(id="c", name=words, arguments={words: words}))
        )
    )
    tree.tool("c", words, error=True, name=words)
    tree.label(first, words)
    tree.fail(first, words)
    return tree


def page_problems(source: str, words: str) -> list[str]:
    """What is wrong with a page that should show some words literally."""
    page = _Page()
    page.feed(source)
    printable = "".join(char for char in words if char.isprintable())
    if page.text.count(printable) < 4:
        page.wrong.append("the words are not shown literally")
    if "default-src 'none'" not in source:
        page.wrong.append("no strict policy")
    return page.wrong
