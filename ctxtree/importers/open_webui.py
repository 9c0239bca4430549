"""Open WebUI exports: an array of chats, or one bare chat, with a map of messages under `history`.

The map's keys are the ids, parents are trusted, lists of children are not, and the pointer to the active
leaf is often stale. The flat list beside the map is read only where there is no map.
"""

from __future__ import annotations

import html
import re
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
from ctxtree.importers.wire import WIRE
from ctxtree.importers.wire.parsed import ROLES, Parsed, beside
from ctxtree.importers.wire.parts import parts_of, string
from ctxtree.model import Message, Part, Reasoning, Text

FOLDED = re.compile(
    r"<details[^>]*\btype=\"reasoning\"[^>]*>\s*(?:<summary>[^<]*</summary>)?(.*?)</details>", re.DOTALL
)
"""Reasoning as it is folded into the text of an answer: HTML around quoted lines."""

HELD = frozenset({
    "id", "parentId", "childrenIds", "role", "content", "timestamp", "model", "usage", "output", "done",
})  # fmt: skip


def fits(sample: Sample) -> bool:
    """A chat with a map of messages under `history`."""
    begun = '"history"' in sample.text and '"parentId"' in sample.text
    return any(_messages(record) is not None for record in sample.records) or (not sample.records and begun)


def _chat(record: Mapping[str, Any]) -> Mapping[str, Any]:
    chat = record.get("chat")
    return chat if isinstance(chat, Mapping) else record


def _messages(record: Mapping[str, Any]) -> dict[str, Any] | None:
    history = _chat(record).get("history")
    held = history.get("messages") if isinstance(history, Mapping) else None
    return held if isinstance(held, dict) else None


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each chat of the export, named by its id. Memory: the largest, twice."""
    log = Log(source.name, strict)
    held: Conversation | None = None
    with source.open() as stream:
        for number, record in enumerate(objects(stream, log), 1):
            messages = _messages(record.data) or _listed(_chat(record.data).get("messages"))
            if not messages:
                what = f"entry {number} has no messages"
                log.add("no_conversation", what, "left out", record.line, record.offset, skipped=1)
                continue
            if held is not None:
                yield held
                log = Log(source.name, strict)
            held = grown(source, record, _whole(source, number, record, messages, log), log)
    if held is None:
        raise FormatError(source.name, 0, f"no conversation that can be read; {log.skipped} entries left out")
    yield held


def _listed(messages: Any) -> dict[str, Any]:
    """The flat list as a map; where nothing is linked, each message follows the one before."""
    listed = [raw for raw in messages if isinstance(raw, Mapping)] if isinstance(messages, list) else []
    linked = any("parentId" in raw for raw in listed)
    found: dict[str, Any] = {}
    before: str | None = None
    for place, raw in enumerate(listed, 1):
        name = string(raw.get("id")) or f"message:{place}"
        found[name] = raw if linked else {**raw, "parentId": before}
        before = name
    return found


def _whole(source: Source, number: int, record: Record, messages: Mapping[str, Any], log: Log) -> Whole:
    data, chat = record.data, _chat(record.data)
    nodes: list[Branching] = []
    for name, raw in messages.items():
        if not isinstance(raw, Mapping):
            what = f"message {name} is a {type(raw).__name__}"
            log.add("bad_record", what, "left out", record.line, record.offset, skipped=1)
            continue
        at = moment(raw.get("timestamp"))
        nodes.append(Branching(name, string(raw.get("parentId")), record.line, record.offset, _said(raw), at))
    history = chat.get("history")
    return Whole(
        name=string(data.get("id")) or string(chat.get("id")) or f"{source.stem}-{number}",
        title=string(data.get("title")) or string(chat.get("title")),
        nodes=nodes,
        pointer=history.get("currentId") if isinstance(history, Mapping) else None,
        has_pointer=isinstance(history, Mapping),
        meta={key: chat[key] for key in ("models", "params", "tags") if chat.get(key)},
    )


def _said(raw: Mapping[str, Any]) -> tuple[Parsed, ...]:
    base = beside({"model": raw.get("model"), "usage": raw.get("usage"), "timestamp": raw.get("timestamp")})
    marks = [*base.marks]
    if raw.get("error"):
        marks.append(("stop", "error"))
    if raw.get("done") is False:
        marks.append(("incomplete", True))
    base = replace(base, marks=tuple(marks), fields=without(raw, HELD))
    role = raw.get("role")
    output = raw.get("output")
    items = [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []
    if role == "assistant" and items:
        # the content repeats the output as one text
        found = [parsed.message for _, parsed in WIRE["openai.responses"](items)]
        return tuple(replace(base, message=message) for message in found)
    known = ROLES.get(role) if isinstance(role, str) else None
    parts = parts_of(raw.get("content"), "open-webui")
    if known == "assistant":
        parts = tuple(piece for part in parts for piece in _unfolded(part))
    if known in ("system", "user", "assistant"):
        return (replace(base, message=Message(role=known, parts=parts)),)
    note = Message(role="note", parts=parts)
    return (replace(base, message=note, marks=(*base.marks, ("hidden", True)), fault="unknown_role"),)


def _unfolded(part: Part) -> Iterator[Part]:
    """A text with the reasoning that some versions fold into it taken out, each piece as what it is."""
    if not isinstance(part, Text) or "<details" not in part.text:
        yield part
        return
    at = 0
    for found in FOLDED.finditer(part.text):
        if part.text[at : found.start()].strip():
            yield Text(text=part.text[at : found.start()].strip("\n"))
        lines = html.unescape(found.group(1)).strip("\n").split("\n")
        yield Reasoning(
            text="\n".join(line.removeprefix("> ").rstrip() for line in lines), origin="open-webui"
        )
        at = found.end()
    if at == 0 or part.text[at:].strip():
        yield Text(text=part.text[at:].lstrip("\n") if at else part.text)


FORMAT = Format("Open WebUI export: chats with history, or one chat", fits, read)
