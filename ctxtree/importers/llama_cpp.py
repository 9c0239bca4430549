"""Exports of llama.cpp's web interface: JSON lines of one chat or several, a zip of them, or the older JSON.

A `session` line, then a line for each message of its tree. The pointer to the active leaf may be empty,
and an export of the open chat holds its path only, so a parent that is missing makes a root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxtree.errors import FormatError
from ctxtree.importers.base import Conversation, Format, Log, Sample, without
from ctxtree.importers.entries import entries
from ctxtree.importers.files import Source
from ctxtree.importers.grown import Branching, Whole, grown
from ctxtree.importers.lines import Record, records
from ctxtree.importers.linked import Linked, Session, linked
from ctxtree.importers.lists import is_lines
from ctxtree.importers.moments import moment
from ctxtree.importers.wire.chat import call_of
from ctxtree.importers.wire.parsed import ROLES, Parsed, beside
from ctxtree.importers.wire.parts import data_url, string
from ctxtree.model import Media, Message, Opaque, Part, Reasoning, Text, ToolResult, sendable

ORIGIN = "llama.cpp"
HELD = frozenset({
    "id", "convId", "type", "timestamp", "role", "content", "parent", "children", "toolCalls", "toolCallId",
    "reasoningContent", "thinking", "extra", "model",
})  # fmt: skip


def fits(sample: Sample) -> bool:
    """A session line of this program, a message that names its chat, or a chat beside its messages."""
    return any(
        record.get("harness") == "llama.app" or _is_message(record.get("message")) or _is_old(record)
        for record in sample.records
    ) or any(name.endswith(".jsonl") for name in sample.members)


def _is_message(raw: Any) -> bool:
    return isinstance(raw, Mapping) and "convId" in raw


def _is_old(record: Mapping[str, Any]) -> bool:
    held = record.get("messages")
    return isinstance(record.get("conv"), Mapping) and isinstance(held, list)


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each chat, named by its id. Memory: of lines the ids of one chat, of the older form the largest chat."""
    parts = [source.within(name) for name in source.members() if name.endswith((".jsonl", ".json"))]
    found = 0
    for part in parts or [source]:
        with part.open() as stream:
            first = next(records(stream, Log(part.name)), None)
            stream.seek(0 if part.member else source.origin)
            old = first is None or _is_old(first.data) or not is_lines(stream)
        if old and not parts:
            yield from entries(part, strict, _is_old, _older)
            return
        for conversation in _chats(part, strict):
            found += 1
            yield conversation
    if not found:
        raise FormatError(source.name, 0, "no chat that can be read")


def _chats(source: Source, strict: bool) -> Iterator[Conversation]:
    log = Log(source.name, strict)
    header: dict[str, Any] = {}
    rows: dict[str, Linked] = {}
    with source.open() as stream:
        for record in records(stream, log):
            if record.data.get("type") == "session":
                if rows:
                    yield _chat(source, header, rows, log)
                    log = Log(source.name, strict)
                header, rows = record.data, {}
            else:
                _take(record, rows, log)
    if rows:
        yield _chat(source, header, rows, log)


def _take(record: Record, rows: dict[str, Linked], log: Log) -> None:
    raw = record.data.get("message")
    if not isinstance(raw, Mapping):
        log.add("bad_record", "a line without a message", "left out", record.line, record.offset, skipped=1)
        return
    name = string(raw.get("id"))
    if name is None:
        log.add("missing_id", "a message without id", f"named line:{record.line}", record.line, record.offset)
    row = _row(record, raw, name or f"line:{record.line}")
    if row.id in rows:
        what = f"{row.id} stands in line {rows[row.id].line} too"
        log.add("duplicate_id", what, "the first holds", record.line, record.offset, skipped=1)
    rows.setdefault(row.id, row)


def _row(record: Record, raw: Mapping[str, Any], name: str) -> Linked:
    at = moment(raw.get("timestamp"))
    root = raw.get("type") == "root"
    return Linked(
        name, string(raw.get("parent")), record.line, record.offset, record.length,
        at.timestamp() if at else 0.0, 0 if root else 1, str(raw.get("role")) in ROLES,
    )  # fmt: skip


