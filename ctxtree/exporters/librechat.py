"""A LibreChat conversation: all messages, flat, each naming its parent. A call holds what it gave."""

from __future__ import annotations

from typing import Any

from ctxtree.exporters.tale import Exporter, Step, Tale, arguments, stamp, words
from ctxtree.model import Reasoning, Text, ToolCall

ROOT = "00000000-0000-0000-0000-000000000000"


def write(tale: Tale) -> dict[str, Any]:
    """The conversation with all branches. System prompts are no messages there: they are left out."""
    above: dict[str | None, str] = {None: ROOT}
    messages = []
    for step in tale.folded:
        parent = above[step.parent]
        if step.role in ("system", "developer"):
            above[step.id] = parent
            continue
        above[step.id] = step.id
        messages.append(_message(step, parent, tale.name))
    return {
        "conversationId": tale.name, "title": tale.name, "endpoint": "custom", "branches": True, "recursive": False,
        "messages": messages,
    }  # fmt: skip


def _message(step: Step, parent: str, conversation: str) -> dict[str, Any]:
    user = step.role == "user"
    made: dict[str, Any] = {
        "messageId": step.id, "parentMessageId": parent, "conversationId": conversation,
        "sender": "User" if user else str(step.marks.get("model") or "Assistant"), "isCreatedByUser": user,
        "text": words(step.message.parts), "createdAt": stamp(step.at), "model": step.marks.get("model"),
        "unfinished": bool(step.marks.get("incomplete")), "error": step.marks.get("stop") == "error",
    }  # fmt: skip
    if step.message.results:
        made["text"] = "\n".join(words(result.parts) for result in step.message.results)
    content = [] if user else _content(step)
    return made | ({"content": content, "text": ""} if step.message.calls or len(content) > 1 else {})


def _content(step: Step) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    for part in step.message.parts:
        if isinstance(part, Text):
            content.append({"type": "text", "text": part.text})
        elif isinstance(part, Reasoning) and part.text:
            content.append({"type": "think", "think": part.text})
        elif isinstance(part, ToolCall):
            call: dict[str, Any] = {
                "id": part.id,
                "name": part.name,
                "args": arguments(part),
                "type": "tool_call",
            }
            if part.id in step.results:
                call["output"] = words(step.results[part.id].parts)
            content.append({"type": "tool_call", "tool_call": call})
    return content


EXPORTER = Exporter(write, whole=True)
