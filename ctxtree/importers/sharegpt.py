"""ShareGPT: `{"conversations": [{"from", "value"}]}`, an array or JSON lines of it. Always linear.

Calls have no ids: a `function_call` and the `observation` after it get one from their place. An observation
without a call is kept as what the user passed on, and reported; so is a role that nobody knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxtree.importers.base import Conversation, Format, Sample
from ctxtree.importers.files import Source
from ctxtree.importers.lists import Shape, read_lists
from ctxtree.importers.wire.parsed import Parsed, beside
from ctxtree.importers.wire.parts import parts_of
from ctxtree.model import Message, Part, Role, Text, ToolCall, ToolResult

SPEAKERS: Mapping[str, Role] = {
    "system": "system",
    "human": "user",
    "user": "user",
    "prompter": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "chatgpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
}
CALLS = frozenset({"function_call", "function-call", "tool_call"})
RESULTS = frozenset({"observation", "tool", "tool_response", "function_response", "function-response"})


def fits(sample: Sample) -> bool:
    """A `conversations` list whose entries say who speaks and what."""
    return any(
        isinstance(held := record.get("conversations"), list) and any(map(_is_turn, held))
        for record in sample.records
    )


def _is_turn(turn: Any) -> bool:
    return isinstance(turn, Mapping) and _speaker(turn) is not None and _words(turn) is not None


def _speaker(turn: Mapping[str, Any]) -> str | None:
    held = turn.get("from", turn.get("role"))
    return held.strip().lower() if isinstance(held, str) else None


def _words(turn: Mapping[str, Any]) -> Any:
    return next((turn[name] for name in ("value", "content", "text") if turn.get(name) is not None), None)


def parse(items: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, Parsed]]:
    """A message for each turn. `open_calls` are the ids of calls that no observation has answered."""
    open_calls: list[str] = []
    for index, turn in enumerate(items):
        speaker, words = _speaker(turn), _words(turn)
        base = beside({name: turn[name] for name in ("id", "weight", "model") if name in turn})
        if speaker in CALLS:
            parts, open_calls = _calls(words, index)
            yield index, replace(base, message=Message(role="assistant", parts=parts))
        elif speaker in RESULTS and open_calls:
            content = tuple(part for part in parts_of(words, "sharegpt") if isinstance(part, Text))
            result = ToolResult(call_id=open_calls.pop(0), parts=content)
            yield index, replace(base, message=Message(role="tool", parts=(result,)))
        elif speaker in RESULTS:
            quoted = Message(role="user", parts=parts_of(words, "sharegpt"))
            yield index, replace(base, message=quoted, fault="orphan_result", fields={"from": speaker})
        else:
            open_calls = []
            yield index, _spoken(base, speaker, words)


def _spoken(base: Parsed, speaker: str | None, words: Any) -> Parsed:
    role = SPEAKERS.get(speaker or "")
    parts = parts_of(words, "sharegpt")
    if role is not None:
        return replace(base, message=Message(role=role, parts=parts))
    marks = (*base.marks, ("hidden", True))
    fields = {"from": speaker}
    return replace(
        base, message=Message(role="note", parts=parts), marks=marks, fields=fields, fault="unknown_role"
    )


def _calls(words: Any, index: int) -> tuple[tuple[Part, ...], list[str]]:
    """The calls of one turn, a JSON object or a list of them, and their ids; other text stays text."""
    try:
        held = json.loads(words) if isinstance(words, str) else words
    except (ValueError, RecursionError):
        held = None
    listed = held if isinstance(held, list) else [held]
    calls = [call for call in listed if isinstance(call, Mapping) and isinstance(call.get("name"), str)]
    if not calls or len(calls) != len(listed):
        return parts_of(words, "sharegpt"), []
    ids = [f"call_{index + 1}_{number}" for number in range(1, len(calls) + 1)]
    made = [
        ToolCall(id=name, name=call["name"], arguments=_arguments(call))
        for name, call in zip(ids, calls, strict=True)
    ]
    return tuple(made), ids


def _arguments(call: Mapping[str, Any]) -> dict[str, Any] | str:
    held = call.get("arguments", call.get("parameters", {}))
    if isinstance(held, dict | str):
        return held
    return {} if held is None else json.dumps(held, ensure_ascii=False)


def _system(record: Mapping[str, Any]) -> tuple[Message, ...]:
    text = record.get("system")
    return (Message.of("system", text),) if isinstance(text, str) and text else ()


SHAPE = Shape(keys=("conversations",), reader=parse, prelude=_system)


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each entry as one conversation, named by its `id`, or the file and a number; `tools` in its `meta`."""
    return read_lists(source, strict, SHAPE)


FORMAT = Format("ShareGPT: conversations of from and value, JSON or JSON lines", fits, read)
