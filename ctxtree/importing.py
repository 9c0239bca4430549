"""From the conversations of a log to trees. A second import of the same file adds nothing.

Nodes and their marks are stored in batches, a transaction each, so memory does not grow with the words
of a log: what stays for each message is its id in the file and in the tree, about 300 bytes. A batch is
whole or not there at all; after a crash between two, the next import of the file adds what is missing.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from ctxtree.errors import NotFound
from ctxtree.importers import Conversation, Draft, detect, read
from ctxtree.model import Mark, Message, Node, Text, ToolResult
from ctxtree.naming import next_name, tree_name
from ctxtree.report import Signal
from ctxtree.results import Imported, ImportReport

Progress = Callable[[str, int], None]
"""Called after each batch with the tree's name and how many messages of it have been stored or known."""

BATCH_NODES = 1_000
"""Most nodes of one transaction."""
BATCH_CHARACTERS = 4_000_000
"""Characters of message text after which a transaction ends, the last message whole."""


def import_file(
    database: Any,
    path: str | Path | BinaryIO,
    form: str,
    name: str | None,
    strict: bool,
    progress: Progress | None = None,
) -> ImportReport:
    """Read a log into trees of the store. Raises `FormatError`; with `strict` before anything is stored."""
    with _rereadable(path) as opened:
        found = detect(opened()) if form == "auto" else form
        if strict:
            _exhaust(read(opened(), found, strict))
        done = []
        for number, conversation in enumerate(read(opened(), found, strict)):
            given = name if name and number == 0 else f"{name}-{number + 1}" if name else conversation.name
            title = tree_name(given, Path(conversation.source).stem or "conversation")
            done.append(_into(database, title, conversation, progress))
    shown = str(path) if isinstance(path, str | Path) else "-"
    return ImportReport(shown, found, tuple(done))


@contextmanager
def _rereadable(path: str | Path | BinaryIO) -> Iterator[Callable[[], str | Path | BinaryIO]]:
    """A function that gives the log from its start each time it is called.

    A stream that cannot seek is copied to a temporary file first.
    """
    if isinstance(path, str | Path):
        yield lambda: path
        return
    with tempfile.TemporaryFile() as copy:
        stream = path
        if not path.seekable():
            shutil.copyfileobj(path, copy)
            copy.seek(0)
            stream = cast(BinaryIO, copy)
        origin = stream.tell()

        def again() -> BinaryIO:
            stream.seek(origin)
            return stream

        yield again


def _exhaust(conversations: Iterator[Conversation]) -> None:
    """Read everything once and keep nothing: a defect at the end of a log is found before the first write."""
    for conversation in conversations:
        for _ in conversation.drafts:
            pass


@dataclass(slots=True)
class _Known:
    """What must be remembered of the messages so far: ids as bytes, by their id in the file.

    `repeats` counts equal siblings by the id of the first of them; `leaves` are nodes without a child.
    """

    ids: dict[str, bytes] = field(default_factory=dict)
    taken: set[bytes] = field(default_factory=set)
    repeats: dict[bytes, int] = field(default_factory=dict)
    leaves: dict[bytes, None] = field(default_factory=dict)

    def node(self, source: str | None) -> str | None:
        """The node that a message of the file became."""
        found = self.ids.get(source) if source is not None else None
        return found.hex() if found is not None else None

    def add(self, draft: Draft) -> Node:
        """The draft's node; equal siblings are numbered in the order of the file."""
        parent = self.node(draft.parent)
        parents = (parent,) if parent else ()
        node = Node.make(draft.message, parents, 0, draft.created_at)
        raw = bytes.fromhex(node.id)
        if raw in self.taken:
            number = self.repeats[raw] = self.repeats.get(raw, 0) + 1
            node = Node.make(draft.message, parents, number, draft.created_at)
            raw = bytes.fromhex(node.id)
        self.ids[draft.source] = raw
        self.taken.add(raw)
        self.leaves[raw] = None
        if parent:
            self.leaves.pop(bytes.fromhex(parent), None)
        return node


