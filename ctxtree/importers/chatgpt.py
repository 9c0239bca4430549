"""ChatGPT exports: `conversations.json`, its shards, the zip around them, or one conversation.

The mapping is a tree with nodes that are no messages. Parents are trusted, children lists are not;
order in the file means nothing, since two exports of one conversation differ in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxtree.errors import FormatError
from ctxtree.importers import chatgpt_content as content
from ctxtree.importers.base import Conversation, Draft, Format, Log, Sample, source_mark
from ctxtree.importers.files import Source
from ctxtree.importers.lines import Record
from ctxtree.importers.link import in_order, leaves, resolve, splice
from ctxtree.importers.lists import objects
from ctxtree.importers.moments import moment
from ctxtree.model import Message

ENDING = ".json"


@dataclass(frozen=True, slots=True)
class Entry:
    """A node of the mapping."""

    id: str
    parent: str | None
    line: int
    offset: int
    message: Mapping[str, Any] | None
    at: datetime | None
    lane: str = ""

    @property
    def rank(self) -> tuple[float, str]:
        return (self.at.timestamp() if self.at else 0.0, self.id)


def fits(sample: Sample) -> bool:
    """An archive of conversations, an entry with a `mapping`, or a conversation too long for the sample."""
    if any(_is_shard(name) for name in sample.members):
        return True
    begun = '"mapping"' in sample.text and '"author"' in sample.text
    return any("mapping" in record for record in sample.records) or (not sample.records and begun)


def _is_shard(name: str) -> bool:
    base = name.rsplit("/", 1)[-1]
    return base.startswith("conversations") and base.endswith(ENDING)


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each conversation of the export, named by its id. Memory: the largest conversation, twice.

    Entries that are no conversation are noted in the log of the conversation before or after them;
    `FormatError` if there is no conversation at all.
    """
    shards = [source.within(name) for name in source.members() if _is_shard(name)]
    log = Log(source.name, strict)
    held: Conversation | None = None
    for part in shards or [source]:
        with part.open() as stream:
            for number, record in enumerate(objects(stream, log), 1):
                mapping = record.data.get("mapping")
                if not isinstance(mapping, dict) or not mapping:
                    what = f"entry {number} has no mapping"
                    log.add("no_conversation", what, "left out", record.line, record.offset, skipped=1)
                    continue
                if held is not None:
                    yield held
                    log = Log(part.name, strict)
                held = _conversation(part, number, record, mapping, log)
    if held is None:
        raise FormatError(source.name, 0, f"no conversation that can be read; {log.skipped} entries left out")
    yield held


def _conversation(
    source: Source, number: int, record: Record, mapping: Mapping[str, Any], log: Log
) -> Conversation:
    data = record.data
    entries = _entries(record, mapping, log)
    parents = resolve(entries, log, repair="root")
    kept = {
        entry.id: entry for entry in entries if entry.message is not None and not _is_empty(entry.message)
    }
    log.tally(
        "spliced",
        "nodes without words",
        "left out",
        {"node": len(entries) - len(kept)} if len(entries) > len(kept) else {},
    )
    above = splice(parents, parents, kept)
    ordered = in_order(list(kept), above, key=lambda name: kept[name].rank)
    title, name = data.get("title"), data.get("conversation_id") or data.get("id")
    model = data.get("default_model_slug")
    return Conversation(
        name=name if isinstance(name, str) and name else f"{source.stem}-{number}",
        title=title if isinstance(title, str) and title else None,
        source=source.name,
        drafts=_drafts(kept, above, ordered, model, log),
        head=_head(data.get("current_node"), kept, above, ordered, record, log),
        log=log,
        instructions=tuple(
            content.instructions(entry.message)
            for entry in kept.values()
            if content.is_context(entry.message)
        ),
        meta={key: data[key] for key in ("gizmo_id", "create_time", "update_time") if data.get(key)},
    )


def _entries(record: Record, mapping: Mapping[str, Any], log: Log) -> list[Entry]:
    listed: dict[str, str] = {}
    for name, node in mapping.items():
        for child in _children(node):
            listed.setdefault(child, name)
    found: list[Entry] = []
    for name, node in mapping.items():
        if not isinstance(node, dict):
            what = f"node {name} is a {type(node).__name__}"
            log.add("bad_record", what, "left out", record.line, record.offset, skipped=1)
            continue
        parent = node.get("parent") if "parent" in node else listed.get(name)
        parent = parent if isinstance(parent, str) else None
        if name in listed and listed[name] != parent and "parent" in node:
            what = f"{name} is listed under {listed[name]}, its parent is {parent}"
            log.add("parent_disagrees", what, "the parent holds", record.line, record.offset)
        message = node.get("message")
        held = message if isinstance(message, dict) else None
        at = moment(held.get("create_time")) if held else None
        found.append(Entry(name, parent, record.line, record.offset, held, at))
    return sorted(found, key=lambda entry: entry.rank)


def _children(node: Any) -> list[str]:
    children = node.get("children") if isinstance(node, dict) else None
    return [child for child in children if isinstance(child, str)] if isinstance(children, list) else []


def _is_empty(message: Mapping[str, Any]) -> bool:
    """True for the hidden system nodes that hold nothing."""
    return content.role_of(message) == "system" and not any(
        getattr(part, "text", True) for part in content.parts_of(message)
    )


def _head(
    pointer: Any,
    kept: Mapping[str, Entry],
    above: Mapping[str, str | None],
    ordered: list[str],
    record: Record,
    log: Log,
) -> str | None:
    """The active leaf: what `current_node` names, or is spliced to; else the newest leaf."""
    named = pointer if isinstance(pointer, str) else ""
    found = named if named in kept else above.get(named)
    if found is not None or not ordered:
        return found
    newest = max(leaves(ordered, above), key=lambda name: kept[name].rank)
    what = f"current_node is {pointer}" if isinstance(pointer, str) else "no current_node"
    log.add("dangling_head", what, f"the newest leaf, {newest}, is taken", record.line, record.offset)
    return newest


def _drafts(
    kept: Mapping[str, Entry],
    above: Mapping[str, str | None],
    ordered: list[str],
    model: Any,
    log: Log,
) -> Iterator[Draft]:
    calls: dict[str, str] = {}
    for name in ordered:
        entry = kept[name]
        raw = entry.message or {}
        parent = above[name]
        call = calls.get(parent, "") if parent else ""
        message = content.message_of(name, raw, call)
        _note_faults(entry, message, call, log)
        if message.calls:
            calls[name] = name
        elif message.role == "tool" and call:
            # a tool may answer in several nodes, one below the other
            calls[name] = call
        marks = (*content.marks_of(raw, model, message), source_mark(name, entry.line, content.beside(raw)))
        yield Draft(name, parent, message, entry.at, marks, entry.line)


def _note_faults(entry: Entry, message: Message, call: str, log: Log) -> None:
    if message.role == "note":
        log.add("unknown_role", f"node {entry.id}", "kept as a hidden note", entry.line, entry.offset)
    if message.role == "tool" and not call:
        what = f"node {entry.id} has no call above it"
        log.add("orphan_result", what, "kept under a made-up call id", entry.line, entry.offset)


FORMAT = Format("ChatGPT export: conversations.json, shards, zip, or one conversation", fits, read)
