"""Content as APIs and their clients write it, turned into parts: one table for all dialects.

A type that several APIs use means the same everywhere, so content is read by its type; what nobody
here knows is kept whole as `Opaque`, with the API that it came from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ctxtree.model import Media, MediaKind, Opaque, Part, Reasoning, Text, ToolCall, ToolResult

Raw = Mapping[str, Any]


def parts_of(content: Any, origin: str) -> tuple[Part, ...]:
    """The parts of a message's `content`: None gives none, a string one text, a list one part each."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(text=content),)
    if isinstance(content, Mapping):
        return (part_of(content, origin),)
    if isinstance(content, Sequence):
        return tuple(part_of(item, origin) for item in content)
    return (Opaque(origin=origin, kind=type(content).__name__, data=content),)


def part_of(item: Any, origin: str) -> Part:
    """One part, by its `type`; `Opaque` for an unknown type or one whose fields are not as expected."""
    if isinstance(item, str):
        return Text(text=item)
    if not isinstance(item, Mapping):
        return Opaque(origin=origin, kind=type(item).__name__, data=item)
    kind = item.get("type")
    known = PARTS.get(kind) if isinstance(kind, str) else None
    found = known(item, origin) if known else None
    if found is not None:
        return found
    return Opaque(origin=origin, kind=kind if isinstance(kind, str) else "unknown", data=dict(item))


def result_of(item: Raw, call_id: Any, content: Any, origin: str) -> ToolResult:
    """A tool's result; parts that a result cannot hold are kept whole as `Opaque`."""
    listed = content if isinstance(content, list) else [content]
    parts: list[Text | Media | Opaque] = []
    for index, part in enumerate(parts_of(content, origin)):
        if isinstance(part, Text | Media | Opaque):
            parts.append(part)
        else:
            parts.append(Opaque(origin=origin, kind=part.type, data=listed[index]))
    error = item.get("is_error") or item.get("isError") or item.get("error")
    return ToolResult(
        call_id=string(call_id) or "",
        parts=tuple(parts),
        error=bool(error),
        name=string(item.get("name") or item.get("toolName")),
    )


def string(value: Any) -> str | None:
    """The value if it is a string that says something."""
    return value if isinstance(value, str) and value else None


def whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def arguments_of(value: Any) -> dict[str, Any] | str:
    """A call's arguments: an object, or the string as it came."""
    if isinstance(value, dict | str):
        return value
    return {} if value is None else json.dumps(value, ensure_ascii=False)


def _text(item: Raw, _origin: str) -> Part | None:
    text = item.get("text")
    if isinstance(text, Mapping):
        text = text.get("value")
    if text is None and "text" in item:
        text = ""
    return Text(text=text) if isinstance(text, str) else None


def data_url(url: str) -> tuple[str, str] | None:
    """MIME type and base64 data of a `data:` URL; None for any other."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None
    return head[len("data:") : -len(";base64")].split(";")[0], data


def _by_url(kind: MediaKind, url: str, detail: str | None = None) -> Media:
    inline = data_url(url)
    if inline is None:
        return Media(kind=kind, url=url, detail=detail)
    return Media(kind=kind, mime=inline[0], data=inline[1], detail=detail)


def _image_url(item: Raw, origin: str) -> Part | None:
    held = item.get("image_url")
    inner: Raw = held if isinstance(held, Mapping) else {}
    url = string(inner.get("url")) or string(held)
    detail = string(inner.get("detail")) or string(item.get("detail"))
    if url:
        return _by_url("image", url, detail)
    file_id = string(item.get("file_id"))
    return Media(file_id=file_id, origin=origin, detail=detail) if file_id else None


def _image(item: Raw, origin: str) -> Part | None:
    source = item.get("source")
    if isinstance(source, Mapping):
        return _sourced("image", item, source, origin)
    if isinstance(source, str):
        return _by_url("image", source)
    if "image_url" in item:
        return _image_url(item, origin)
    data, url = string(item.get("data")), string(item.get("url"))
    mime = string(item.get("mime")) or string(item.get("mimeType")) or string(item.get("media_type")) or ""
    size = {"width": whole(item.get("width")), "height": whole(item.get("height"))}
    if data or mime:
        return Media(mime=mime, data=data, url=url, **size)
    return _by_url("image", url) if url else None


def _document(item: Raw, origin: str) -> Part | None:
    source = item.get("source")
    return _sourced("file", item, source, origin) if isinstance(source, Mapping) else None


def _sourced(kind: MediaKind, item: Raw, source: Raw, origin: str) -> Part | None:
    """Anthropic's `source`: base64, url or file. Other kinds (plain text, nested content) are kept whole."""
    name = string(item.get("title"))
    match source.get("type"):
        case "base64" if string(source.get("data")):
            mime = string(source.get("media_type")) or ""
            return Media(kind=kind, mime=mime, data=source["data"], name=name)
        case "url" if string(source.get("url")):
            return Media(kind=kind, url=source["url"], name=name)
        case "file" if string(source.get("file_id")):
            return Media(kind=kind, file_id=source["file_id"], name=name, origin=origin)
    return None


