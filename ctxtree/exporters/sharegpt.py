"""ShareGPT: one conversation of a path. Calls lose their ids, which this format does not have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ctxtree.exporters.tale import Exporter, Tale, words
from ctxtree.model import Node, ToolCall


def write(tale: Tale) -> list[dict[str, Any]]:
    """An array with the one conversation; a system prompt at the start stands beside its turns."""
    spoken = [node for node in tale.path if node.role not in ("state", "note")]
    first = spoken[0] if spoken and spoken[0].role in ("system", "developer") else None
    turns = [turn for node in spoken[1 if first else 0 :] for turn in _turns(node)]
    system = {"system": first.text} if first else {}
    return [{"id": tale.name, **system, "conversations": turns}]


def _turns(node: Node) -> Iterator[dict[str, str]]:
    message = node.message
    for result in message.results:
        yield {"from": "observation", "value": words(result.parts)}
    text = words(message.parts)
    who = {"assistant": "gpt", "user": "human", "system": "system", "developer": "system"}.get(message.role)
    if who and (text or not message.calls):
        yield {"from": who, "value": text}
    calls = [_call(call) for call in message.calls]
    if calls:
        yield {
            "from": "function_call",
            "value": json.dumps(calls if len(calls) > 1 else calls[0], ensure_ascii=False),
        }


def _call(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": call.object}


EXPORTER = Exporter(write, whole=False)
