"""OpenAI Chat: an array of messages, `{"messages": [...]}`, JSON lines of either."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxtree.importers.base import Conversation, Format, Sample
from ctxtree.importers.files import Source
from ctxtree.importers.lists import Shape, holds_tree, read_lists
from ctxtree.importers.wire import WIRE

SHAPE = Shape(keys=("messages",), reader=WIRE["openai.chat"])


def fits(sample: Sample) -> bool:
    """Any list whose entries have a `role`, or any `messages`: the plainest form, asked last."""
    if any(map(holds_tree, sample.records)):
        return False
    return any(_is_message(record) or _holds_messages(record) for record in sample.records)


def _is_message(record: Any) -> bool:
    return isinstance(record, Mapping) and isinstance(record.get("role"), str)


def _holds_messages(record: Mapping[str, Any]) -> bool:
    held = record.get("messages")
    return isinstance(held, list) and (not held or any(map(_is_message, held)))


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each list of messages as one conversation, named by its `id`, or the file and a number."""
    return read_lists(source, strict, SHAPE)


FORMAT = Format("OpenAI Chat messages: JSON array, object with `messages`, or JSON lines", fits, read)