def _chat(source: Source, header: Mapping[str, Any], rows: Mapping[str, Linked], log: Log) -> Conversation:
    pointer = header.get("currNode")
    session = Session(
        name=string(header.get("id")) or source.stem,
        title=string(header.get("name")),
        rows=tuple(rows.values()),
        pointer=pointer if isinstance(pointer, str) else None,
        has_pointer="currNode" in header,
        meta={key: header[key] for key in ("forkedFromConversationId",) if header.get(key)},
    )
    return linked(source, session, lambda data: (said(data["message"]),), log)


def _older(source: Source, number: int, record: Record, log: Log) -> Conversation:
    """A chat and the list of its messages in one object."""
    conv = record.data["conv"]
    nodes: list[Branching] = []
    for place, raw in enumerate(record.data["messages"], 1):
        if not isinstance(raw, Mapping):
            what = f"message {place} is a {type(raw).__name__}"
            log.add("bad_record", what, "left out", record.line, record.offset, skipped=1)
            continue
        name = str(raw.get("id", f"message:{place}"))
        above = raw.get("parent")
        parent = str(above) if above not in (None, "", -1) else None
        messages = () if raw.get("type") == "root" else (said(raw),)
        nodes.append(
            Branching(name, parent, record.line, record.offset, messages, moment(raw.get("timestamp")))
        )
    pointer = conv.get("currNode")
    whole = Whole(
        name=string(conv.get("id")) or f"{source.stem}-{number}",
        title=string(conv.get("name")),
        nodes=nodes,
        pointer=str(pointer) if pointer not in (None, "") else pointer,
        has_pointer="currNode" in conv,
    )
    return grown(source, record, whole, log)


def said(raw: Mapping[str, Any]) -> Parsed:
    """The message; a role that nobody knows gives a hidden note with its fault."""
    base = beside({"model": raw.get("model"), "timestamp": raw.get("timestamp")})
    extra = raw.get("extra")
    named = [
        {key: held[key] for key in ("type", "name") if held.get(key)}
        for held in (extra if isinstance(extra, list) else ())
        if isinstance(held, Mapping)
    ]
    base = replace(base, fields={**without(raw, HELD), **({"attachments": named} if named else {})})
    known = ROLES.get(str(raw.get("role")))
    parts = tuple(_parts(raw))
    if known == "tool":
        held = tuple(part for part in parts if isinstance(part, Text | Media | Opaque))
        result = ToolResult(call_id=string(raw.get("toolCallId")) or "", parts=held)
        return replace(base, message=Message(role="tool", parts=(result,)))
    if known is None:
        note = Message(role="note", parts=parts)
        return replace(base, message=note, marks=(*base.marks, ("hidden", True)), fault="unknown_role")
    return replace(base, message=Message(role=known, parts=parts))


def _parts(raw: Mapping[str, Any]) -> Iterator[Part]:
    thought = string(raw.get("reasoningContent")) or string(raw.get("thinking"))
    if thought:
        yield Reasoning(text=thought, origin=ORIGIN)
    calls = tuple(_calls(raw.get("toolCalls")))
    content = raw.get("content")
    if isinstance(content, str) and (content or not calls):
        yield Text(text=content)
    extra = raw.get("extra")
    for held in extra if isinstance(extra, list) else ():
        yield _attached(held)
    yield from calls


def _calls(held: Any) -> Iterator[Part]:
    """The calls, a list or the text of one."""
    if isinstance(held, str) and held:
        try:
            held = sendable(held)
        except ValueError:
            yield Opaque(origin=ORIGIN, kind="tool_calls", data=held)
            return
    for call in held if isinstance(held, list) else ():
        yield call_of(call)


def _attached(held: Any) -> Part:
    """A file that was sent along: text, picture, sound, or a document with its text."""
    if not isinstance(held, Mapping):
        return Opaque(origin=ORIGIN, kind=type(held).__name__, data=held)
    name, text = string(held.get("name")), held.get("content")
    url = string(held.get("base64Url"))
    inline = data_url(url) if url else None
    if inline:
        return Media(kind="image", mime=inline[0], data=inline[1], name=name)
    data, mime = string(held.get("base64Data")), string(held.get("mimeType")) or ""
    if data:
        return Media(kind="audio" if mime.startswith("audio") else "file", mime=mime, data=data, name=name)
    if isinstance(text, str):
        return Text(text=text)
    return Opaque(origin=ORIGIN, kind=str(held.get("type")), data=dict(held))


FORMAT = Format("llama.cpp web interface: JSON lines, zip of them, or older JSON", fits, read)
