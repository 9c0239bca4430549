"""OpenAI Responses items of a path. Reasoning of this API goes back sealed as it came, other reasoning is left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxtree.exporters.tale import Exporter, Tale, arguments, words
from ctxtree.model import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult

ORIGIN = "openai.responses"


def write(tale: Tale) -> list[dict[str, Any]]:
    """The items, in order."""
    return [item for node in tale.path if node.role != "state" for item in _items(node.message)]


def _items(message: Message) -> Iterator[dict[str, Any]]:
    held: list[dict[str, Any]] = []
    for part in message.parts:
        item = _item(part)
        if item is None:
            held += _content(message, part)
            continue
        yield from _spoken(message, held)
        held = []
        yield item
    yield from _spoken(message, held)


def _spoken(message: Message, content: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    if content:
        role = "user" if message.role in ("note", "tool") else message.role
        yield {"type": "message", "role": role, "content": content}


def _item(part: Any) -> dict[str, Any] | None:
    match part:
        case ToolCall():
            if part.extra.get("type") == "custom":
                return {
                    "type": "custom_tool_call",
                    "call_id": part.id,
                    "name": part.name,
                    "input": arguments(part),
                }
            return {
                "type": "function_call",
                "call_id": part.id,
                "name": part.name,
                "arguments": arguments(part),
            }
        case ToolResult():
            return {"type": "function_call_output", "call_id": part.call_id, "output": words(part.parts)}
        case Reasoning() if part.origin == ORIGIN and part.encrypted:
            summary = [{"type": "summary_text", "text": line} for line in part.summary]
            told: dict[str, Any] = {
                "type": "reasoning",
                "summary": summary,
                "encrypted_content": part.encrypted,
            }
            return told | ({"id": part.id} if part.id else {})
        case Opaque() if part.origin == ORIGIN and part.kind != "fields" and isinstance(part.data, dict):
            return dict(part.data)
    return None


def _content(message: Message, part: Any) -> list[dict[str, Any]]:
    if isinstance(part, Text):
        return [{"type": "output_text" if message.role == "assistant" else "input_text", "text": part.text}]
    if isinstance(part, Media) and part.kind == "image" and (part.data or part.url):
        url = part.url or f"data:{part.mime or 'image/png'};base64,{part.data}"
        return [{"type": "input_image", "image_url": url}]
    if isinstance(part, Media):
        return [{"type": "input_text", "text": words((part,))}]
    return []


EXPORTER = Exporter(write, whole=False)
