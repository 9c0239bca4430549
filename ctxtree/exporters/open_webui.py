"""An Open WebUI chat: the map of messages under `history`. Calls and their results are an answer's `output`."""

from __future__ import annotations

from typing import Any

from ctxtree.exporters.tale import Exporter, Step, Tale, arguments, seconds, words


def write(tale: Tale) -> list[dict[str, Any]]:
    """An array with the one chat."""
    messages = {step.id: _message(step) for step in tale.folded}
    for step in tale.folded:
        if step.parent is not None:
            messages[step.parent]["childrenIds"].append(step.id)
    history = {"messages": messages, "currentId": tale.folded_head}
    return [
        {"id": tale.name, "title": tale.name, "chat": {"title": tale.name, "models": [], "history": history}}
    ]


def _message(step: Step) -> dict[str, Any]:
    role = {"developer": "system", "tool": "user"}.get(step.role, step.role)
    text = words(step.message.parts) or "\n".join(words(result.parts) for result in step.message.results)
    made: dict[str, Any] = {
        "id": step.id, "parentId": step.parent, "childrenIds": [], "role": role, "content": text,
        "timestamp": int(seconds(step.at) or 0) or None,
    }  # fmt: skip
    if step.role == "assistant":
        made |= {"done": not step.marks.get("incomplete"), "model": step.marks.get("model")}
        if step.message.calls:
            made["output"] = _output(step, text)
    return made


def _output(step: Step, text: str) -> list[dict[str, Any]]:
    """The items of an answer: its words, then each call and what it gave."""
    items: list[dict[str, Any]] = []
    if text:
        content = [{"type": "output_text", "text": text}]
        items.append({"type": "message", "role": "assistant", "content": content})
    for call in step.message.calls:
        items.append(
            {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments(call)}
        )
    for call in step.message.calls:
        if call.id in step.results:
            output = words(step.results[call.id].parts)
            items.append({"type": "function_call_output", "call_id": call.id, "output": output})
    return items


EXPORTER = Exporter(write, whole=True)
