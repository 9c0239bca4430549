"""JSON lines that name their parents: linked by what a first pass has kept of each, read again as drafts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxtree.importers.base import Conversation, Draft, Log
from ctxtree.importers.files import Source
from ctxtree.importers.lines import load
from ctxtree.importers.link import in_order, leaves, resolve, splice
from ctxtree.importers.lists import as_draft
from ctxtree.importers.wire.parsed import Parsed

Sayer = Callable[[Mapping[str, Any]], tuple[Parsed, ...]]
"""What a record says: one message, or several in a row, or none."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A record as the first pass keeps it. `at` orders siblings; `said`: how many messages it gives."""

    id: str
    parent: str | None
    line: int
    offset: int
    length: int
    at: float = 0.0
    said: int = 1
    shown: bool = True
    lane: str = ""

    @property
    def last(self) -> str:
        """The id of its last message."""
        return self.id if self.said <= 1 else f"{self.id}.{self.said}"


@dataclass(frozen=True, slots=True)
class Session:
    """The records of one conversation, and what its header says. `pointer`: the active leaf, if it is named."""

    name: str
    title: str | None
    rows: Sequence[Linked]
    pointer: str | None = None
    has_pointer: bool = False
    meta: Mapping[str, Any] | None = None


def linked(source: Source, session: Session, said: Sayer, log: Log) -> Conversation:
    """The conversation: parents repaired and reported, the active leaf as pointed to, or the newest."""
    rows = {row.id: row for row in session.rows}
    parents = resolve(list(rows.values()), log, repair="root")
    kept = {name: row for name, row in rows.items() if row.said}
    above = splice(parents, parents, kept)
    ordered = in_order(list(kept), above, key=lambda name: (kept[name].at, name))
    head = _head(session, kept, above, ordered, log)
    return Conversation(
        name=session.name,
        title=session.title,
        source=source.name,
        drafts=_drafts(source, kept, above, ordered, said, log),
        head=kept[head].last if head is not None else None,
        log=log,
        meta=session.meta or {},
    )


def _head(
    session: Session,
    kept: Mapping[str, Linked],
    above: Mapping[str, str | None],
    ordered: Sequence[str],
    log: Log,
) -> str | None:
    pointer = session.pointer
    found = pointer if pointer in kept else above.get(pointer) if pointer is not None else None
    shown = [name for name in ordered if kept[name].shown]
    if found is not None or not shown:
        return found
    newest = max(leaves(shown, above), key=lambda name: (kept[name].at, kept[name].line))
    if session.has_pointer:
        what = f"the active leaf is {pointer!r}" if pointer is not None else "no active leaf"
        log.add("dangling_head", what, f"the newest leaf, {newest}, is taken")
    return newest


def _drafts(
    source: Source,
    kept: Mapping[str, Linked],
    above: Mapping[str, str | None],
    ordered: Sequence[str],
    said: Sayer,
    log: Log,
) -> Iterator[Draft]:
    with source.open() as stream:
        for name in ordered:
            row = kept[name]
            upper = above[name]
            parent = kept[upper].last if upper is not None else None
            for number, parsed in enumerate(said(load(stream, row.offset, row.length)), 1):
                if parsed.fault:
                    log.add(parsed.fault, f"record {name}", "kept as a hidden note", row.line, row.offset)
                own = name if number == 1 else f"{name}.{number}"
                yield as_draft(own, parent, parsed, row.line)
                parent = own
