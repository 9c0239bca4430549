"""OpenAI Responses items: the items that one answer consists of become one assistant message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ctxtree.importers.wire.parsed import Parsed, beside, divide, unknown_fields
from ctxtree.importers.wire.parts import (
    arguments_of,
    parts_of,
    reasoning_of,
    result_of,
    string,
)
from ctxtree.model import Message, Opaque, Part, Text, ToolCall

Place = Literal["answer", "speech", "other"]

ORIGIN = "openai.responses"
MESSAGE = frozenset({"role", "content", "name"})
CALLS = frozenset({"function_call", "custom_tool_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
CALL = frozenset({"type", "id", "call_id", "name", "arguments", "input", "status"})


@dataclass(slots=True)
class _Answer:
    """The assistant message being put together: its parts, and the record that it began with."""

    index: int
    first: Mapping[str, Any]
    parts: list[Part] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    spoke: bool = False

    def finished(self) -> tuple[int, Parsed]:
        base = beside(self.first)
        fields = {key: value for key, value in (base.fields or {}).items() if key not in ("id", "status")}
        if self.ids:
            fields["ids"] = list(self.ids)
        return self.index, replace(
            base, message=Message(role="assistant", parts=tuple(self.parts)), fields=fields
        )


def parse(items: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, Parsed]]:
    """The messages of a list of items, with the index of the item that each begins with.

    Reasoning, calls and the message that belong to one answer stay in their order in one message.
    Item ids are beside the message: the server's ids of messages and calls are never needed again.
    """
    answer: _Answer | None = None
    for index, item in enumerate(items):
        place = place_of(item)
        if place == "other":
            if answer:
                yield answer.finished()
                answer = None
            for parsed in _other(item):
                yield index, parsed
            continue
        speaks = place == "speech"
        if answer and speaks and answer.spoke:
            yield answer.finished()
            answer = None
        answer = answer or _Answer(index, item)
        answer.spoke = answer.spoke or speaks
        answer.parts.extend(_parts(item))
        if string(item.get("id")):
            answer.ids.append(item["id"])
    if answer:
        yield answer.finished()


def place_of(item: Mapping[str, Any]) -> Place:
    """Where an item belongs: the `speech` of an answer, other parts of it, or neither.

    A second speech begins a new answer; whatever is neither ends the answer before it.
    """
    kind = item.get("type", "message")
    if kind == "message":
        return "speech" if item.get("role") == "assistant" else "other"
    return (
        "answer" if isinstance(kind, str) and not kind.endswith("_output") and "role" not in item else "other"
    )


def _parts(item: Mapping[str, Any]) -> Iterator[Part]:
    kind = item.get("type", "message")
    reasoning = reasoning_of(item, ORIGIN) if kind == "reasoning" else None
    if kind == "message":
        yield from parts_of(item.get("content"), ORIGIN)
        yield from unknown_fields(item, MESSAGE, ORIGIN)
    elif reasoning is not None:
        yield reasoning
    elif string(kind) in CALLS and string(item.get("name")):
        yield _call(item)
    else:
        yield Opaque(origin=ORIGIN, kind=str(kind), data=dict(item))


def _call(item: Mapping[str, Any]) -> ToolCall:
    extra = {key: value for key, value in item.items() if key not in CALL and value is not None}
    if item.get("type") == "custom_tool_call":
        extra["type"] = "custom"
    return ToolCall(
        id=string(item.get("call_id")) or string(item.get("id")) or "",
        name=item["name"],
        arguments=arguments_of(item.get("input", item.get("arguments"))),
        extra=extra,
        origin=ORIGIN if extra else None,
    )


def _other(item: Mapping[str, Any]) -> Iterator[Parsed]:
    kind = item.get("type", "message")
    if kind == "message" or "role" in item:
        parts = (*parts_of(item.get("content"), ORIGIN), *unknown_fields(item, MESSAGE, ORIGIN))
        yield from divide(item, item.get("role"), parts, string(item.get("name")))
        return
    part: Part = Opaque(origin=ORIGIN, kind=str(kind), data=dict(item))
    if string(kind) in OUTPUTS:
        part = result_of(item, item.get("call_id"), output_of(item.get("output")), ORIGIN)
    yield replace(beside(item), message=Message(role="tool", parts=(part,)))


def output_of(output: Any) -> Any:
    """A call's output as content: strings and lists as they are, one part as a list of it."""
    if isinstance(output, Mapping) and "type" not in output:
        inner = output.get("content", output.get("output"))
        return inner if isinstance(inner, str | list) else [output]
    return output


def system_of(instructions: Any) -> Message | None:
    """The `instructions` of a request as a system message."""
    text = string(instructions)
    return Message(role="system", parts=(Text(text=text),)) if text else None
