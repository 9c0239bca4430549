"""What a message of an Inspect log says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxtree.importers.base import without
from ctxtree.importers.wire.parsed import ROLES, Parsed, beside
from ctxtree.importers.wire.parts import arguments_of, data_url, part_of, string
from ctxtree.model import Media, MediaKind, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult

Raw = Mapping[str, Any]
ORIGIN = "inspect"
ATTACHMENT = "attachment://"
HELD = frozenset({"role", "content", "tool_calls", "tool_call_id", "function", "error", "model"})


def resolved(value: Any, texts: Mapping[str, Any], depth: int = 6) -> Any:
    """A value with the texts that the log keeps apart put back in their place; one that is lost stays a name."""
    if isinstance(value, str):
        name = value.removeprefix(ATTACHMENT)
        return texts.get(name, value) if name != value else value
    if depth and isinstance(value, Mapping):
        return {key: resolved(held, texts, depth - 1) for key, held in value.items()}
    if depth and isinstance(value, list):
        return [resolved(held, texts, depth - 1) for held in value]
    return value


def parsed_of(raw: Raw) -> Parsed:
    """The message; a role that nobody knows gives a hidden note with its fault."""
    base = replace(beside({"model": raw.get("model")}), fields=without(raw, HELD))
    role = ROLES.get(str(raw.get("role")))
    parts = tuple(_parts(raw.get("content")))
    if role == "tool":
        return replace(base, message=Message(role="tool", parts=(_result(raw, parts),)))
    if role is None:
        note = Message(role="note", parts=parts)
        return replace(base, message=note, marks=(*base.marks, ("hidden", True)), fault="unknown_role")
    calls = tuple(_calls(raw.get("tool_calls")))
    if calls and parts == (Text(text=""),):
        parts = ()
    return replace(base, message=Message(role=role, parts=(*parts, *calls)))


def _parts(content: Any) -> Iterator[Part]:
    for item in content if isinstance(content, list) else [] if content is None else [content]:
        yield _part(item)


def _part(item: Any) -> Part:
    kind = item.get("type") if isinstance(item, Mapping) else None
    if kind == "reasoning":
        return _reasoning(item)
    if kind in ("image", "audio", "video", "document") and string(item.get(kind)):
        return _media("file" if kind == "document" else kind, item[kind], item)
    if kind in ("tool_use", "data"):
        return Opaque(origin=ORIGIN, kind=kind, data=dict(item))
    return part_of(item, ORIGIN)


def _reasoning(item: Raw) -> Reasoning:
    """Redacted reasoning is the provider's sealed form; else the text, with its summary and signature."""
    told = string(item.get("reasoning")) or ""
    summary = string(item.get("summary"))
    if item.get("redacted"):
        return Reasoning(encrypted=told, summary=(summary,) if summary else (), origin=ORIGIN)
    return Reasoning(
        text=told,
        summary=(summary,) if summary else (),
        signature=string(item.get("signature")),
        origin=ORIGIN,
    )


def _media(kind: MediaKind, held: str, item: Raw) -> Media:
    inline = data_url(held)
    name = string(item.get("filename"))
    if inline:
        return Media(kind=kind, mime=inline[0], data=inline[1], name=name, detail=string(item.get("detail")))
    mime = string(item.get("mime_type")) or ""
    return Media(kind=kind, mime=mime, url=held, name=name, detail=string(item.get("detail")))


def _calls(held: Any) -> Iterator[Part]:
    for call in held if isinstance(held, list) else ():
        name = string(call.get("function")) if isinstance(call, Mapping) else None
        if name is None:
            yield Opaque(origin=ORIGIN, kind="tool_call", data=call)
            continue
        wrong = string(call.get("parse_error"))
        yield ToolCall(
            id=string(call.get("id")) or "", name=name, arguments=arguments_of(call.get("arguments")),
            extra={"parse_error": wrong} if wrong else {}, origin=ORIGIN if wrong else None,
        )  # fmt: skip


def _result(raw: Raw, parts: tuple[Part, ...]) -> ToolResult:
    """A tool's answer; an error's words stand in it if the answer is empty."""
    error = raw.get("error")
    held = tuple(part for part in parts if isinstance(part, Text | Media | Opaque))
    if isinstance(error, Mapping) and not any(not isinstance(part, Text) or part.text for part in held):
        held = (Text(text=string(error.get("message")) or str(error.get("type") or "")),)
    return ToolResult(
        call_id=string(raw.get("tool_call_id")) or "",
        parts=held,
        error=bool(error),
        name=string(raw.get("function")),
    )
