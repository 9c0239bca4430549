"""Logs that are plain lists of messages: a JSON array, an object around one, or JSON lines.

Arrays and lines are read one element at a time, so a log needs no more memory than its largest
message. Where each element is itself an object around a list (fine-tune files), each is a conversation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from ctxtree.errors import FormatError
from ctxtree.importers.arrays import elements
from ctxtree.importers.base import Conversation, Draft, Log, source_mark
from ctxtree.importers.files import Source
from ctxtree.importers.lines import BOM, PADDING, Record, read_object, records
from ctxtree.importers.wire import Reader
from ctxtree.importers.wire.parsed import Parsed
from ctxtree.model import Message

Prelude = Callable[[Mapping[str, Any]], tuple[Message, ...]]

FOREIGN = frozenset({
    "history", "mapping", "conversationId", "messageId", "parentMessageId", "messagesTree", "childrenIds",
    "trajectory",
})  # fmt: skip
"""Fields of exports that hold a tree: read as a list, they would come out wrong."""


KEPT: Mapping[str, str] = {
    "unknown_role": "kept as a hidden note",
    "orphan_result": "kept as words of the user",
}
"""What became of a message with a fault."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a format writes lists: the keys that hold one, how items are read, what comes before them."""

    keys: tuple[str, ...]
    reader: Reader
    prelude: Prelude | None = None


def holds_tree(record: Any) -> bool:
    """True for a record of an export that is a tree, or whose messages are parts of one."""
    if not isinstance(record, Mapping):
        return False
    chat, held = record.get("chat"), record.get("messages")
    return (
        bool(FOREIGN & record.keys())
        or {"uuid", "project", "messages"} <= record.keys()  # a design chat of claude.ai
        or (isinstance(chat, Mapping) and "history" in chat)
        or (isinstance(held, list) and any(isinstance(one, Mapping) and FOREIGN & one.keys() for one in held))
    )


def objects(stream: BinaryIO, log: Log, deep: bool = False) -> Iterator[Record]:
    """The objects of a file, whether it is an array, JSON lines, or one object over many lines.

    `deep`: this format may nest without limit.
    """
    start = stream.tell()
    head = stream.read(4096).removeprefix(BOM).lstrip(PADDING)
    stream.seek(start)
    if head.startswith(b"["):
        yield from elements(stream, log, deep)
    elif is_lines(stream):
        yield from records(stream, log, deep=deep)
    else:
        yield from _one(stream, log, deep)


def is_lines(stream: BinaryIO) -> bool:
    """True if the file is JSON lines. Only a file that begins with an object over several lines is not."""
    start = stream.tell()
    first, second = _next_line(stream), _next_line(stream)
    stream.seek(start)
    try:
        json.loads(first.removeprefix(BOM))
    except (ValueError, RecursionError):
        return not second or second.startswith((b'{"', b'{ "'))
    return True


def _next_line(stream: BinaryIO) -> bytes:
    for line in iter(stream.readline, b""):
        if line.strip(PADDING):
            return line.strip(PADDING)
    return b""


def _one(stream: BinaryIO, log: Log, deep: bool) -> Iterator[Record]:
    """The single object of a file; if it cannot be read as one, what its lines hold."""
    start = stream.tell()
    raw = stream.read().removeprefix(BOM).strip(PADDING)
    if not _is_json(raw):
        stream.seek(start)
        yield from records(stream, log)
        return
    yield from read_object(raw, 1, start, log, deep=deep)


