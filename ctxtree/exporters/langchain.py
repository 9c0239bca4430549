"""LangChain messages of a path, in the spelling of `messages_to_dict`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxtree.exporters.tale import Exporter, Tale, words
from ctxtree.model import Media, Node, Part, Text, ToolCall

KINDS = {"system": "system", "developer": "system", "user": "human", "assistant": "ai", "note": "human"}


def write(tale: Tale) -> list[dict[str, Any]]:
    """The messages, in order; each result is a tool message of its own."""
    return [one for node in tale.path if node.role != "state" for one in _messages(node)]


def _messages(node: Node) -> Iterator[dict[str, Any]]:
    message = node.message
    for number, result in enumerate(message.results, 1):
        own = node.id if number == 1 else f"{node.id}.{number}"
        status = "error" if result.error else "success"
        held: dict[str, Any] = {"tool_call_id": result.call_id, "status": status, "artifact": None}
        yield _one("tool", own, words(result.parts), result.name, held)
    kind = KINDS.get(message.role)
    if kind is None:
        return
    held = {}
    if kind == "ai":
        calls = [_call(call) for call in message.calls]
        held = {"tool_calls": calls, "invalid_tool_calls": [], "usage_metadata": None}
    yield _one(kind, node.id, _content(message.parts), message.name, held)


def _one(kind: str, own: str, content: Any, name: str | None, held: dict[str, Any]) -> dict[str, Any]:
    data = {
        "content": content,
        "additional_kwargs": {},
        "response_metadata": {},
        "type": kind,
        "name": name,
        "id": own,
    }
    return {"type": kind, "data": {**data, **held}}


def _call(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "args": call.object, "id": call.id, "type": "tool_call"}


def _content(parts: tuple[Part, ...]) -> Any:
    shown = [part for part in parts if isinstance(part, Text | Media)]
    if all(isinstance(part, Text) for part in shown):
        return shown[0].text if len(shown) == 1 and isinstance(shown[0], Text) else [
            {"type": "text", "text": part.text} for part in shown if isinstance(part, Text)
        ] or ""  # fmt: skip
    return [_block(part) for part in shown]


def _block(part: Text | Media) -> dict[str, Any]:
    if isinstance(part, Media) and part.kind == "image" and (part.data or part.url):
        url = part.url or f"data:{part.mime or 'image/png'};base64,{part.data}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": words((part,))}


EXPORTER = Exporter(write, whole=False)
