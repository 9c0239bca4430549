"""What stands beside a message in an API's record, and how a message is divided by roles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ctxtree.importers.moments import moment
from ctxtree.model import Message, Opaque, Part, Role, ToolResult

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}

BESIDE = frozenset({
    "id", "parent", "parentId", "timestamp", "created_at", "created", "model", "usage", "stop_reason",
    "stop_sequence", "stop_details", "finish_reason", "weight", "pin", "meta", "status", "type", "object",
    "container", "cache_control", "context_management", "context", "logprobs",
})  # fmt: skip
"""Fields of a record that say something about a message and are no part of it."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A message, its marks, the record's own fields that remain, and `fault`, a code if it is damaged."""

    message: Message
    marks: tuple[tuple[str, Any], ...] = ()
    created_at: datetime | None = None
    fields: Mapping[str, Any] | None = None
    fault: str = ""


def divide(item: Mapping[str, Any], role: Any, parts: Iterable[Part], name: str | None) -> Iterator[Parsed]:
    """The messages of one record: tool results of a user go into a `tool` message of their own, first.

    A role that is not known gives a hidden note with the fault `unknown_role`.
    """
    held = tuple(parts)
    known = ROLES.get(role) if isinstance(role, str) else None
    base = beside(item)
    if known is None:
        note = replace(base, message=Message(role="note", parts=held, name=name), fault="unknown_role")
        yield replace(note, marks=(*base.marks, ("hidden", True)))
        return
    results = tuple(part for part in held if isinstance(part, ToolResult))
    rest = tuple(part for part in held if not isinstance(part, ToolResult))
    if results and known in ("user", "tool"):
        yield replace(base, message=Message(role="tool", parts=results))
        said = tuple(part for part in rest if not (isinstance(part, Opaque) and part.kind == "fields"))
        if not said:
            return
        held, known = rest, "user"
    yield replace(base, message=Message(role=known, parts=held, name=name))


def beside(item: Mapping[str, Any]) -> Parsed:
    """The marks that a record gives, with an empty message to be replaced."""
    stop = item.get("stop_reason") or item.get("finish_reason")
    given = (
        ("model", item.get("model")),
        ("usage", item.get("usage")),
        ("stop", stop),
        ("pin", item.get("pin")),
    )
    marked = {"model", "usage", "stop_reason", "finish_reason", "pin", "type", "timestamp", "created_at"}
    fields = {
        key: value
        for key, value in item.items()
        if key in BESIDE and key not in marked and value not in (None, [], {})
    }
    at = item.get("timestamp") or item.get("created_at") or item.get("created")
    return Parsed(
        message=Message(role="user"),
        marks=tuple((mark, value) for mark, value in given if value),
        created_at=moment(at),
        fields=fields,
    )


def unknown_fields(item: Mapping[str, Any], known: frozenset[str], origin: str) -> tuple[Opaque, ...]:
    """The fields of the message itself that nobody here knows, as one part; empty ones say nothing."""
    left = {
        key: value
        for key, value in item.items()
        if key not in known and key not in BESIDE and value not in (None, [], {})
    }
    return (Opaque(origin=origin, kind="fields", data=left),) if left else ()
