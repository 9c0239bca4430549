"""What a message of a ChatGPT export says: its content types, its role, what stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ctxtree.importers.base import without
from ctxtree.importers.wire.parts import string
from ctxtree.model import Media, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult

ORIGIN = "chatgpt"
Raw = Mapping[str, Any]

ROLES: Mapping[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
CONTEXT = frozenset({"user_editable_context", "model_editable_context"})
UNFINISHED = frozenset({"in_progress", "finished_partial_completion"})
HELD = frozenset({"id", "author", "content", "create_time", "recipient", "status", "weight"})
HELD_METADATA = frozenset({
    "model_slug", "default_model_slug", "finish_details", "is_complete", "parent_id", "pad", "request_id",
    "timestamp_", "message_type", "is_visually_hidden_from_conversation", "serialization_metadata",
})  # fmt: skip


def author_of(message: Raw) -> Raw:
    author = message.get("author")
    return author if isinstance(author, Mapping) else message


def metadata_of(message: Raw) -> Raw:
    metadata = message.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def body_of(message: Raw) -> Raw:
    """The content object; slim exports have its fields on the message."""
    body = message.get("content")
    if isinstance(body, str | list):
        return {"parts": body if isinstance(body, list) else [body]}
    return body if isinstance(body, Mapping) else message


def is_context(message: Raw | None) -> bool:
    """True for the user's standing instructions and the model's memories."""
    return message is not None and string(body_of(message).get("content_type")) in CONTEXT


def role_of(message: Raw) -> Role | None:
    """The role, or None if it is missing or unknown. Standing instructions are the system's."""
    role = author_of(message).get("role")
    if is_context(message):
        return "system"
    return ROLES.get(role) if isinstance(role, str) else None


def instructions(message: Raw | None) -> str:
    return "\n\n".join(part.text for part in _context(body_of(message or {})) if isinstance(part, Text))


def message_of(name: str, raw: Raw, call: str) -> Message:
    """The message of a node. `call` is the id of the call that it answers, if it is a tool's.

    ChatGPT has no call ids: a call is an assistant's message to a tool, and its id is the node's.
    """
    role = role_of(raw)
    parts = parts_of(raw)
    who = author_of(raw).get("name")
    speaker = who if isinstance(who, str) and who else None
    if role is None:
        return Message(role="note", parts=parts)
    recipient = raw.get("recipient")
    if role == "assistant" and isinstance(recipient, str) and recipient not in ("", "all"):
        return Message(role="assistant", parts=_call(name, recipient, parts))
    if role == "tool":
        held = tuple(part for part in parts if isinstance(part, Text | Media | Opaque))
        result = ToolResult(call_id=call or name, parts=held, error=_failed(raw), name=speaker)
        return Message(role="tool", parts=(result,))
    return Message(role=role, parts=parts, name=speaker)


def _call(name: str, recipient: str, parts: tuple[Part, ...]) -> tuple[Part, ...]:
    words = "\n".join(part.text for part in parts if isinstance(part, Text))
    rest = tuple(part for part in parts if not isinstance(part, Text))
    return (*rest, ToolCall(id=name, name=recipient, arguments=words))


def _failed(raw: Raw) -> bool:
    return (
        body_of(raw).get("content_type") == "system_error"
        or raw.get("status") == "finished_partial_completion"
    )


def marks_of(raw: Raw, model: Any, message: Message) -> tuple[tuple[str, Any], ...]:
    """Model, stop reason, incomplete and hidden, where the export says so."""
    metadata = metadata_of(raw)
    details = metadata.get("finish_details")
    stop = details.get("type") if isinstance(details, Mapping) else None
    slug = metadata.get("model_slug") or (model if message.role == "assistant" else None)
    hidden = (
        metadata.get("is_visually_hidden_from_conversation")
        or metadata.get("is_user_system_message")
        or is_context(raw)
        or message.role == "note"
    )
    incomplete = string(raw.get("status")) in UNFINISHED or stop in ("interrupted", "max_tokens")
    given = (("model", slug), ("stop", stop), ("incomplete", incomplete), ("hidden", bool(hidden)))
    return tuple((mark, value) for mark, value in given if value)


