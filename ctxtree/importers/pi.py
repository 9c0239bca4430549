"""pi and tau session logs: a header line, then entries linked by `parentId` (tau: `parent_id`).

Version 1 has no ids: there each entry follows the one before, and is named by its line. Two passes, as
for all JSON lines. Labels, moves of the leaf and changes of model are spliced through; a compaction is an
annotation of the message before it; a branch summary is a note where it stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from ctxtree.errors import FormatError
from ctxtree.importers import pi_messages
from ctxtree.importers.base import Conversation, Draft, Format, Log, Marks, Sample, source_mark, without
from ctxtree.importers.files import Source
from ctxtree.importers.lines import Record, load, records
from ctxtree.importers.link import in_order, resolve, splice
from ctxtree.importers.moments import moment
from ctxtree.importers.wire.parts import parts_of
from ctxtree.model import Message

RECOVER = frozenset({"type", "timestamp"})
MESSAGES = frozenset({"message", "custom_message", "branch_summary"})
SPLICED = frozenset({
    "compaction", "model_change", "thinking_level_change", "custom", "label", "session_info", "leaf",
})  # fmt: skip
ROLES = frozenset({"toolResult", "bashExecution", "branchSummary", "compactionSummary", "custom"})


def fits(sample: Sample) -> bool:
    """A header of a session, or a message inside an entry without the ids of other logs."""
    return any(
        (record.get("type") == "session" and ("cwd" in record or "version" in record))
        or (
            record.get("type") == "message"
            and isinstance(record.get("message"), Mapping)
            and "uuid" not in record
            and ("timestamp" in record or "parentId" in record)
            and "convId" not in record["message"]
        )
        for record in sample.records
    )


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as the first pass keeps it."""

    id: str
    parent: str | None
    line: int
    offset: int
    length: int
    at: str
    kind: str
    message: bool
    lane: str = ""


@dataclass(slots=True)
class _Index:
    header: dict[str, Any] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    again: list[tuple[Entry, Entry]] = field(default_factory=list)
    spliced: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    labels: dict[str, str | None] = field(default_factory=dict)
    title: str | None = None
    leaf: str | None = None
    last: str | None = None


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """The one conversation of a log, named by its session id. `FormatError` if it holds no message."""
    log = Log(source.name, strict)
    with source.open() as stream:
        index = _index(stream, log)
        _compare(index, stream, log)
    kept = {name: entry for name, entry in index.entries.items() if entry.message}
    if not kept:
        raise FormatError(source.name, 0, f"no message that can be read; {log.skipped} records left out")
    parents = resolve(list(index.entries.values()), log)
    above = splice(parents, parents, kept)
    log.tally("spliced", "entries that are no messages", "left out", index.spliced)
    log.tally("unknown_type", "entries of unknown types", "left out", index.unknown)
    name = index.header.get("id")
    yield Conversation(
        name=name if isinstance(name, str) and name else source.stem,
        title=index.title,
        source=source.name,
        drafts=_drafts(source, index, kept, above, log),
        head=_head(index, kept, above, log),
        log=log,
        labels=_labels(index, kept, above),
        meta=without(index.header, frozenset({"type", "id", "timestamp"})),
    )


def _index(stream: BinaryIO, log: Log) -> _Index:
    index = _Index()
    for record in records(stream, log, RECOVER):
        kind = record.data.get("type")
        if kind == "session":
            index.header = index.header or record.data
            continue
        entry = _entry(record, index, log)
        if entry is None:
            continue
        if entry.id in index.entries:
            index.again.append((index.entries[entry.id], entry))
            continue
        index.entries[entry.id] = entry
        index.last = index.leaf = entry.id
        _note(record.data, entry, index)
    return index


def _entry(record: Record, index: _Index, log: Log) -> Entry | None:
    data = record.data
    kind, name = data.get("type"), data.get("id")
    if not isinstance(kind, str):
        log.add("bad_record", "an entry without a type", "left out", record.line, record.offset, skipped=1)
        return None
    named = isinstance(name, str) and bool(name)
    linked = "parentId" in data or "parent_id" in data
    parent = data.get("parentId", data.get("parent_id")) if linked else index.last
    if kind == "message" and not isinstance(data.get("message"), Mapping):
        log.add(
            "bad_record", "an entry without its message", "spliced", record.line, record.offset, skipped=1
        )
    is_message = kind in MESSAGES and (kind != "message" or isinstance(data.get("message"), Mapping))
    if not is_message:
        (index.spliced if kind in SPLICED or kind in MESSAGES else index.unknown)[kind] += 1
    if not named and linked:
        log.add("missing_id", "an entry without id", f"named line:{record.line}", record.line, record.offset)
    return Entry(
        id=str(name) if named else f"line:{record.line}",
        parent=parent if isinstance(parent, str) else None,
        line=record.line,
        offset=record.offset,
        length=record.length,
        at=str(data.get("timestamp") or ""),
        kind=kind,
        message=is_message,
    )


