"""What a message of a Gemini CLI session says: words, thoughts, calls with their results inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxtree.importers.base import without
from ctxtree.importers.wire.parsed import Parsed, beside
from ctxtree.importers.wire.parts import string
from ctxtree.model import Media, MediaKind, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult

Raw = Mapping[str, Any]
ORIGIN = "gemini"

TYPES: Mapping[str, Role] = {
    "user": "user", "gemini": "assistant", "info": "note", "error": "note", "warning": "note",
}  # fmt: skip
"""Kinds of message; notices are the program's and no model was sent them."""

HELD = frozenset({"id", "timestamp", "type", "content", "toolCalls", "thoughts", "tokens", "model"})
CALL = frozenset({"id", "name", "args", "result", "status", "timestamp"})
GENERATED = ("<session_context>", "<hook_context>", "/", "?")
"""How a user's text begins that the program wrote, or that was for the program and not for the model."""


def said_by(raw: Raw, name: str) -> tuple[Parsed, ...]:
    """The message, and the results of its calls where there are any."""
    kind = raw.get("type")
    role = TYPES.get(kind) if isinstance(kind, str) else None
    base = beside({"model": raw.get("model"), "usage": raw.get("tokens"), "timestamp": raw.get("timestamp")})
    beyond = without(raw, HELD)
    base = replace(base, fields=beyond)
    parts = tuple(_content(raw.get("content")))
    if role is None or role == "note":
        fields = {**(base.fields or {}), "type": kind}
        note = Message(role="note", parts=parts)
        fault = "" if role else "unknown_role"
        return (
            replace(base, message=note, marks=(*base.marks, ("hidden", True)), fields=fields, fault=fault),
        )
    if role == "user":
        told = next((part.text for part in parts if isinstance(part, Text)), "").lstrip()
        fields = {**beyond, "generated": True} if told.startswith(GENERATED) else beyond
        return (replace(base, message=Message(role="user", parts=parts), fields=fields),)
    listed = raw.get("toolCalls")
    calls = [call for call in listed if isinstance(call, Mapping)] if isinstance(listed, list) else []
    if calls and parts == (Text(text=""),):
        parts = ()
    made = [_call(call, f"{name}.{number}") for number, call in enumerate(calls, 1)]
    spoken = Message(role="assistant", parts=(*_thoughts(raw.get("thoughts")), *parts, *made))
    first = replace(base, message=spoken, fields={**(base.fields or {}), **_beside_calls(calls)})
    results = tuple(
        _result(call, one.id) for call, one in zip(calls, made, strict=True) if call.get("result") is not None
    )
    if not results:
        return (first,)
    return first, Parsed(message=Message(role="tool", parts=results), created_at=base.created_at)


def _content(content: Any) -> Iterator[Part]:
    """A text, a part, or a list of either."""
    for part in content if isinstance(content, list) else [] if content is None else [content]:
        if isinstance(part, str):
            yield Text(text=part)
        elif isinstance(part, Mapping):
            yield _part(part)
        else:
            yield Opaque(origin=ORIGIN, kind=type(part).__name__, data=part)


def _part(part: Raw) -> Part:
    text = part.get("text")
    if isinstance(text, str):
        return Reasoning(text=text, origin=ORIGIN) if part.get("thought") else Text(text=text)
    inline, file = part.get("inlineData"), part.get("fileData")
    if isinstance(inline, Mapping) and string(inline.get("data")):
        mime = string(inline.get("mimeType")) or ""
        return Media(kind=_kind(mime), mime=mime, data=inline["data"])
    if isinstance(file, Mapping) and string(file.get("fileUri")):
        mime = string(file.get("mimeType")) or ""
        return Media(kind=_kind(mime), mime=mime, url=file["fileUri"])
    kind = next((key for key in part if key not in ("thoughtSignature",)), "unknown")
    return Opaque(origin=ORIGIN, kind=kind, data=dict(part))


def _kind(mime: str) -> MediaKind:
    kinds: Mapping[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
    return kinds.get(mime.split("/")[0], "file")


def _thoughts(thoughts: Any) -> Iterator[Reasoning]:
    """What the model told of its thinking: subject and description."""
    listed = [one for one in thoughts if isinstance(one, Mapping)] if isinstance(thoughts, list) else []
    told = [": ".join(str(one[key]) for key in ("subject", "description") if one.get(key)) for one in listed]
    if told:
        yield Reasoning(summary=tuple(told), origin=ORIGIN)


def _call(call: Raw, name: str) -> ToolCall:
    given = call.get("args")
    arguments = given if isinstance(given, dict) else {} if given is None else str(given)
    return ToolCall(
        id=string(call.get("id")) or name, name=string(call.get("name")) or "tool", arguments=arguments
    )


def _beside_calls(calls: list[Raw]) -> dict[str, Any]:
    """What the program noted of its calls beyond call and result: descriptions, sub-agents, displays."""
    kept = {str(call.get("id") or number): without(call, CALL) for number, call in enumerate(calls, 1)}
    left = {name: fields for name, fields in kept.items() if fields}
    return {"calls": left} if left else {}


def _result(call: Raw, name: str) -> ToolResult:
    """A call's result: function responses with an output or an error, and parts beside them."""
    parts: list[Text | Media | Opaque] = []
    held = call["result"]
    failed = call.get("status") in ("error", "cancelled")
    for part in held if isinstance(held, list) else [held]:
        answer = part.get("functionResponse") if isinstance(part, Mapping) else None
        if not isinstance(answer, Mapping):
            parts += [one for one in _content(part) if isinstance(one, Text | Media | Opaque)]
            continue
        response = answer.get("response")
        told: Raw = response if isinstance(response, Mapping) else {"output": response}
        words = told.get("output", told.get("error"))
        failed = failed or "error" in told
        if isinstance(words, str):
            parts.append(Text(text=words))
        else:
            parts.append(Opaque(origin=ORIGIN, kind="functionResponse", data=dict(answer)))
    return ToolResult(call_id=name, parts=tuple(parts), error=failed, name=string(call.get("name")))