def audio_of(item: Raw, origin: str) -> Media:
    """Sound in any of its forms: `input_audio`, `output_audio` or a message's `audio` field."""
    held = item.get("input_audio") or item.get("audio")
    inner: Raw = held if isinstance(held, Mapping) else item
    form = string(inner.get("format"))
    data = string(inner.get("data")) or string(held)
    file_id = string(inner.get("id"))
    return Media(
        kind="audio",
        mime=f"audio/{form}" if form else string(item.get("mime")) or "",
        data=data,
        file_id=file_id,
        transcript=string(item.get("transcript")) or string(inner.get("transcript")),
        origin=origin if file_id else None,
    )


def _file(item: Raw, origin: str) -> Part | None:
    held = item.get("file")
    inner: Raw = held if isinstance(held, Mapping) else item
    name = string(inner.get("filename"))
    data, file_id = string(inner.get("file_data")), string(inner.get("file_id"))
    inline = data_url(data) if data else None
    if inline:
        return Media(kind="file", mime=inline[0], data=inline[1], name=name)
    if data or string(inner.get("file_url")):
        return Media(kind="file", data=data, url=string(inner.get("file_url")), name=name)
    return Media(kind="file", file_id=file_id, name=name, origin=origin) if file_id else None


def _thinking(item: Raw, _origin: str) -> Part | None:
    text = item.get("thinking", item.get("text", ""))
    if not isinstance(text, str):
        return None
    signature = string(item.get("signature")) or string(item.get("thinkingSignature"))
    return Reasoning(text=text, signature=signature, origin="anthropic")


def _redacted(item: Raw, _origin: str) -> Part | None:
    data = string(item.get("data"))
    return Reasoning(encrypted=data, origin="anthropic") if data else None


def reasoning_of(item: Raw, origin: str) -> Part | None:
    """A Responses reasoning item: summaries, text where it is shown, and the encrypted form."""
    summary, content = item.get("summary"), item.get("content")
    texts = (
        [part.get("text") for part in content if isinstance(part, Mapping)]
        if isinstance(content, list)
        else []
    )
    lines = summary if isinstance(summary, list) else [summary]
    shown = [line.get("text") if isinstance(line, Mapping) else line for line in lines]
    return Reasoning(
        text="\n".join(text for text in texts if isinstance(text, str)) or string(item.get("text")) or "",
        summary=tuple(line for line in shown if isinstance(line, str)),
        encrypted=string(item.get("encrypted_content")),
        signature=string(item.get("signature")),
        id=string(item.get("id")),
        origin=origin,
    )


CALL_FIELDS = frozenset({"type", "id", "name", "input", "arguments", "args", "cache_control"})


def _call(item: Raw, origin: str) -> Part | None:
    name = string(item.get("name"))
    given = item.get("input", item.get("arguments", item.get("args")))
    if name is None:
        return None
    extra = {key: value for key, value in item.items() if key not in CALL_FIELDS and value is not None}
    return ToolCall(
        id=string(item.get("id")) or "",
        name=name,
        arguments=arguments_of(given),
        extra=extra,
        origin=origin if extra else None,
    )


def _result(item: Raw, origin: str) -> Part | None:
    call_id = item.get("tool_use_id") or item.get("result_of") or item.get("tool_call_id")
    return result_of(item, call_id, item.get("content", item.get("text")), origin)


PARTS: Mapping[str, Callable[[Raw, str], Part | None]] = {
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "summary_text": _text,
    "image": _image,
    "image_url": _image_url,
    "input_image": _image_url,
    "input_audio": audio_of,
    "output_audio": audio_of,
    "audio": audio_of,
    "file": _file,
    "input_file": _file,
    "document": _document,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "reasoning": reasoning_of,
    "tool_use": _call,
    "toolCall": _call,
    "tool_result": _result,
}