def _note(data: Mapping[str, Any], entry: Entry, index: _Index) -> None:
    """Labels, the title and moves of the leaf, as the log goes."""
    target = data.get("targetId", data.get("target_id", data.get("entry_id", data.get("entryId"))))
    if entry.kind == "label" and isinstance(target, str):
        text = data.get("label")
        index.labels[target] = text if isinstance(text, str) and text else None
    elif entry.kind == "leaf":
        index.leaf = target if isinstance(target, str) else None
    elif entry.kind == "session_info" and isinstance(data.get("name"), str):
        index.title = data["name"] or index.title


def _compare(index: _Index, stream: BinaryIO, log: Log) -> None:
    repeated: Counter[str] = Counter()
    for first, second in index.again:
        held = [load(stream, entry.offset, entry.length) for entry in (first, second)]
        if held[0].get("message") == held[1].get("message") and first.kind == second.kind:
            repeated[second.kind] += 1
            continue
        what = f"{second.id} stands in line {first.line} with other content"
        log.add("duplicate_id", what, "the first holds", second.line, second.offset, skipped=1)
    log.tally("repeated", "entries stand in the file again", "read once", repeated)


def _placed(name: str | None, kept: Mapping[str, Entry], above: Mapping[str, str | None]) -> str | None:
    """The message at an entry, or the nearest above it."""
    return name if name in kept else above.get(name) if name is not None else None


def _head(index: _Index, kept: Mapping[str, Entry], above: Mapping[str, str | None], log: Log) -> str | None:
    """Where the last entry stands, or where a later `leaf` entry points."""
    if index.leaf is not None and index.leaf not in above:
        found = _placed(index.last, kept, above)
        log.add("dangling_head", f"the leaf is {index.leaf}", f"the last entry, {found}, is taken")
        return found
    return _placed(index.leaf, kept, above)


def _labels(
    index: _Index, kept: Mapping[str, Entry], above: Mapping[str, str | None]
) -> tuple[tuple[str, str], ...]:
    placed = ((text, _placed(target, kept, above)) for target, text in index.labels.items())
    return tuple((text, name) for text, name in placed if text is not None and name is not None)


def _drafts(
    source: Source,
    index: _Index,
    kept: Mapping[str, Entry],
    above: Mapping[str, str | None],
    log: Log,
) -> Iterator[Draft]:
    notes: dict[str, list[Entry]] = {}
    for entry in index.entries.values():
        name = above[entry.id]
        if entry.kind == "compaction" and name is not None:
            notes.setdefault(name, []).append(entry)
    with source.open() as stream:
        for name in in_order(list(kept), above, key=lambda each: (kept[each].at, each)):
            entry = kept[name]
            data = load(stream, entry.offset, entry.length)
            message, marks = _said(data, entry, log)
            for note in notes.get(name, ()):
                marks = (*marks, ("annotation", _compaction(load(stream, note.offset, note.length), note)))
            yield Draft(name, above[name], message, moment(data.get("timestamp")), marks, entry.line)


def _said(data: Mapping[str, Any], entry: Entry, log: Log) -> tuple[Message, Marks]:
    """The message of an entry and its marks."""
    mark = source_mark(entry.id, entry.line, {})
    if entry.kind == "branch_summary":
        value = {"kind": "branch_summary", "from": data.get("fromId") or data.get("branch_root_id")}
        return Message.of("note", str(data.get("summary") or "")), (("annotation", value), mark)
    if entry.kind == "custom_message":
        fields = {key: data[key] for key in ("customType", "display", "details") if data.get(key) is not None}
        message = Message(role="user", parts=parts_of(data.get("content"), "pi"))
        return message, (source_mark(entry.id, entry.line, fields),)
    raw = data["message"]
    fields = without(raw, pi_messages.HELD)
    marks = (*pi_messages.marks_of(raw), source_mark(entry.id, entry.line, fields))
    known = pi_messages.message_of(raw)
    if known is not None:
        return known, marks
    log.add("unknown_role", f"entry {entry.id}", "kept as a hidden note", entry.line, entry.offset)
    note = Message(role="note", parts=parts_of(raw.get("content"), "pi"))
    return note, (*marks, ("hidden", True))


def _compaction(data: Mapping[str, Any], entry: Entry) -> dict[str, Any]:
    """The summary of a compaction and from where on the originals were kept."""
    first = data.get("firstKeptEntryId", data.get("first_kept_entry_id"))
    if first is None and isinstance(data.get("firstKeptEntryIndex"), int):
        # counted in lines of the file, the header included, from 0
        first = f"line:{data['firstKeptEntryIndex'] + 1}"
    value = {
        "kind": "compaction",
        "id": entry.id,
        "line": entry.line,
        "summary": data.get("summary"),
        "first_kept": first,
        "tokens_before": data.get("tokensBefore"),
        "retained": len(data["retainedTail"]) if isinstance(data.get("retainedTail"), list) else None,
    }
    return {name: held for name, held in value.items() if held is not None}


FORMAT = Format("pi, tau session log (JSON lines)", fits, read)
