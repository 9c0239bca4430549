"""One answer that holds its calls and their results, divided into the messages that it really was."""

from __future__ import annotations

from collections.abc import Iterable

from ctxtree.model import Message, Part, ToolCall, ToolResult


def divided(parts: Iterable[Part], name: str) -> tuple[Message, ...]:
    """Assistant and tool messages in turn, as the parts come.

    A call without an id gets one from `name` and its number; a result without one answers the oldest
    open call. An answer without parts is one empty message.
    """
    found: list[Message] = []
    held: list[Part] = []
    waiting: list[str] = []
    number = 0
    for part in parts:
        if isinstance(part, ToolCall):
            number += 1
            part = part if part.id else part.model_copy(update={"id": f"{name}.{number}"})
            waiting.append(part.id)
        elif isinstance(part, ToolResult):
            call = part.call_id or (waiting[0] if waiting else f"{name}.{number}")
            part = part.model_copy(update={"call_id": call})
            waiting = [other for other in waiting if other != call]
        if held and isinstance(part, ToolResult) != isinstance(held[-1], ToolResult):
            found.append(_message(held))
            held = []
        held.append(part)
    if held or not found:
        found.append(_message(held))
    return tuple(found)


def _message(parts: list[Part]) -> Message:
    results = bool(parts) and isinstance(parts[-1], ToolResult)
    return Message(role="tool" if results else "assistant", parts=tuple(parts))
