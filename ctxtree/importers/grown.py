"""A conversation that an export gives as a whole tree in one record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxtree.importers.base import Conversation, Draft, Log
from ctxtree.importers.files import Source
from ctxtree.importers.lines import Record
from ctxtree.importers.link import in_order, leaves, resolve, splice
from ctxtree.importers.lists import as_draft
from ctxtree.importers.wire.parsed import Parsed


@dataclass(frozen=True, slots=True)
class Branching:
    """A node of an export: what was said there (nothing: its children hang on its parent), and when."""

    id: str
    parent: str | None
    line: int
    offset: int
    said: tuple[Parsed, ...]
    at: datetime | None = None
    lane: str = ""

    @property
    def rank(self) -> tuple[float, str]:
        return (self.at.timestamp() if self.at else 0.0, self.id)

    @property
    def shown(self) -> bool:
        return bool(self.said) and not any(parsed.fault == "unknown_role" for parsed in self.said)


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole export: its nodes in any order. `pointer` is what it says of the active leaf, if it says so."""

    name: str
    title: str | None
    nodes: Sequence[Branching]
    pointer: Any = None
    has_pointer: bool = False
    meta: Mapping[str, Any] | None = None


def grown(source: Source, record: Record, whole: Whole, log: Log) -> Conversation:
    """The conversation, with parents that can be trusted and the active leaf: as pointed to, or the newest."""
    nodes = sorted(whole.nodes, key=lambda node: node.rank)
    parents = resolve(nodes, log, repair="root")
    kept = {node.id: node for node in nodes if node.said}
    above = splice(parents, parents, kept)
    ordered = in_order(list(kept), above, key=lambda name: kept[name].rank)
    head = _head(whole, kept, above, ordered, record, log)
    return Conversation(
        name=whole.name,
        title=whole.title,
        source=source.name,
        drafts=_drafts(kept, above, ordered, log),
        head=_last(kept[head]) if head is not None else None,
        log=log,
        meta=whole.meta or {},
    )


def _head(
    whole: Whole,
    kept: Mapping[str, Branching],
    above: Mapping[str, str | None],
    ordered: list[str],
    record: Record,
    log: Log,
) -> str | None:
    pointer = whole.pointer
    if isinstance(pointer, str):
        found = pointer if pointer in kept else above.get(pointer)
        if found is not None and kept[found].shown:
            return found
    shown = [name for name in ordered if kept[name].shown]
    if not shown:
        return None
    newest = max(leaves(shown, above), key=lambda name: kept[name].rank)
    if whole.has_pointer:
        what = f"the active leaf is {pointer}" if isinstance(pointer, str) else "no active leaf"
        log.add("dangling_head", what, f"the newest leaf, {newest}, is taken", record.line, record.offset)
    return newest


def _last(node: Branching) -> str:
    return node.id if len(node.said) == 1 else f"{node.id}.{len(node.said)}"


def _drafts(
    kept: Mapping[str, Branching], above: Mapping[str, str | None], ordered: list[str], log: Log
) -> Iterator[Draft]:
    """The drafts of each node in a row: `id`, then `id.2` and so on."""
    for name in ordered:
        node = kept[name]
        upper = above[name]
        parent = _last(kept[upper]) if upper is not None else None
        for number, parsed in enumerate(node.said, 1):
            if parsed.fault:
                log.add(parsed.fault, f"node {name}", "kept as a hidden note", node.line, node.offset)
            source = name if number == 1 else f"{name}.{number}"
            yield as_draft(source, parent, parsed, node.line)
            parent = source
