"""A chat of llama.cpp's web interface: JSON lines of the whole tree below its own root."""

from __future__ import annotations

from typing import Any

from ctxtree.exporters.tale import Exporter, Step, Tale, arguments, lines, seconds, words
from ctxtree.model import Media, Reasoning, Text


def write(tale: Tale) -> str:
    """The session's line, the root's, then one for each message."""
    root = f"{tale.name}-root"
    children: dict[str, list[str]] = {}
    for step in tale.steps:
        children.setdefault(step.parent or root, []).append(step.id)
    session = {
        "type": "session", "harness": "llama.app", "id": tale.name, "name": tale.name,
        "lastModified": max((_milliseconds(step) or 0 for step in tale.steps), default=0), "currNode": tale.head or "",
    }  # fmt: skip
    first = {
        "id": root, "convId": tale.name, "type": "root", "timestamp": 0, "role": "system", "content": "", "parent": None,
        "children": children.get(root, []),
    }  # fmt: skip
    messages = [_message(step, root, tale.name, children.get(step.id, [])) for step in tale.steps]
    return lines([session, *({"type": "message", "message": one} for one in (first, *messages))])


def _milliseconds(step: Step) -> int | None:
    at = seconds(step.at)
    return None if at is None else round(at * 1000)


def _message(step: Step, root: str, conversation: str, children: list[str]) -> dict[str, Any]:
    message, results = step.message, step.message.results
    role = "system" if step.role == "developer" else step.role
    content = "\n".join(part.text for part in message.parts if isinstance(part, Text))
    made: dict[str, Any] = {
        "id": step.id, "convId": conversation, "type": "system" if role == "system" else "text",
        "timestamp": _milliseconds(step), "role": role, "content": content, "parent": step.parent or root,
        "children": children,
    }  # fmt: skip
    if results:
        made |= {
            "content": "\n".join(words(result.parts) for result in results),
            "toolCallId": results[0].call_id,
        }
    thoughts = [part.text for part in message.parts if isinstance(part, Reasoning) and part.text]
    made |= {"reasoningContent": "\n".join(thoughts)} if thoughts else {}
    if message.calls:
        made["toolCalls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments(call)}}
            for call in message.calls
        ]
    extra = [_extra(part) for part in message.parts if isinstance(part, Media) and part.data]
    made |= {"extra": extra} if extra else {}
    return made | ({"model": step.marks["model"]} if step.marks.get("model") else {})


def _extra(part: Media) -> dict[str, Any]:
    if part.kind == "image":
        return {
            "type": "IMAGE",
            "name": part.name or "image",
            "base64Url": f"data:{part.mime};base64,{part.data}",
        }
    return {"type": "AUDIO", "name": part.name or part.kind, "mimeType": part.mime, "base64Data": part.data}


EXPORTER = Exporter(write, whole=True)
