"""What callers say, in the many shapes in which they say it, as messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ctxtree.errors import FormatError
from ctxtree.importers import messages_from
from ctxtree.model import Media, Message, Opaque, Part, Text, ToolCall, ToolResult, clean


def message_of(given: Message | Mapping[str, Any]) -> Message:
    """A message, or a dict in OpenAI Chat form; what no text may hold is taken out."""
    if isinstance(given, Message):
        held, removed = clean(json.loads(given.canonical))
        return Message.model_validate_json(json.dumps(held)) if removed else given
    (message,) = messages_from([given], "openai.chat")
    return message


def messages_of(given: Sequence[Any], format: str) -> list[Message]:
    """Messages, and dicts in the form of an API."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise FormatError("messages", 0, f"a {type(given).__name__}; it must be a list of messages")
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
    if not isinstance(content, Sequence):
        raise FormatError("content", 0, f"a {type(content).__name__}; it must be a text or a list of parts")
    ready = [part for part in content if isinstance(part, Text | Media | ToolCall | ToolResult)]
    if len(ready) == len(content):
        return tuple(ready)
    (message,) = messages_from([{"role": "user", "content": list(content)}], "openai.chat")
    return message.parts


def result_of(call_id: str, content: str | Sequence[Any] | None, error: bool, name: str | None) -> ToolResult:
    """A tool's result of a text or of parts."""
    parts = parts_of(content)
    if not isinstance(call_id, str) or not all(isinstance(part, Text | Media | Opaque) for part in parts):
        kinds = ", ".join(dict.fromkeys(part.type for part in parts))
        raise FormatError(
            "result", 0, f"a result needs a call id and texts or media, not {ascii(call_id)[:40]} and {kinds}"
        )
    held = tuple(part for part in parts if isinstance(part, Text | Media | Opaque))
    return ToolResult(call_id=clean(call_id)[0], parts=held, error=bool(error), name=name)


def patch_text(given: Any) -> str:
    """A merge patch as the text of its node. Raises `FormatError` for what JSON cannot hold."""
    try:
        return json.dumps(object_of(given, "state"), ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as problem:
        raise FormatError("state", 0, str(problem)) from None


def objects_of(given: Any, what: str) -> tuple[dict[str, Any], ...]:
    """Tools or the like as plain objects that JSON can hold. Raises `FormatError` with the place of what is none."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise FormatError(what, 0, f"a {type(given).__name__}; it must be a list of objects")
    return tuple(object_of(one, what, number) for number, one in enumerate(given, 1))


def object_of(given: Any, what: str, number: int = 0) -> dict[str, Any]:
    """One such object."""
    if not isinstance(given, Mapping):
        raise FormatError(what, number, f"a {type(given).__name__}; it must be an object")
    held = dict(given)
    return held if _is_plain(held) else dict(clean(held)[0])


def _is_plain(value: Any) -> bool:
    """True if JSON holds the value as it is; a guess for the quick way, never wrong with True."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return not any(sign in text for sign in ("\\ud", "NaN", "Infinity"))
