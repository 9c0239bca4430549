"""A recorded history as plain messages, as it came: no budget, no repairs, unknown fields included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

from ctxtree.model import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from ctxtree.render.attach import data_url, mime
from ctxtree.render.dialects import SOUNDS
from ctxtree.tokens import compact

Format = Literal["openai.chat", "anthropic"]
Json: TypeAlias = dict[str, Any]


def plain(messages: Sequence[Message], format: Format) -> list[Json] | Json:
    """A list of messages; for `anthropic` a mapping with `system` and `messages`.

    State patches are left out, and so are parts of another provider that the format cannot spell,
    but for their type. Reading the result back gives the messages again where they came from this
    format.
    """
    spoken = [message for message in messages if message.role != "state"]
    if format == "openai.chat":
        return [one for message in spoken for one in _chat(message)]
    leading = next(
        (at for at, one in enumerate(spoken) if one.role not in ("system", "developer")), len(spoken)
    )
    system = [part for message in spoken[:leading] for part in message.parts]
    turns = {"messages": [_turn(message) for message in spoken[leading:]]}
    return {"system": _content(system, _block), **turns} if system else turns


def _chat(message: Message) -> Iterable[Json]:
    for result in message.results:
        name = {"name": result.name} if result.name else {}
        error = {"is_error": True} if result.error else {}
        content = _content(result.parts, _chat_part)
        yield {"role": "tool", "tool_call_id": result.call_id, **name, "content": content, **error}
    beside = [part for part in message.parts if not isinstance(part, ToolResult)]
    if beside or not message.results:
        yield _spoken(message, beside)


def _spoken(message: Message, parts: Sequence[Part]) -> Json:
    role = "user" if message.role == "note" else message.role
    if role == "tool" and message.results:
        role = "user"
    record: Json = {"role": role, **({"name": message.name} if message.name else {})}
    record["content"] = _content([part for part in parts if not _stands_beside(part)], _chat_part)
    thoughts = [part.text for part in parts if isinstance(part, Reasoning) and _stands_beside(part)]
    if thoughts:
        record["reasoning_content"] = "\n\n".join(thoughts)
    calls = [_chat_call(part) for part in parts if isinstance(part, ToolCall) and not _old(part)]
    calls += [part.data for part in parts if isinstance(part, Opaque) and part.kind == "tool_call"]
    if calls:
        record["tool_calls"] = calls
    for part in parts:
        if isinstance(part, ToolCall) and _old(part):
            record["function_call"] = {"name": part.name, "arguments": _argument_text(part)}
        elif isinstance(part, Opaque) and part.kind in ("fields", "refusal") and isinstance(part.data, dict):
            record |= {
                key: value for key, value in part.data.items() if key != "type" or part.kind == "fields"
            }
    return record


def _stands_beside(part: Part) -> bool:
    """True for what is a field of a chat message and no part of its content."""
    match part:
        case ToolCall():
            return True
        case Opaque(kind=kind):
            return kind in ("fields", "refusal", "tool_call")
        case Reasoning():
            return not part.sealed and part.origin in (None, "openai.chat")
        case _:
            return False


def _old(call: ToolCall) -> bool:
    return call.extra.get("type") == "function_call"


def _chat_call(call: ToolCall) -> Json:
    extra = {key: value for key, value in call.extra.items() if key != "type"}
    if call.extra.get("type") == "custom":
        return {
            "id": call.id, "type": "custom",
            "custom": {"name": call.name, "input": call.arguments}, **extra,
        }  # fmt: skip
    function = {"name": call.name, "arguments": _argument_text(call)}
    return {"id": call.id, "type": "function", "function": function, **extra}


def _argument_text(call: ToolCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else compact(call.arguments)


def _content(parts: Sequence[Part], write: Callable[[Part], Json]) -> Any:
    """None for no parts, a string for one text, else a list."""
    if not parts:
        return None
    only = parts[0]
    return only.text if len(parts) == 1 and isinstance(only, Text) else [write(part) for part in parts]


def _chat_part(part: Part) -> Json:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Reasoning() | ToolCall() | ToolResult():
            return _block(part)
        case Opaque():
            return _raw(part)
        case Media(kind="image"):
            return _image(part)
        case Media(kind="audio"):
            return _audio(part)
        case Media():
            held, name = data_url(part), {"filename": part.name} if part.name else {}
            place = (
                {"file_data": held}
                if held
                else {"file_id": part.file_id}
                if part.file_id
                else {"file_url": part.url}
            )
            return {"type": "file", "file": {**place, **name}}


def _image(part: Media) -> Json:
    detail = {"detail": part.detail} if part.detail else {}
    url = data_url(part) or part.url
    if part.width is not None or part.height is not None or not (url or part.file_id):
        known = {
            "mime": part.mime,
            "data": part.data,
            "url": part.url,
            "width": part.width,
            "height": part.height,
        }
        return {"type": "image", **{key: value for key, value in known.items() if value}}
    if url:
        return {"type": "image_url", "image_url": {"url": url, **detail}}
    return {"type": "image_url", "file_id": part.file_id, **detail}


def _audio(part: Media) -> Json:
    form = part.mime.removeprefix("audio/") or SOUNDS.get(mime(part), "")
    known = {"id": part.file_id, "data": part.data, "format": form}
    audio = {key: value for key, value in known.items() if value}
    kind, key = ("output_audio", "audio") if part.file_id else ("input_audio", "input_audio")
    told = {"transcript": part.transcript} if part.transcript else {}
    return {"type": kind, key: audio or None, **told}


def _turn(message: Message) -> Json:
    role = "user" if message.role in ("tool", "note") else message.role
    fields: Json = {}
    for part in message.parts:
        if isinstance(part, Opaque) and part.kind == "fields" and isinstance(part.data, dict):
            fields |= part.data
    parts = [part for part in message.parts if not (isinstance(part, Opaque) and part.kind == "fields")]
    content = _content(parts, _block)
    return {"role": role, "content": [] if content is None else content, **fields}


def _block(part: Part) -> Json:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case ToolCall():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": part.object, **part.extra}
        case ToolResult():
            content = _content(part.parts, _block)
            held = {} if content is None else {"content": content}
            error = {"is_error": True} if part.error else {}
            return {"type": "tool_result", "tool_use_id": part.call_id, **held, **error}
        case Reasoning():
            return _thought(part)
        case Opaque():
            return _raw(part)
        case Media():
            title = {"title": part.name} if part.name else {}
            kind = "image" if part.kind == "image" else "document"
            source = _source(part)
            return {"type": kind, "source": source, **title} if source else _chat_part(part)


def _thought(part: Reasoning) -> Json:
    if part.encrypted and part.origin == "anthropic":
        return {"type": "redacted_thinking", "data": part.encrypted}
    if part.encrypted or part.summary:
        summary = [{"type": "summary_text", "text": line} for line in part.summary]
        identity = {"id": part.id} if part.id else {}
        return {"type": "reasoning", **identity, "summary": summary, "encrypted_content": part.encrypted}
    signature = {"signature": part.signature} if part.signature else {}
    return {"type": "thinking", "thinking": part.text, **signature}


def _source(part: Media) -> Json | None:
    if part.kind == "audio":
        return None
    if part.data:
        return {"type": "base64", "media_type": mime(part), "data": part.data}
    if part.url:
        return {"type": "url", "url": part.url}
    return {"type": "file", "file_id": part.file_id} if part.file_id else None


def _raw(part: Opaque) -> Json:
    return part.data if isinstance(part.data, dict) else {"type": part.kind, "data": part.data}
