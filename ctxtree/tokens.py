"""What messages, tools and formats cost: one accounting for plans, payloads and `ctxtree.count`.

A message costs its structure and every part of it: words, calls with their arguments, results, reasoning
and media. The constants are upper bounds of what OpenAI charges for structure (OpenAI cookbook, "How to count
tokens with tiktoken": 3 a message, 1 for a name, 3 for the reply; the role is one token more). Other
providers publish none; the same ones stand in for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, assert_never

from ctxtree.counter import TextCounter, counter_for
from ctxtree.errors import CtxtreeError
from ctxtree.media import family_of, inline_text, media_of, media_tokens
from ctxtree.model import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, spells_object
from ctxtree.plan import Counter

__all__ = [
    "CALL_TOKENS", "ENUM_TOKENS", "MESSAGE_TOKENS", "NAME_TOKENS", "REPLY_TOKENS", "RESULT_TOKENS",
    "SEAL_CHARACTERS", "TOOLS_TOKENS", "TextCounter", "arguments_text", "compact", "count", "counter_for",
    "family_of", "format_tokens", "media_tokens", "message_tokens", "messages_tokens", "part_tokens",
    "tools_tokens",
]  # fmt: skip

MESSAGE_TOKENS = 4
"""Structure of a message: 3, and its role."""

NAME_TOKENS = 1
"""A message's `name`, besides its text."""

REPLY_TOKENS = 3
"""The constant of a request: the start of the reply."""

CALL_TOKENS = 8
"""Structure of a tool call, besides its id, name and arguments."""

RESULT_TOKENS = 4
"""Structure of a tool result, besides its call id and content."""

TOOLS_TOKENS = 12
"""The constant of a list of tools (`func_end` in the cookbook)."""

ENUM_TOKENS = 2
"""Each value of an `enum`, besides its JSON: the cookbook charges 3 a value, the comma in JSON is 1."""

SEAL_CHARACTERS = 5
"""Characters of a signature or of encrypted reasoning that stand for a token.

Base64 holds 3/4 of a byte a character, and reasoning is about 4 bytes a token: 5.3 characters, rounded down.
"""