def _is_json(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except ValueError:
        return False
    except RecursionError:
        return True
    return True


def read_lists(source: Source, strict: bool, shape: Shape) -> Iterator[Conversation]:
    """The conversations of a file. `FormatError` if it holds not one object."""
    peek = Log(source.name, strict)
    with source.open() as stream:
        first = next(objects(stream, peek), None)
    if first is None:
        raise FormatError(source.name, 0, f"no record that can be read; {peek.skipped} left out")
    log = Log(source.name, strict)
    if _list_in(first.data, shape) is None:
        drafts = _drafts(_reopened(source, log), (), shape, log)
        yield _conversation(source, source.stem, log, first.data, drafts)
    else:
        yield from _many(source, _reopened(source, log), shape, log)


def _reopened(source: Source, log: Log) -> Iterator[Record]:
    with source.open() as stream:
        yield from objects(stream, log)


def _many(source: Source, found: Iterator[Record], shape: Shape, log: Log) -> Iterator[Conversation]:
    """One conversation for each record. A record is looked at ahead, so that the last log is complete."""
    held: Conversation | None = None
    for number, record in enumerate(found, 1):
        items = _list_in(record.data, shape)
        if items is None:
            place = (record.line, record.offset)
            log.add("no_conversation", f"none of {', '.join(shape.keys)}", "left out", *place, skipped=1)
            continue
        if held is not None:
            yield held
            log = Log(source.name, log.strict)
        name = record.data.get("id") or record.data.get("conversation_id")
        plain = source.stem if number == 1 else f"{source.stem}-{number}"
        named = name if isinstance(name, str) and name else plain
        inner = _inner(record, items, log)
        before = shape.prelude(record.data) if shape.prelude else ()
        held = _conversation(source, named, log, record.data, _drafts(inner, before, shape, log))
    if held is None:
        raise FormatError(source.name, 0, f"no conversation that can be read; {log.skipped} left out")
    yield held


def _list_in(data: Mapping[str, Any], shape: Shape) -> list[Any] | None:
    for key in shape.keys:
        held = data.get(key)
        if isinstance(held, list):
            return held
        if key == "input" and isinstance(held, str):
            return [{"role": "user", "content": held}]
    return None


def _inner(record: Record, items: list[Any], log: Log) -> Iterator[Record]:
    for number, item in enumerate(items, 1):
        if isinstance(item, dict):
            yield Record(record.line, record.offset, record.length, item)
        else:
            what = f"message {number} is a {type(item).__name__}"
            log.add("bad_record", what, "left out", record.line, record.offset, skipped=1)


def _conversation(
    source: Source, name: str, log: Log, data: Mapping[str, Any], drafts: Iterator[Draft]
) -> Conversation:
    title = data.get("title")
    meta = {key: data[key] for key in ("tools", "parallel_tool_calls", "model", "metadata") if data.get(key)}
    return Conversation(
        name=name,
        title=title if isinstance(title, str) and title and "role" not in data else None,
        source=source.name,
        drafts=drafts,
        head=None,
        log=log,
        meta={} if "role" in data else meta,
    )


def _drafts(found: Iterable[Record], before: tuple[Message, ...], shape: Shape, log: Log) -> Iterator[Draft]:
    """A chain: each draft's parent is the one before. Ids count the records from 1 (`3`, then `3.2`)."""
    parent: str | None = None
    for number, message in enumerate(before, 1):
        yield Draft(f"0.{number}", parent, message)
        parent = f"0.{number}"
    window: dict[int, Record] = {}
    last, part = -1, 1
    for index, parsed in shape.reader(_watched(found, window)):
        for gone in [old for old in window if old < index]:
            del window[gone]
        record = window[index]
        part = part + 1 if index == last else 1
        last = index
        name = str(index + 1) if part == 1 else f"{index + 1}.{part}"
        if parsed.fault:
            log.add(parsed.fault, f"record {index + 1}", KEPT[parsed.fault], record.line, record.offset)
        yield as_draft(name, parent, parsed, record.line)
        parent = name


def _watched(found: Iterable[Record], window: dict[int, Record]) -> Iterator[Mapping[str, Any]]:
    """The records' data, each record noted by its index until its message is there."""
    for index, record in enumerate(found):
        window[index] = record
        yield record.data


def as_draft(name: str, parent: str | None, parsed: Parsed, line: int) -> Draft:
    """A draft with a source mark of what the message does not hold."""
    mark = source_mark(name, line, parsed.fields or {})
    return Draft(name, parent, parsed.message, parsed.created_at, (*parsed.marks, mark), line)
