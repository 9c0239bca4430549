"""LibreChat exports: `messages`, flat, or `messagesTree`, each answer nested in its question.

Parents may come after their children, and the nested form goes as deep as the conversation is long, so
it is read and walked without recursion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxtree.errors import FormatError
from ctxtree.importers.base import Conversation, Format, Log, Sample, without
from ctxtree.importers.files import Source
from ctxtree.importers.grown import Branching, Whole, grown
from ctxtree.importers.lines import Record
from ctxtree.importers.lists import objects
from ctxtree.importers.moments import moment
from ctxtree.importers.pieces import divided
from ctxtree.importers.wire.parsed import Parsed, beside
from ctxtree.importers.wire.parts import arguments_of, part_of, string
from ctxtree.model import Message, Part, Reasoning, Text, ToolCall, ToolResult

ROOT = "00000000-0000-0000-0000-000000000000"
HELD = frozenset({
    "messageId", "parentMessageId", "text", "content", "isCreatedByUser", "createdAt", "updatedAt", "model",
    "children", "conversationId", "_id", "__v", "user", "unfinished", "error", "depth", "siblingIndex",
})  # fmt: skip


def fits(sample: Sample) -> bool:
    """Messages with `messageId`, in a list or a tree."""
    begun = '"messageId"' in sample.text and '"conversationId"' in sample.text
    return any(_top(record) for record in sample.records) or (not sample.records and begun)


def _top(record: Mapping[str, Any]) -> list[Any]:
    for key in ("messagesTree", "messages"):
        held = record.get(key)
        if isinstance(held, list) and any(isinstance(raw, Mapping) and "messageId" in raw for raw in held):
            return held
    return []


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each conversation of the export, named by its id. Memory: the largest, twice."""
    log = Log(source.name, strict)
    held: Conversation | None = None
    with source.open() as stream:
        for number, record in enumerate(objects(stream, log, deep=True), 1):
            top = _top(record.data)
            if not top:
                what = f"entry {number} has no messages"
                log.add("no_conversation", what, "left out", record.line, record.offset, skipped=1)
                continue
            if held is not None:
                yield held
                log = Log(source.name, strict)
            whole = Whole(
                name=string(record.data.get("conversationId")) or f"{source.stem}-{number}",
                title=string(record.data.get("title")),
                nodes=_nodes(top, record, log),
                meta={key: record.data[key] for key in ("endpoint",) if record.data.get(key)},
            )
            held = grown(source, record, whole, log)
    if held is None:
        raise FormatError(source.name, 0, f"no conversation that can be read; {log.skipped} entries left out")
    yield held


def _nodes(top: list[Any], record: Record, log: Log) -> list[Branching]:
    """The nodes of list or tree. What stands inside another hangs on it, whatever it names as its parent."""
    found: dict[str, Branching] = {}
    todo: list[tuple[Any, str | None]] = [(raw, None) for raw in reversed(top)]
    place = (record.line, record.offset)
    while todo:
        raw, above = todo.pop()
        if not isinstance(raw, Mapping):
            log.add("bad_record", f"a message is a {type(raw).__name__}", "left out", *place, skipped=1)
            continue
        name = string(raw.get("messageId")) or f"message:{len(found) + 1}"
        named = string(raw.get("parentMessageId"))
        parent = above or (None if named == ROOT else named)
        if name in found:
            log.add("duplicate_id", f"{name} twice", "the first holds", *place, skipped=1)
        else:
            found[name] = Branching(name, parent, *place, _said(raw, name), moment(raw.get("createdAt")))
        children = raw.get("children")
        todo.extend((child, name) for child in reversed(children if isinstance(children, list) else []))
    return list(found.values())


def _said(raw: Mapping[str, Any], name: str) -> tuple[Parsed, ...]:
    base = beside({"model": raw.get("model"), "created_at": raw.get("createdAt")})
    given = (("stop", "error" if raw.get("error") else None), ("incomplete", bool(raw.get("unfinished"))))
    marks = (*base.marks, *((mark, value) for mark, value in given if value))
    base = replace(base, marks=marks, fields=without(raw, HELD))
    parts = tuple(_parts(raw))
    if raw.get("isCreatedByUser") or raw.get("sender") == "User":
        return (replace(base, marks=(), message=Message(role="user", parts=parts)),)
    return tuple(replace(base, message=message) for message in divided(parts, name))


def _parts(raw: Mapping[str, Any]) -> Iterator[Part]:
    """The content parts, or the text where they hold nothing."""
    content = raw.get("content")
    parts = [part for item in content for part in _part(item)] if isinstance(content, list) else []
    if any(not isinstance(part, Text) or part.text for part in parts):
        yield from parts
    elif isinstance(raw.get("text"), str):
        yield Text(text=raw["text"])


def _part(item: Any) -> Iterator[Part]:
    kind = item.get("type") if isinstance(item, Mapping) else None
    held = item.get(kind) if isinstance(kind, str) else None
    if kind == "think" and isinstance(held, str):
        yield Reasoning(text=held, origin="librechat")
    elif kind == "tool_call" and isinstance(held, Mapping) and string(held.get("name")):
        call = string(held.get("id")) or ""
        yield ToolCall(id=call, name=held["name"], arguments=arguments_of(held.get("args")))
        output = held.get("output")
        if isinstance(output, str):
            yield ToolResult(call_id=call, parts=(Text(text=output),), name=held["name"])
    else:
        yield part_of(item, "librechat")


FORMAT = Format("LibreChat export: flat messages or messagesTree", fits, read)
