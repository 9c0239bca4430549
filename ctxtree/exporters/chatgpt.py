"""A ChatGPT conversation: the mapping of the whole tree. A call is a message to a tool, its result hangs below it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxtree.exporters.tale import Exporter, Step, Tale, arguments, seconds, words
from ctxtree.model import ToolResult

ROOT = "client-created-root"


def write(tale: Tale) -> list[dict[str, Any]]:
    """An array with the one conversation, as `conversations.json` has it."""
    mapping: dict[str, dict[str, Any]] = {ROOT: {"id": ROOT, "message": None, "parent": None, "children": []}}
    ends: dict[str, str] = {}
    for step in tale.folded:
        parent = ends[step.parent] if step.parent is not None else ROOT
        for name, message in _messages(step):
            mapping[name] = {"id": name, "message": message, "parent": parent, "children": []}
            mapping[parent]["children"].append(name)
            parent = name
        ends[step.id] = parent
    times = [at for step in tale.folded if (at := seconds(step.at)) is not None]
    head = ends[tale.folded_head] if tale.folded_head is not None else ROOT
    return [
        {
            "title": tale.name, "create_time": min(times, default=None), "update_time": max(times, default=None),
            "mapping": mapping, "current_node": head, "conversation_id": tale.name, "id": tale.name,
        }
    ]  # fmt: skip


def _messages(step: Step) -> Iterator[tuple[str, dict[str, Any]]]:
    """The words, then each call with its result below it."""
    text = words(step.message.parts)
    results = step.message.results
    if text or not (step.message.calls or results):
        role = "system" if step.role == "developer" else step.role
        yield step.id, _message(step, role, {"content_type": "text", "parts": [text]})
    for number, result in enumerate(results, 1):
        yield f"{step.id}.{number}", _result(step, result)
    for number, call in enumerate(step.message.calls, 1):
        name = f"{step.id}.call.{number}"
        content = {"content_type": "code", "language": "json", "text": arguments(call)}
        yield name, _message(step, "assistant", content, recipient=call.name)
        if call.id in step.results:
            yield f"{name}.result", _result(step, step.results[call.id])


def _result(step: Step, result: ToolResult) -> dict[str, Any]:
    kind = "system_error" if result.error else "execution_output"
    return _message(step, "tool", {"content_type": kind, "text": words(result.parts)}, name=result.name)


def _message(
    step: Step, role: str, content: dict[str, Any], recipient: str = "all", name: str | None = None
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"is_visually_hidden_from_conversation": True} if step.hidden else {}
    if step.marks.get("model") and role == "assistant":
        metadata["model_slug"] = step.marks["model"]
    return {
        "author": {"role": role, "name": name, "metadata": {}}, "create_time": seconds(step.at), "content": content,
        "status": "in_progress" if step.marks.get("incomplete") else "finished_successfully", "weight": 1.0,
        "metadata": metadata, "recipient": recipient,
    }  # fmt: skip


EXPORTER = Exporter(write, whole=True)