def part_tokens(part: Part, counter: Counter, family: str = "openai") -> int:
    """Tokens of one part with the structure that is its own."""
    match part:
        case Text():
            return counter(part.text)
        case Reasoning():
            sealed = len(part.signature or "") + len(part.encrypted or "")
            readable = counter(part.text) + sum(counter(line) for line in part.summary)
            return readable + -(-sealed // SEAL_CHARACTERS)
        case ToolCall():
            return CALL_TOKENS + counter(part.id) + counter(part.name) + counter(arguments_text(part))
        case ToolResult():
            held = sum(part_tokens(inner, counter, family) for inner in part.parts)
            return RESULT_TOKENS + counter(part.call_id) + held
        case Media():
            return _media(part, counter, family)
        case Opaque():
            return counter(compact(part.data))
        case _:
            assert_never(part)


def message_tokens(message: Message, counter: Counter, family: str = "openai") -> int:
    """Tokens of a whole message: structure, name and parts. Without content it costs only the rest.

    In `openai` forms each tool result is a message of its own, and is charged as one.
    """
    results = len(message.results)
    others = results < len(message.parts) or not results
    carriers = results + others if family == "openai" else 1
    name = NAME_TOKENS + counter(message.name) if message.name else 0
    held = sum(part_tokens(part, counter, family) for part in message.parts)
    return MESSAGE_TOKENS * carriers + name + held


def messages_tokens(messages: Iterable[Message], counter: Counter, family: str = "openai") -> int:
    """Tokens of a list of messages as one request, `REPLY_TOKENS` included."""
    return REPLY_TOKENS + sum(message_tokens(message, counter, family) for message in messages)


def tools_tokens(tools: Sequence[Mapping[str, Any]], counter: Counter) -> int:
    """Tokens of tool schemas: their compact JSON as sent, and the constant of a list of tools; 0 for none.

    Never below the cookbook's formula (7 a function, 3 for its properties, 3 a property, 3 an enum value, 12
    once, and the texts), which a test computes; OpenAI's own rendering is shorter than JSON.
    """
    return TOOLS_TOKENS + sum(_schema_tokens(tool, counter) for tool in tools) if tools else 0


def format_tokens(response_format: Mapping[str, Any] | None, counter: Counter) -> int:
    """Tokens of a response format, which providers put before the model as a schema; 0 for none."""
    return MESSAGE_TOKENS + _schema_tokens(response_format, counter) if response_format else 0


def arguments_text(call: ToolCall) -> str:
    """The arguments as the JSON text of an object that goes out.

    A string that spells an object goes as it is; an object in compact form, keys in their recorded order.
    Anything else stands under `_raw`. NaN and infinities, which JSON does not know, become strings, and
    unpaired surrogates U+FFFD.
    """
    text = call.arguments
    return text if isinstance(text, str) and spells_object(text) else compact(call.object)


def compact(data: Any) -> str:
    """Valid JSON without spaces, characters as they are, keys in their order; what is no JSON as its text."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, default=str)
    if "NaN" in text or "Infinity" in text:
        data = json.loads(text, parse_constant=str)
        text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return text


def count(
    text_or_messages: str | Message | Mapping[str, Any] | Iterable[Message | Mapping[str, Any]],
    model: str | Callable[[str], int] | None = None,
) -> int:
    """Tokens of a text, of a message, or of a list of messages (with the constant of a request).

    Messages may be `Message` values or dicts in the form of OpenAI Chat, Anthropic or Gemini. `model` is a
    model or encoding name, `estimate`, or a function from text to tokens; o200k_base without it. For Claude
    and Gemini the raw count is multiplied with the counter's factor. Raises `CtxtreeError` for what is none
    of these.
    """
    counter = counter_for(model)
    family = (
        "gemini" if "gemini" in counter.asked.lower() else "anthropic" if counter.factor != 1 else "openai"
    )
    if isinstance(text_or_messages, str):
        raw = counter(text_or_messages)
    elif isinstance(text_or_messages, Message | Mapping):
        raw = message_tokens(_message(text_or_messages), counter, family)
    elif isinstance(text_or_messages, Iterable):
        raw = messages_tokens(map(_message, text_or_messages), counter, family)
    else:
        raise _not_a_message(text_or_messages)
    return raw if counter.factor == 1 else -int(-raw * counter.factor // 1)


def _media(media: Media, counter: Counter, family: str) -> int:
    text = inline_text(media)
    if text is not None:
        return max(1, counter(text))
    return max(media_tokens(media, family), counter(media.transcript) if media.transcript else 0)


def _schema_tokens(schema: Mapping[str, Any], counter: Counter) -> int:
    return counter(compact(schema)) + ENUM_TOKENS * _enum_values(schema)


def _enum_values(schema: Mapping[str, Any]) -> int:
    found, todo = 0, [schema]
    while todo:
        item: Any = todo.pop()
        if isinstance(item, Mapping):
            values = item.get("enum")
            found += len(values) if isinstance(values, list | tuple) else 0
            todo.extend(item.values())
        elif isinstance(item, list | tuple):
            todo.extend(item)
    return found


def _message(given: Message | Mapping[str, Any]) -> Message:
    """A wire message as far as its cost goes; unknown parts are counted by their JSON."""
    if isinstance(given, Message):
        return given
    if not isinstance(given, Mapping):
        raise _not_a_message(given)
    parts = [*_parts(given.get("content", given.get("parts")))]
    for field in ("refusal", "reasoning_content", "reasoning"):
        if isinstance(given.get(field), str):
            parts.append(Text(text=given[field]))
    calls = given.get("tool_calls")
    parts += [_call(call) for call in (calls if isinstance(calls, list | tuple) else ())]
    if isinstance(given.get("function_call"), Mapping):
        parts.append(_call(given))
    identity = given.get("tool_call_id")
    if isinstance(identity, str):
        inner = tuple(part for part in parts if isinstance(part, Text | Media | Opaque))
        parts = [ToolResult(call_id=identity, parts=inner)]
    name = given.get("name")
    return Message(role="user", parts=tuple(parts), name=name if isinstance(name, str) else None)


def _parts(content: Any) -> list[Part]:
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(text=content)]
    if not isinstance(content, list | tuple):
        return [Opaque(origin="", kind="content", data=content)]
    return [_part(item) for item in content]


def _part(item: Any) -> Part:
    if isinstance(item, str):
        return Text(text=item)
    if not isinstance(item, Mapping):
        return Opaque(origin="", kind="part", data=item)
    kind = item.get("type")
    media = media_of(item)
    if media is not None:
        return media
    if kind == "tool_use":
        return _call({"id": item.get("id"), "name": item.get("name"), "arguments": item.get("input")})
    if kind == "tool_result":
        inner = tuple(part for part in _parts(item.get("content")) if isinstance(part, Text | Media | Opaque))
        return ToolResult(call_id=str(item.get("tool_use_id") or ""), parts=inner)
    if kind == "thinking":
        sealed = str(item.get("signature") or "")
        return Reasoning(text=str(item.get("thinking") or ""), signature=sealed or None)
    text = item.get("text", item.get("refusal"))
    return Text(text=text) if isinstance(text, str) else Opaque(origin="", kind=str(kind), data=dict(item))


def _call(call: Any) -> Part:
    if not isinstance(call, Mapping):
        return Opaque(origin="", kind="tool_call", data=call)
    function = call.get("function", call.get("function_call", call))
    if not isinstance(function, Mapping):
        return Opaque(origin="", kind="tool_call", data=dict(call))
    arguments = function.get("arguments")
    return ToolCall(
        id=str(call.get("id") or ""),
        name=str(function.get("name") or ""),
        arguments=arguments if isinstance(arguments, dict | str) else {},
    )


def _not_a_message(given: object) -> CtxtreeError:
    return CtxtreeError(f"cannot count {type(given).__name__}; give a text, a message, or a list of messages")
