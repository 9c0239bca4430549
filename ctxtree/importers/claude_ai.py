"""claude.ai exports: conversations with `chat_messages`, in an array or one by itself.

Newer exports link messages by `parent_message_uuid`; then their order means nothing. Older ones do not, and
the order is all there is. An answer may hold its tool calls and their results: it is divided.
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
from ctxtree.importers.wire.parts import parts_of, string
from ctxtree.model import Message, Part, Text

ROOT = "00000000-0000-4000-8000-000000000000"
"""What the first message names as its parent."""

HELD = frozenset({
    "uuid", "text", "content", "sender", "created_at", "parent_message_uuid", "updated_at", "index",
})  # fmt: skip


def fits(sample: Sample) -> bool:
    """An entry with `chat_messages`."""
    begun = '"chat_messages"' in sample.text and '"sender"' in sample.text
    listed = any(isinstance(record.get("chat_messages"), list) for record in sample.records)
    return listed or (not sample.records and begun)


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each conversation of the export, named by its uuid. Memory: the largest, twice."""
    log = Log(source.name, strict)
    held: Conversation | None = None
    with source.open() as stream:
        for number, record in enumerate(objects(stream, log), 1):
            messages = record.data.get("chat_messages")
            if not isinstance(messages, list) or not messages:
                what = f"entry {number} has no chat_messages"
                log.add("no_conversation", what, "left out", record.line, record.offset, skipped=1)
                continue
            if held is not None:
                yield held
                log = Log(source.name, strict)
            held = grown(source, record, _whole(source, number, record, messages, log), log)
    if held is None:
        raise FormatError(source.name, 0, f"no conversation that can be read; {log.skipped} entries left out")
    yield held


def _whole(source: Source, number: int, record: Record, messages: list[Any], log: Log) -> Whole:
    data = record.data
    linked = any(isinstance(raw, Mapping) and raw.get("parent_message_uuid") for raw in messages)
    messages = _with_senders(messages, record, log)
    nodes: list[Branching] = []
    before: str | None = None
    for place, raw in enumerate(messages, 1):
        if not isinstance(raw, Mapping):
            what = f"message {place} is a {type(raw).__name__}"
            log.add("bad_record", what, "left out", record.line, record.offset, skipped=1)
            continue
        name = string(raw.get("uuid")) or f"message:{place}"
        parent = string(raw.get("parent_message_uuid")) if linked else before
        parent = None if parent == ROOT else parent
        said = _said(raw, name)
        nodes.append(Branching(name, parent, record.line, record.offset, said, moment(raw.get("created_at"))))
        before = name
    return Whole(
        name=string(data.get("uuid")) or f"{source.stem}-{number}",
        title=string(data.get("name")),
        nodes=_unique(nodes, log),
        pointer=data.get("current_leaf_message_uuid"),
        has_pointer="current_leaf_message_uuid" in data,
        meta={key: data[key] for key in ("summary", "project_uuid") if data.get(key)},
    )


def _with_senders(messages: list[Any], record: Record, log: Log) -> list[Any]:
    """The messages; where not one says who sent it, the human and the assistant in turn."""
    told = [raw for raw in messages if isinstance(raw, Mapping)]
    if not told or any(raw.get("sender") for raw in told):
        return messages
    what = f"none of {len(told)} messages names its sender"
    log.add("missing_role", what, "read as human and assistant in turn", record.line, record.offset)
    return [
        {**raw, "sender": "assistant" if place % 2 else "human"} if isinstance(raw, Mapping) else raw
        for place, raw in enumerate(messages)
    ]


def _unique(nodes: list[Branching], log: Log) -> list[Branching]:
    found: dict[str, Branching] = {}
    for node in nodes:
        if node.id in found:
            log.add("duplicate_id", f"{node.id} twice", "the first holds", node.line, node.offset, skipped=1)
        found.setdefault(node.id, node)
    return list(found.values())


def _said(raw: Mapping[str, Any], name: str) -> tuple[Parsed, ...]:
    base = replace(beside({}), created_at=moment(raw.get("created_at")), fields=without(raw, HELD))
    parts = (*_parts(raw), *_attached(raw))
    sender = raw.get("sender")
    if sender == "assistant":
        messages = divided(parts, name)
        return tuple(
            replace(base, message=message, fields=base.fields if not at else {})
            for at, message in enumerate(messages)
        )
    if sender in ("human", "user"):
        return (replace(base, message=Message(role="user", parts=parts)),)
    note = Message(role="note", parts=parts)
    return (replace(base, message=note, marks=(("hidden", True),), fault="unknown_role"),)


def _parts(raw: Mapping[str, Any]) -> tuple[Part, ...]:
    """The blocks, or the plain text where they hold nothing: exports fill the one, the other, or both."""
    content = raw.get("content")
    parts = parts_of(content, "claude.ai") if isinstance(content, list) else ()
    if any(not isinstance(part, Text) or part.text for part in parts):
        return parts
    text = raw.get("text")
    return (Text(text=text),) if isinstance(text, str) else parts


def _attached(raw: Mapping[str, Any]) -> Iterator[Part]:
    """The text of attached files, which the model was given."""
    listed = raw.get("attachments")
    for held in listed if isinstance(listed, list) else ():
        text = held.get("extracted_content") if isinstance(held, Mapping) else None
        if isinstance(text, str) and text:
            yield Text(text=text)


FORMAT = Format("claude.ai export: conversations with chat_messages", fits, read)
