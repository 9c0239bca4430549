"""OpenAI Responses: a list of items, or a request body with `input` and `instructions`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxtree.importers.base import Conversation, Format, Sample
from ctxtree.importers.files import Source
from ctxtree.importers.lists import Shape, read_lists
from ctxtree.importers.wire import WIRE
from ctxtree.importers.wire.parts import string
from ctxtree.importers.wire.responses import system_of
from ctxtree.model import Message

ITEMS = frozenset({
    "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "item_reference",
    "web_search_call", "mcp_call", "computer_call",
})  # fmt: skip
PARTS = frozenset({"input_text", "output_text", "input_image", "input_file"})


def fits(sample: Sample) -> bool:
    """An item type or a content type that only this API has."""
    return any(
        _is_item(record) or (isinstance(held := record.get("input"), list) and any(map(_is_item, held)))
        for record in sample.records
    )


def _is_item(record: Any) -> bool:
    if not isinstance(record, Mapping):
        return False
    if string(record.get("type")) in ITEMS or (record.get("type") == "reasoning" and "summary" in record):
        return True
    content = record.get("content")
    return (
        "role" in record
        and isinstance(content, list)
        and any(isinstance(part, Mapping) and string(part.get("type")) in PARTS for part in content)
    )


def _instructions(record: Mapping[str, Any]) -> tuple[Message, ...]:
    message = system_of(record.get("instructions"))
    return (message,) if message else ()


SHAPE = Shape(keys=("input", "items", "output"), reader=WIRE["openai.responses"], prelude=_instructions)


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each list of items as one conversation; the items of one answer are one message."""
    return read_lists(source, strict, SHAPE)


FORMAT = Format("OpenAI Responses items: list, or request with `input`", fits, read)