def beside(raw: Raw) -> dict[str, Any]:
    """The fields of the node's message that neither message nor marks hold."""
    fields = without(raw, HELD)
    metadata = {
        key: value
        for key, value in without(metadata_of(raw), HELD_METADATA).items()
        if value not in ("", [], {}, False)
    }
    fields.pop("metadata", None)
    extra = without(body_of(raw), frozenset({"content_type", "parts", "text", "result"}))
    kept = {
        key: value
        for key, value in extra.items()
        if "content_type" in body_of(raw) and body_of(raw) is not raw
    }
    more = {"metadata": metadata, "content": kept if not is_context(raw) else {}}
    return {**fields, **{key: value for key, value in more.items() if value}}


def parts_of(raw: Raw) -> tuple[Part, ...]:
    """The parts of a message by its content type; a type nobody here knows is kept whole."""
    body = body_of(raw)
    kind = body.get("content_type", "text")
    known = CONTENT.get(kind) if isinstance(kind, str) else None
    if known is None:
        return (Opaque(origin=ORIGIN, kind=str(kind), data=dict(body)),)
    return tuple(known(body))


def _listed(body: Raw) -> list[Part]:
    parts = body.get("parts")
    if not isinstance(parts, list):
        text = body.get("text")
        return [Text(text=text)] if isinstance(text, str) else []
    return [_part(part) for part in parts if part is not None]


def _part(part: Any) -> Part:
    if isinstance(part, str):
        return Text(text=part)
    if not isinstance(part, Mapping):
        return Opaque(origin=ORIGIN, kind=type(part).__name__, data=part)
    kind = part.get("content_type")
    pointer = part.get("asset_pointer")
    if kind == "image_asset_pointer" and isinstance(pointer, str):
        size = {side: part[side] for side in ("width", "height") if isinstance(part.get(side), int)}
        return Media(kind="image", file_id=pointer, origin=ORIGIN, **size)
    if kind == "audio_asset_pointer" and isinstance(pointer, str):
        return Media(kind="audio", file_id=pointer, origin=ORIGIN)
    if isinstance(part.get("text"), str):
        return Text(text=part["text"])
    return Opaque(origin=ORIGIN, kind=kind if isinstance(kind, str) else "unknown", data=dict(part))


def _field(name: str) -> Callable[[Raw], list[Part]]:
    def read(body: Raw) -> list[Part]:
        text = body.get(name)
        return [Text(text=text)] if isinstance(text, str) else []

    return read


def _thoughts(body: Raw) -> list[Part]:
    thoughts = body.get("thoughts")
    held = (
        [thought for thought in thoughts if isinstance(thought, Mapping)]
        if isinstance(thoughts, list)
        else []
    )
    text = "\n\n".join(str(thought["content"]) for thought in held if thought.get("content"))
    summary = tuple(str(thought["summary"]) for thought in held if thought.get("summary"))
    return [Reasoning(text=text, summary=summary, origin=ORIGIN)]


def _recap(body: Raw) -> list[Part]:
    text = body.get("content")
    return [Reasoning(summary=(text,) if isinstance(text, str) else (), origin=ORIGIN)]


def _context(body: Raw) -> list[Part]:
    names = ("user_profile", "user_instructions", "model_set_context")
    return [Text(text=body[name]) for name in names if isinstance(body.get(name), str) and body[name]]


def _error(body: Raw) -> list[Part]:
    words = [body[name] for name in ("name", "text") if isinstance(body.get(name), str) and body[name]]
    return [Text(text=": ".join(words))]


CONTENT: Mapping[str, Callable[[Raw], list[Part]]] = {
    "text": _listed,
    "multimodal_text": _listed,
    "code": _field("text"),
    "execution_output": _field("text"),
    "tether_quote": _field("text"),
    "sonic_webpage": _field("text"),
    "tether_browsing_display": _field("result"),
    "citable_code_output": _field("output_str"),
    "system_error": _error,
    "thoughts": _thoughts,
    "reasoning_recap": _recap,
    "user_editable_context": _context,
    "model_editable_context": _context,
}