def _into(database: Any, name: str, conversation: Conversation, progress: Progress | None) -> Imported:
    row = database.create_tree(name)
    known = _Known()
    added = 0
    for batch in _batches(conversation.drafts):
        added += _store(database, row.id, known, batch)
        if progress is not None:
            progress(name, len(known.ids))
    _label(database, row.id, known, conversation.labels)
    leaves = [leaf.hex() for leaf in known.leaves]
    head = known.node(conversation.head) or (leaves[-1] if leaves else None)
    branches = _branches(database, row.id, head, leaves)
    issues = tuple(
        Signal(code=issue.code, message=f"line {issue.line}: {issue.message}; {issue.action}")
        for issue in conversation.issues
    )
    return Imported(name, conversation.title, len(known.ids), added, branches, conversation.skipped, issues)


def _batches(drafts: Iterator[Draft]) -> Iterator[list[Draft]]:
    """Drafts in their order, as many at a time as one transaction takes."""
    batch: list[Draft] = []
    size = 0
    for draft in drafts:
        batch.append(draft)
        size += _characters(draft.message)
        if len(batch) >= BATCH_NODES or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _characters(message: Message) -> int:
    """About how long a message is: its texts, and those of its results."""
    inner = [one for part in message.parts if isinstance(part, ToolResult) for one in part.parts]
    texts = [part.text for part in (*message.parts, *inner) if isinstance(part, Text)]
    others = len(message.parts) + len(inner) - len(texts)
    return sum(map(len, texts)) + others * 1_000


def _store(database: Any, tree: int, known: _Known, batch: Sequence[Draft]) -> int:
    """One transaction: the nodes of a batch and their marks. How many nodes were new."""
    nodes = [known.add(draft) for draft in batch]
    marks = [
        Mark(node=node.id, name=name, value=value, at=draft.created_at)
        for node, draft in zip(nodes, batch, strict=True)
        for name, value in draft.marks
    ]
    return int(database.insert(tree, nodes, _unheld(database, tree, marks)))


def _unheld(database: Any, tree: int, marks: Sequence[Mark]) -> list[Mark]:
    """The marks of a name that their node has none of yet: what was marked since stays as it is."""
    names = list(dict.fromkeys(mark.node for mark in marks))
    held = {(mark.node, mark.name) for mark in database.marks(tree, names)}
    return [mark for mark in marks if (mark.node, mark.name) not in held]


def _label(database: Any, tree: int, known: _Known, labels: Sequence[tuple[str, str]]) -> None:
    placed = [(text, known.node(at)) for text, at in labels]
    marks = [Mark(node=node, name="label", value=text) for text, node in placed if node is not None]
    database.add_marks(tree, _unheld(database, tree, marks))


def _branches(database: Any, tree: int, head: str | None, leaves: list[str]) -> int:
    """`main` at the active leaf, further names for the other leaves; what is named already stays.

    A log that has grown since takes `main` along, unless other things were said there meanwhile.
    """
    rows = {row.name: row.head for row in database.branches(tree)}
    main = rows.get("main")
    if head is not None and (
        main is None or (head not in rows.values() and _goes_on(database, tree, main, head))
    ):
        database.move(tree, "main", main, head, reason="import")
        rows["main"] = head
    elif head is not None and head not in rows.values():
        database.create_branch(tree, name := next_name("main", rows), head, parent="main")
        rows[name] = head
    for leaf in leaves:
        if leaf not in rows.values():
            name = next_name("main", rows)
            database.create_branch(tree, name, leaf, parent="main")
            rows[name] = leaf
    return len(rows)


def _goes_on(database: Any, tree: int, before: str, head: str) -> bool:
    """True if the path to `head` leads through `before`."""
    try:
        return bool(database.path(tree, head, after=before))
    except NotFound:
        return False
