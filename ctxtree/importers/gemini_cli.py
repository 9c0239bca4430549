"""Gemini CLI sessions: one object (older), or JSON lines that are added to and never rewritten.

In the lines a message is said again, whole, whenever something of it changes: the last one holds, at the
first one's place. `$rewindTo` goes back to before the message that it names, or to the beginning if that is
unknown, as the program does; what was there stays as a branch. `$set` with messages replaces the whole
list, after a compression for example: what it repeats is known, the rest goes on from there, and the end
of what was replaced is annotated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ctxtree.errors import FormatError
from ctxtree.importers.base import Conversation, Draft, Format, Log, Sample
from ctxtree.importers.files import Source
from ctxtree.importers.gemini_cli_messages import said_by
from ctxtree.importers.lines import Record, load
from ctxtree.importers.lists import as_draft, objects

META = ("projectHash", "startTime", "lastUpdated", "directories", "kind", "summary")


def fits(sample: Sample) -> bool:
    """A session's header beside messages of its kinds, or a rewind or a patch."""
    header = any("sessionId" in record and "projectHash" in record for record in sample.records)
    begun = '"projectHash"' in sample.text and '"sessionId"' in sample.text
    return (
        header
        or any("$rewindTo" in record or isinstance(record.get("$set"), Mapping) for record in sample.records)
        or (not sample.records and begun)
    )


@dataclass(slots=True)
class _Row:
    """A message: where it was said last (`inner`: its place in a list of messages there), and its parent."""

    line: int
    offset: int
    length: int
    inner: int
    parent: str | None


@dataclass(slots=True)
class _Index:
    """What the first pass has found. `path` are the names of the messages in use, by id."""

    rows: dict[str, _Row] = field(default_factory=dict)
    path: dict[str, str] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)
    notes: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """The one conversation of a session, named by its id. `FormatError` if it holds no message."""
    log = Log(source.name, strict)
    index = _Index()
    with source.open() as stream:
        for record in objects(stream, log):
            _take(record, index, log)
    if not index.rows:
        raise FormatError(source.name, 0, f"no message that can be read; {log.skipped} records left out")
    log.tally("spliced", "records that are no messages, or say one again", "left out", index.left)
    name = index.meta.get("sessionId")
    head = next(reversed(index.path.values()), None)
    yield Conversation(
        name=name if isinstance(name, str) and name else source.stem,
        title=None,
        source=source.name,
        drafts=_drafts(source, index, log),
        head=_last(source, index, head),
        log=log,
        meta={key: index.meta[key] for key in META if index.meta.get(key)},
    )


def _take(record: Record, index: _Index, log: Log) -> None:
    data = record.data
    if "$rewindTo" in data:
        _rewind(data["$rewindTo"], record, index, log)
    elif isinstance(data.get("type"), str) and isinstance(data.get("id"), str):
        _add(data["id"], record, -1, index)
    elif isinstance(data.get("$set"), Mapping) or "sessionId" in data or "messages" in data:
        held = data.get("$set")
        patch: Mapping[str, Any] = held if isinstance(held, Mapping) else data
        index.meta.update({key: value for key, value in patch.items() if key != "messages"})
        if isinstance(patch.get("messages"), list):
            _replace(patch["messages"], record, index, log)
        if held is not None:
            index.left["$set"] += 1
    else:
        log.add(
            "bad_record", "neither a message nor a patch", "left out", record.line, record.offset, skipped=1
        )


def _rewind(target: Any, record: Record, index: _Index, log: Log) -> None:
    """Drop the message and all after it from the path."""
    index.left["$rewindTo"] += 1
    known = isinstance(target, str) and target in index.path
    if not known:
        what = f"a rewind to {target!r}, which is not on the path"
        log.add("dangling_head", what, "moved to the beginning", record.line, record.offset)
    gone = False
    for name in list(index.path):
        gone = gone or not known or name == target
        if gone:
            del index.path[name]


def _add(identity: str, record: Record, inner: int, index: _Index) -> None:
    place = (record.line, record.offset, record.length, inner)
    name = index.path.get(identity)
    if name is not None:
        row = index.rows[name]
        row.line, row.offset, row.length, row.inner = place
        index.left["message said again"] += 1
        return
    above = next(reversed(index.path.values()), None)
    name = identity if identity not in index.rows else f"{identity}@{record.line}"
    index.rows[name] = _Row(*place, above)
    index.path[identity] = name


def _replace(messages: list[Any], record: Record, index: _Index, log: Log) -> None:
    """The list from here on: a common beginning is what it was, the rest hangs below it."""
    ids = [str(raw.get("id")) if isinstance(raw, Mapping) else None for raw in messages]
    before = list(index.path.items())
    same = 0
    while same < min(len(ids), len(before)) and before[same][0] == ids[same]:
        same += 1
    if same < len(before):
        note = {"kind": "replaced", "line": record.line, "kept": same, "by": len(ids) - same}
        index.notes.setdefault(before[-1][1], []).append(note)
    index.path = dict(before[:same])
    for inner, raw in enumerate(messages):
        if not isinstance(raw, Mapping):
            what = f"message {inner + 1} is a {type(raw).__name__}"
            log.add("bad_record", what, "left out", record.line, record.offset, skipped=1)
        elif isinstance(raw.get("id"), str):
            _add(raw["id"], record, inner, index)
        else:
            what = f"message {inner + 1} without id"
            log.add("missing_id", what, f"named line:{record.line}.{inner + 1}", record.line, record.offset)
            _add(f"line:{record.line}.{inner + 1}", record, inner, index)


def _raw(data: Mapping[str, Any], inner: int) -> Mapping[str, Any]:
    if inner < 0:
        return data
    held = data.get("$set")
    listed = (held if isinstance(held, Mapping) else data)["messages"]
    raw: Mapping[str, Any] = listed[inner]
    return raw


def _last(source: Source, index: _Index, name: str | None) -> str | None:
    """The id of the last draft that a message gives."""
    if name is None:
        return None
    row = index.rows[name]
    with source.open() as stream:
        count = len(said_by(_raw(load(stream, row.offset, row.length), row.inner), name))
    return name if count == 1 else f"{name}.{count}"


def _drafts(source: Source, index: _Index, log: Log) -> Iterator[Draft]:
    """The drafts of each message in a row: `id`, then `id.2` for the results of its calls."""
    ends: dict[str, str] = {}
    at, data = (-1, -1), {}
    with source.open() as stream:
        for name, row in index.rows.items():
            if (row.offset, row.length) != at:
                at, data = (row.offset, row.length), load(stream, row.offset, row.length)
            parent = ends.get(row.parent) if row.parent is not None else None
            for number, parsed in enumerate(said_by(_raw(data, row.inner), name), 1):
                own = name if number == 1 else f"{name}.{number}"
                if parsed.fault:
                    log.add(parsed.fault, f"message {name}", "kept as a hidden note", row.line, row.offset)
                draft = as_draft(own, parent, parsed, row.line)
                parent = own
                notes = (
                    tuple(("annotation", note) for note in index.notes.get(name, ())) if number == 1 else ()
                )
                yield replace(draft, marks=(*draft.marks, *notes)) if notes else draft
            ends[name] = parent or name


FORMAT = Format("Gemini CLI session: JSON lines, or one object", fits, read)
