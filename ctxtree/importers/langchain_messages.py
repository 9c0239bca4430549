"""What a LangChain message says: `messages_to_dict`, `dumpd`, and the flat form of a state.

Shapes as written by langchain-core 1.8: {"type", "data"}, {"lc", "id", "kwargs"}, {"type", "content", ...}.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxtree.importers.base import without
from ctxtree.importers.wire.chat import call_of
from ctxtree.importers.wire.parsed import Parsed, beside
from ctxtree.importers.wire.parts import arguments_of, parts_of, string
from ctxtree.model import Message, Opaque, Part, Role, Text, ToolCall, ToolResult

Raw = Mapping[str, Any]
ORIGIN = "langchain"
REMOVE_ALL = "__remove_all__"

TYPES: Mapping[str, Role | None] = {
    "human": "user", "HumanMessageChunk": "user", "ai": "assistant", "AIMessageChunk": "assistant",
    "system": "system", "SystemMessageChunk": "system", "tool": "tool", "ToolMessageChunk": "tool",
    "function": "tool", "FunctionMessageChunk": "tool", "chat": None, "ChatMessageChunk": None,
    "remove": None,
}  # fmt: skip
"""Kinds of message and our roles; a chat message names its role itself."""

CHAT_ROLES: Mapping[str, Role] = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "system": "system",
    "developer": "developer",
}  # fmt: skip
HELD = frozenset({
    "type", "content", "name", "id", "tool_calls", "invalid_tool_calls", "usage_metadata", "tool_call_id",
    "status", "role", "response_metadata", "additional_kwargs", "example",
})  # fmt: skip
CALLS = frozenset({"tool_use", "tool_call", "tool_call_chunk", "input_json_delta"})
"""Content blocks that say again what stands in `tool_calls`."""


def unwrapped(item: Raw) -> tuple[str, Raw]:
    """The kind of a message and its fields, whichever way it is spelled."""
    data = item.get("data")
    if isinstance(data, Mapping) and isinstance(item.get("type"), str):
        return item["type"], data
    held, names = item.get("kwargs"), item.get("id")
    if item.get("lc") and isinstance(held, Mapping):
        last = str(names[-1]) if isinstance(names, list) and names else ""
        kind = held.get("type")
        return (kind if isinstance(kind, str) else last.removesuffix("Message").lower()), held
    return str(item.get("type")), item


def parsed_of(kind: str, held: Raw) -> Parsed:
    """The message of these fields; a role that nobody knows gives a hidden note with its fault."""
    role = TYPES.get(kind)
    if role is None and kind in ("chat", "ChatMessageChunk"):
        role = CHAT_ROLES.get(str(held.get("role")).lower())
    base = _beside(held)
    name = string(held.get("name"))
    if role == "tool":
        return replace(base, message=Message(role="tool", parts=(_result(held),)))
    if role is None:
        note = Message(role="note", parts=parts_of(held.get("content"), ORIGIN), name=name)
        return replace(base, message=note, marks=(*base.marks, ("hidden", True)), fault="unknown_role")
    parts = tuple(_parts(held, role))
    return replace(base, message=Message(role=role, parts=parts, name=name))


def _beside(held: Raw) -> Parsed:
    """Model, stop reason and usage from where LangChain keeps them; the rest as fields."""
    told = held.get("response_metadata")
    metadata: Raw = told if isinstance(told, Mapping) else {}
    given = {
        "model": metadata.get("model_name") or metadata.get("model"),
        "usage": held.get("usage_metadata"),
        "stop_reason": metadata.get("finish_reason") or metadata.get("stop_reason"),
    }
    kept = {**without(held, HELD), **{key: held[key] for key in ("id",) if held.get(key)}}
    extra = held.get("additional_kwargs")
    if isinstance(extra, Mapping):
        left = {key: value for key, value in extra.items() if key not in ("tool_calls", "function_call")}
        kept |= {"additional_kwargs": left} if left else {}
    kept |= {"response_metadata": dict(metadata)} if metadata else {}
    return replace(beside(given), fields=kept)


def _parts(held: Raw, role: Role) -> Iterator[Part]:
    calls = tuple(_calls(held)) if role == "assistant" else ()
    content = held.get("content")
    if isinstance(content, list) and calls:
        content = [
            block for block in content if not (isinstance(block, Mapping) and block.get("type") in CALLS)
        ]
    if content != "" or not calls:
        yield from parts_of(content, ORIGIN)
    yield from calls


def _calls(held: Raw) -> Iterator[Part]:
    """The calls; those whose arguments are no JSON keep them as they came; old logs have them beside."""
    listed, broken = held.get("tool_calls"), held.get("invalid_tool_calls")
    found = 0
    for call in (
        *(listed if isinstance(listed, list) else ()),
        *(broken if isinstance(broken, list) else ()),
    ):
        if isinstance(call, Mapping) and string(call.get("name")):
            found += 1
            yield ToolCall(
                id=string(call.get("id")) or "", name=call["name"], arguments=arguments_of(call.get("args"))
            )
        elif isinstance(call, Mapping):
            found += 1
            yield Opaque(origin=ORIGIN, kind="tool_call", data=dict(call))
    old = held.get("additional_kwargs")
    if found or not isinstance(old, Mapping):
        return
    for call in old["tool_calls"] if isinstance(old.get("tool_calls"), list) else ():
        yield call_of(call)
    single = old.get("function_call")
    if isinstance(single, Mapping) and string(single.get("name")):
        yield ToolCall(name=single["name"], arguments=arguments_of(single.get("arguments")))


def _result(held: Raw) -> ToolResult:
    parts = parts_of(held.get("content"), ORIGIN)
    kept = tuple(
        part
        if isinstance(part, Text | Opaque) or part.type == "media"
        else Opaque(origin=ORIGIN, kind=part.type, data=held.get("content"))
        for part in parts
    )
    return ToolResult(
        call_id=string(held.get("tool_call_id")) or "",
        parts=kept,
        error=held.get("status") == "error",
        name=string(held.get("name")),
    )
