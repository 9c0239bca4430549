"""A pi session: JSON lines of the whole tree, with labels, and the leaf as the last entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxtree.exporters.tale import Exporter, Step, Tale, lines, stamp, words
from ctxtree.model import Media, Message, Part, Reasoning, Text, ToolCall

SHORT = 16
"""Digits of a node's id that its entry gets."""


def write(tale: Tale) -> str:
    """The header, an entry for each message, labels, and where the session stands."""
    ids = {step.id: step.id[:SHORT] for step in tale.steps}
    records: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": tale.name, "timestamp": _first(tale), "cwd": ""}
    ]
    last: str | None = None
    for step in tale.steps:
        parent = ids[step.parent] if step.parent is not None else None
        for entry in _entries(step, ids[step.id], parent):
            records.append(entry)
            last = entry["id"]
        ids[step.id] = str(last)
    for number, step in enumerate((one for one in tale.steps if one.marks.get("label")), 1):
        entry = {"type": "label", "id": f"label-{number}", "parentId": last, "timestamp": stamp(step.at)}
        records.append({**entry, "targetId": ids[step.id], "label": step.marks["label"]})
    if tale.head is not None:
        leaf = {"type": "leaf", "id": "leaf", "parentId": last, "timestamp": None}
        records.append({**leaf, "entryId": ids[tale.head]})
    return lines(records)


def _first(tale: Tale) -> str | None:
    return next((stamp(step.at) for step in tale.steps if step.at is not None), None)


def _entries(step: Step, own: str, parent: str | None) -> Iterator[dict[str, Any]]:
    """An entry for the message, or one for each result and one for words beside them."""
    bodies = list(_bodies(step))
    for number, body in enumerate(bodies, 1):
        name = own if number == 1 else f"{own}.{number}"
        yield {
            "type": "message",
            "id": name,
            "parentId": parent,
            "timestamp": stamp(step.at),
            "message": body,
        }
        parent = name


def _bodies(step: Step) -> Iterator[dict[str, Any]]:
    message = step.message
    for result in message.results:
        content = [block for part in result.parts for block in _block(part)]
        yield {
            "role": "toolResult", "toolCallId": result.call_id, "toolName": result.name or "", "content": content,
            "isError": result.error,
        }  # fmt: skip
    content = [block for part in message.parts for block in _block(part)]
    if not content and message.results:
        return
    body: dict[str, Any] = {"role": "user" if message.role == "tool" else message.role, "content": content}
    if message.role == "assistant":
        body |= _beside(step, message)
    yield body


def _beside(step: Step, message: Message) -> dict[str, Any]:
    stop = step.marks.get("stop") or ("toolUse" if message.calls else "stop")
    given = {"model": step.marks.get("model"), "usage": step.marks.get("usage"), "stopReason": stop}
    return {name: value for name, value in given.items() if value}


def _block(part: Part) -> Iterator[dict[str, Any]]:
    match part:
        case Text():
            yield {"type": "text", "text": part.text}
        case Reasoning() if part.text:
            signature = {"thinkingSignature": part.signature} if part.signature else {}
            yield {"type": "thinking", "thinking": part.text, **signature}
        case ToolCall():
            yield {"type": "toolCall", "id": part.id, "name": part.name, "arguments": part.object}
        case Media() if part.kind == "image" and part.data:
            yield {"type": "image", "data": part.data, "mimeType": part.mime}
        case Media():
            yield {"type": "text", "text": words((part,))}


EXPORTER = Exporter(write, whole=True)
