"""A message as pieces to read: words, code, thoughts, calls, results, media. No markup yet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, assert_never

from ctxtree.drawing.visible import visible
from ctxtree.model import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from ctxtree.tree import brief_call

Kind = Literal["prose", "code", "thought", "call", "result", "error", "media", "other"]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$")


@dataclass(frozen=True, slots=True)
class Piece:
    """`title`: the language of code, a call in brief, the name of a result; one line, like `text` made visible."""

    kind: Kind
    text: str
    title: str = ""
    data: Media | None = None


def pieces(message: Message) -> tuple[Piece, ...]:
    """What a reader is shown of a message, in order."""
    return tuple(one for part in message.parts for one in _of(part))


def _of(part: Part) -> Iterator[Piece]:
    match part:
        case Text():
            yield from said(part.text)
        case Reasoning():
            text = part.text or "\n\n".join(part.summary)
            yield Piece("thought", readable(text or ("(sealed)" if part.sealed else "")))
        case ToolCall():
            yield Piece("call", readable(_arguments(part)), visible(brief_call(part)))
        case ToolResult():
            inner = [one for held in part.parts for one in _of(held)]
            text = "\n".join(one.text for one in inner if not one.data)
            whole = "\n".join(held.text for held in part.parts if isinstance(held, Text)) or text
            name = visible(part.name or part.call_id)
            yield Piece("error" if part.error else "result", readable(whole), name)
            yield from (one for one in inner if one.data)
        case Media():
            told = " ".join(filter(None, [part.kind, part.mime, part.name, part.url, part.file_id]))
            yield Piece("media", readable(part.transcript or ""), visible(" ".join(told.split())), part)
        case Opaque():
            if part.kind != "fields":
                yield Piece("other", "", visible(part.kind))
        case _:
            assert_never(part)


def _arguments(call: ToolCall) -> str:
    raw = call.object.get("_raw") if set(call.object) == {"_raw"} else None
    return raw if isinstance(raw, str) else json.dumps(call.object, ensure_ascii=False, indent=2)


def readable(text: str) -> str:
    """Lines and tabs stay; everything else that cannot be seen is shown."""
    return visible(text.replace("\r\n", "\n"), keep="\n\t")


def said(text: str) -> Iterator[Piece]:
    """Words with their fenced code apart; a fence that is never closed runs to the end."""
    rows: list[str] = []
    fence, title = "", ""
    for row in readable(text).split("\n"):
        found = _FENCE.match(row)
        if not fence and found:
            yield from _piece("prose", rows, "")
            rows, fence, title = [], found[1], found[2].strip()
        elif fence and found and found[1].startswith(fence) and not found[2].strip():
            yield Piece("code", "\n".join(rows), title)
            rows, fence = [], ""
        else:
            rows.append(row)
    if fence:
        yield Piece("code", "\n".join(rows), title)
    else:
        yield from _piece("prose", rows, "")


def _piece(kind: Kind, rows: list[str], title: str) -> Iterator[Piece]:
    text = "\n".join(rows).strip("\n")
    if text.strip():
        yield Piece(kind, text, title)


def plain(message: Message) -> str:
    """A message for a terminal: its words as they are, calls in brief, results indented by nothing."""
    shown = []
    for part in message.parts:
        if isinstance(part, Text):
            shown.append(readable(part.text))
            continue
        for one in _of(part):
            title = one.title if one.kind in ("call", "media", "other") else ""
            text = one.text if one.kind != "call" else ""
            mark = {"thought": "> ", "error": "error: "}.get(one.kind, "")
            body = "\n".join(filter(None, [title, text]))
            shown.append(mark + body if body else "")
    return "\n\n".join(filter(None, shown))
