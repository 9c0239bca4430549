"""OpenAI Chat messages, and the neutral form with `calls` and `result_of` that tools around it use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ctxtree.importers.wire.parsed import Parsed, divide, unknown_fields
from ctxtree.importers.wire.parts import (
    arguments_of,
    audio_of,
    part_of,
    parts_of,
    result_of,
    string,
)
from ctxtree.model import Opaque, Part, Reasoning, Text, ToolCall

ORIGIN = "openai.chat"
KNOWN = frozenset({
    "role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "audio",
    "reasoning_content", "calls", "result_of", "error", "is_error",
})  # fmt: skip


def parse(items: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, Parsed]]:
    """The messages of each record, with the record's index."""
    for index, item in enumerate(items):
        for parsed in parse_one(item):
            yield index, parsed


def parse_one(item: Mapping[str, Any]) -> Iterator[Parsed]:
    role = item.get("role")
    extra = unknown_fields(item, KNOWN, ORIGIN)
    name = string(item.get("name"))
    if role in ("tool", "function") and not _holds_results(item.get("content")):
        call_id = item.get("tool_call_id") or item.get("result_of")
        result = result_of(item, call_id, item.get("content"), ORIGIN)
        yield from divide(item, role, (result, *extra), None)
        return
    parts = (*_reasoning(item), *parts_of(item.get("content"), ORIGIN), *_spoken(item), *_calls(item))
    yield from divide(item, role, (*parts, *extra), name)


def _holds_results(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(part, Mapping) and part.get("type") == "tool_result" for part in content
    )


def _reasoning(item: Mapping[str, Any]) -> Iterator[Part]:
    text = string(item.get("reasoning_content"))
    if text:
        yield Reasoning(text=text, origin=ORIGIN)


def _spoken(item: Mapping[str, Any]) -> Iterator[Part]:
    refusal, audio = string(item.get("refusal")), item.get("audio")
    if refusal:
        yield Opaque(origin=ORIGIN, kind="refusal", data={"type": "refusal", "refusal": refusal})
    if isinstance(audio, Mapping):
        yield audio_of(audio, ORIGIN)


def _calls(item: Mapping[str, Any]) -> Iterator[Part]:
    for held in (item.get("tool_calls"), item.get("calls")):
        for call in held if isinstance(held, list) else ():
            yield call_of(call)
    old = item.get("function_call")
    if isinstance(old, Mapping) and string(old.get("name")):
        yield ToolCall(
            name=old["name"], arguments=arguments_of(old.get("arguments")), origin=ORIGIN,
            extra={"type": "function_call"},
        )  # fmt: skip


def call_of(call: Any) -> Part:
    """One entry of `tool_calls` (function or custom) or of `calls` ({id, name, args}).

    >>> call_of({"id": "c1", "function": {"name": "f", "arguments": "{}"}}).name
    'f'
    """
    if not isinstance(call, Mapping):
        return Text(text=call) if isinstance(call, str) else part_of(call, ORIGIN)
    kind = call.get("type")
    inner = call.get("custom") if kind == "custom" else call.get("function")
    body: Mapping[str, Any] = inner if isinstance(inner, Mapping) else call
    name = string(body.get("name"))
    if name is None:
        return Opaque(origin=ORIGIN, kind="tool_call", data=dict(call))
    extra = {key: value for key, value in call.items() if key not in _CALL and value is not None}
    if kind == "custom":
        extra["type"] = "custom"
    given = body.get("input", body.get("arguments", body.get("args")))
    return ToolCall(
        id=string(call.get("id")) or "", name=name, arguments=arguments_of(given), extra=extra,
        origin=ORIGIN if extra else None,
    )  # fmt: skip


_CALL = frozenset({"id", "type", "function", "custom", "name", "args", "arguments", "input", "index"})
