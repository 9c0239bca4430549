"""From the conversations of a log to trees. A second import of the same file adds nothing."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ctxtree.importers import Conversation, detect, read
from ctxtree.model import Mark, Node
from ctxtree.naming import next_name
from ctxtree.report import Signal
from ctxtree.results import Imported, ImportReport

if TYPE_CHECKING:
    from ctxtree.api import Store


def import_file(
    store: Store, database: Any, path: str | Path | BinaryIO, form: str, name: str | None, strict: bool
) -> ImportReport:
    """Read a log into trees of the store. Raises `FormatError`."""
    del store
    source = path if isinstance(path, str | Path) else io.BytesIO(path.read())
    found = detect(source) if form == "auto" else form
    if isinstance(source, io.BytesIO):
        source.seek(0)
    done = []
    for number, conversation in enumerate(read(source, found, strict)):
        title = name if name and number == 0 else f"{name}-{number + 1}" if name else conversation.name
        done.append(_into(database, title, conversation))
    shown = str(path) if isinstance(path, str | Path) else "-"
    return ImportReport(shown, found, tuple(done))


def _into(database: Any, name: str, conversation: Conversation) -> Imported:
    row = database.create_tree(name)
    ids: dict[str, str] = {}
    parents: dict[str, None] = {}
    marks: list[Mark] = []
    nodes = _nodes(conversation, ids, parents, marks)
    added = database.insert(row.id, nodes)
    held = {(mark.node, mark.name) for mark in database.marks(row.id)} if marks else set()
    database.add_marks(row.id, [mark for mark in marks if (mark.node, mark.name) not in held])
    labels = [Mark(node=ids[at], name="label", value=text) for text, at in conversation.labels if at in ids]
    database.add_marks(row.id, [mark for mark in labels if (mark.node, "label") not in held])
    leaves = [identity for identity in dict.fromkeys(ids.values()) if identity not in parents]
    head = ids.get(conversation.head or "", leaves[-1] if leaves else None)
    branches = _branches(database, row.id, head, leaves)
    issues = tuple(
        Signal(code=issue.code, message=f"line {issue.line}: {issue.message}; {issue.action}")
        for issue in conversation.issues
    )
    return Imported(name, conversation.title, len(ids), added, branches, conversation.skipped, issues)


def _nodes(
    conversation: Conversation, ids: dict[str, str], parents: dict[str, None], marks: list[Mark]
) -> Iterator[Node]:
    """Nodes as they come, parents first; equal siblings are numbered in the order of the file."""
    times: dict[tuple[str, str], int] = {}
    for draft in conversation.drafts:
        parent = ids.get(draft.parent) if draft.parent is not None else None
        place = (parent or "", draft.message.hash)
        attempt = times.get(place, 0)
        times[place] = attempt + 1
        node = Node.make(draft.message, (parent,) if parent else (), attempt, draft.created_at)
        ids[draft.source] = node.id
        if parent:
            parents[parent] = None
        marks += [
            Mark(node=node.id, name=mark, value=value, at=draft.created_at) for mark, value in draft.marks
        ]
        yield node


def _branches(database: Any, tree: int, head: str | None, leaves: list[str]) -> int:
    """`main` at the active leaf, further names for the other leaves; what is named already stays."""
    rows = {row.name: row.head for row in database.branches(tree)}
    if head is not None and rows.get("main") is None:
        database.move(tree, "main", None, head, reason="import")
        rows["main"] = head
    elif head is not None and rows["main"] != head and head not in rows.values():
        database.create_branch(tree, name := next_name("main", rows), head, parent="main")
        rows[name] = head
    for leaf in leaves:
        if leaf not in rows.values():
            name = next_name("main", rows)
            database.create_branch(tree, name, leaf, parent="main")
            rows[name] = leaf
    return len(rows)
