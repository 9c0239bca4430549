"""Anthropic Messages: a list of messages, or `{"system", "messages"}`; JSON or JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxtree.importers.base import Conversation, Format, Sample
from ctxtree.importers.files import Source
from ctxtree.importers.lists import Shape, holds_tree, read_lists
from ctxtree.importers.wire import WIRE
from ctxtree.importers.wire.parts import parts_of, string
from ctxtree.model import Message

BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "document", "server_tool_use"}
)


def fits(sample: Sample) -> bool:
    """A `system` beside the messages, or a block that only this API has."""
    if any(map(holds_tree, sample.records)):
        return False
    return any(
        _is_message(record)
        or (
            isinstance(held := record.get("messages"), list)
            and ("system" in record or any(map(_is_message, held)))
        )
        for record in sample.records
    )


def _is_message(record: Any) -> bool:
    if not isinstance(record, Mapping) or record.get("role") not in ("user", "assistant"):
        return False
    content = record.get("content")
    return isinstance(content, list) and any(
        isinstance(block, Mapping) and (string(block.get("type")) in BLOCKS or "source" in block)
        for block in content
    )


def _system(record: Mapping[str, Any]) -> tuple[Message, ...]:
    parts = parts_of(record.get("system"), "anthropic")
    return (Message(role="system", parts=parts),) if parts else ()


SHAPE = Shape(keys=("messages",), reader=WIRE["anthropic"], prelude=_system)


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each list of messages as one conversation; a `system` comes first as a system message."""
    return read_lists(source, strict, SHAPE)


FORMAT = Format(
    "Anthropic messages: list or object with `system` and `messages`, JSON or JSON lines", fits, read
)
