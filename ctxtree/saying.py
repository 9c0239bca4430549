"""What callers say, in the many shapes in which they say it, as messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ctxtree.importers import messages_from
from ctxtree.model import Media, Message, Part, Text, ToolCall, ToolResult, clean


def message_of(given: Message | Mapping[str, Any]) -> Message:
    """A message, or a dict in OpenAI Chat form; what no text may hold is taken out."""
    if isinstance(given, Message):
        held, removed = clean(json.loads(given.canonical))
        return Message.model_validate_json(json.dumps(held)) if removed else given
    (message,) = messages_from([given], "openai.chat")
    return message


def messages_of(given: Sequence[Any], format: str) -> list[Message]:
    """Messages, and dicts in the form of an API."""
    read: list[Message] = []
    for one in given:
        read += [message_of(one)] if isinstance(one, Message) else messages_from([one], format)
    return read


def parts_of(content: str | Sequence[Any] | None) -> tuple[Part, ...]:
    """A text, parts, or content blocks in OpenAI Chat form."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(text=clean(content)[0]),)
    ready = [part for part in content if isinstance(part, Text | Media | ToolCall | ToolResult)]
    if len(ready) == len(content):
        return tuple(ready)
    (message,) = messages_from([{"role": "user", "content": list(content)}], "openai.chat")
    return message.parts
