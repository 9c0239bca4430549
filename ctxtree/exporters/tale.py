"""What an exporter is given: the tree as steps that other programs know."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ctxtree.model import Media, Message, Node, Part, Text, ToolCall, ToolResult

SILENT = frozenset({"state", "note"})
"""Roles that other programs do not know; what hangs on them hangs on what is above."""


@dataclass(frozen=True, slots=True)
class Step:
    """A message on its way out. `results` answer its calls, where nothing branches off between.

    `parent` is the step above; `marks` are the newest of each name.
    """

    id: str
    parent: str | None
    message: Message
    at: datetime | None
    marks: Mapping[str, Any] = field(default_factory=dict)
    results: Mapping[str, ToolResult] = field(default_factory=dict)

    @property
    def role(self) -> str:
        return self.message.role

    @property
    def hidden(self) -> bool:
        return bool(self.marks.get("hidden"))


@dataclass(frozen=True, slots=True)
class Tale:
    """A tree to be written: its steps, parents first, and the step of the active leaf.

    `steps` has a step for each message; `folded` puts results with their calls. `path` leads to the place asked for.
    """

    name: str
    steps: Sequence[Step]
    folded: Sequence[Step]
    head: str | None
    folded_head: str | None
    path: Sequence[Node]


@dataclass(frozen=True, slots=True)
class Exporter:
    """How a format is written: as data for one JSON document, or as text. `whole`: it holds a tree."""

    write: Callable[[Tale], Any]
    whole: bool


def tale(
    name: str, nodes: Iterable[Node], marks: Mapping[str, Mapping[str, Any]], path: Sequence[Node]
) -> Tale:
    """The tale of a tree; `path` is that to its active leaf. Memory: the whole tree."""
    steps: list[Step] = []
    place: dict[str, str | None] = {}
    for node in nodes:
        above = place[node.parent] if node.parent is not None else None
        if node.role in SILENT:
            place[node.id] = above
            continue
        place[node.id] = node.id
        steps.append(Step(node.id, above, node.message, node.created_at, marks.get(node.id, {})))
    head = place[path[-1].id] if path else None
    folded, into = _folded(steps)
    return Tale(name, steps, folded, head, into.get(head, head) if head else None, path)


def _folded(steps: Sequence[Step]) -> tuple[list[Step], dict[str, str]]:
    """Steps with their results, and for each result that was put away the step that holds it."""
    children: dict[str | None, int] = {}
    for step in steps:
        children[step.parent] = children.get(step.parent, 0) + 1
    into: dict[str, str] = {}
    held: dict[str, Step] = {}
    for step in steps:
        parent = into.get(step.parent, step.parent) if step.parent is not None else None
        caller = held.get(parent) if parent is not None else None
        results = step.message.results
        alone = children[step.parent] == 1 and len(results) == len(step.message.parts) > 0
        open_calls = {call.id for call in caller.message.calls} - caller.results.keys() if caller else set()
        if caller and alone and {result.call_id for result in results} <= open_calls:
            told = {**caller.results, **{result.call_id: result for result in results}}
            held[caller.id] = Step(caller.id, caller.parent, caller.message, caller.at, caller.marks, told)
            into[step.id] = caller.id
        else:
            held[step.id] = Step(step.id, parent, step.message, step.at, step.marks)
    return list(held.values()), into


def words(parts: Iterable[Part]) -> str:
    """The texts of parts, and of media what can be said of them."""
    told = [
        part.text
        if isinstance(part, Text)
        else part.transcript or f"[{part.kind} {part.mime}]".replace(" ]", "]")
        for part in parts
        if isinstance(part, Text | Media)
    ]
    return "\n".join(told)


def arguments(call: ToolCall) -> str:
    """The arguments of a call as the JSON text that APIs take."""
    held = call.arguments
    return held if isinstance(held, str) else json.dumps(held, ensure_ascii=False)


def seconds(at: datetime | None) -> float | None:
    return at.timestamp() if at is not None else None


def stamp(at: datetime | None) -> str | None:
    """ISO 8601 with milliseconds and Z, as JavaScript writes it."""
    if at is None:
        return None
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lines(records: Iterable[Any]) -> str:
    """JSON lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
