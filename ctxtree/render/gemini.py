"""Gemini: `{"systemInstruction"?, "contents", "tools"?, "generationConfig"?}`.

Calls and results are paired by position and name, so no ids are sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ctxtree.model import Media, MediaKind, Opaque, Reasoning, Text, ToolCall, ToolResult
from ctxtree.plan import Counter, Rendered, Said, Settings
from ctxtree.render.arguments import arguments_object
from ctxtree.render.attach import file_of, inline, link, mime
from ctxtree.render.dialects import known_dialect
from ctxtree.render.fit import Rules, never
from ctxtree.render.normal import normal
from ctxtree.render.steps import Block, Ledger
from ctxtree.render.tools import extras_tokens, shaped, write_format
from ctxtree.render.turns import Turn, divided
from ctxtree.render.weight import (
    MESSAGE_TOKENS,
    REPLY_TOKENS,
    Tally,
    call_cost,
    json_cost,
    media_cost,
    result_cost,
    thought_cost,
)
from ctxtree.tokens import compact, format_tokens, tools_tokens

ORIGINS = frozenset({"gemini"})
SIGNED = "gemini-3"
DUMMY_SIGNATURE = "skip_thought_signature_validator"
"""What the API accepts in place of a signature that was not recorded."""

Json: TypeAlias = dict[str, Any]


def _holds(media: Media) -> bool:
    held = inline(media)
    if held:
        return "/" in held[0] and held[0].split("/")[0] in ("image", "audio", "video", "application", "text")
    return bool(mime(media)) and bool(file_of(media, ORIGINS) or link(media))


RULES = Rules(
    origins=ORIGINS, ids=None, holds=_holds, result_holds=never, thinks=never, ends=True, merges=True
)


def render(said: Sequence[Said], settings: Settings, counter: Counter) -> Rendered:
    """The request body. Raises `TargetError` (`no_user_turn`, `unknown_dialect`)."""
    if settings.dialect is not None:
        known_dialect(settings.dialect, (SIGNED,))
    ledger = Ledger()
    system, turns = divided(normal(said, RULES, ledger))
    tally = Tally(counter)
    payload: Json = {}
    if system:
        tally.charge(system[0].item, MESSAGE_TOKENS)
        payload["systemInstruction"] = {"parts": [_written(block, tally, False) for block in system]}
    payload["contents"] = [_content(turn, tally, settings.dialect == SIGNED) for turn in turns]
    tools, dropped = shaped(settings.tools, "gemini")
    if dropped:
        ledger.add("tools_dropped")
    if tools:
        payload["tools"] = tools
    form = write_format(settings.response_format, "gemini") if settings.response_format else None
    if form:
        payload["generationConfig"] = form
    return tally.rendered(payload, extras(payload, counter), ledger, REPLY_TOKENS)


def foreseen(settings: Settings, counter: Counter) -> int:
    """What tools and response format will cost."""
    return extras_tokens(settings, "gemini", counter)


def weigh(payload: Mapping[str, Any], counter: Counter) -> int:
    """The tokens of a finished request, counted anew."""
    system = payload.get("systemInstruction")
    tokens = REPLY_TOKENS + extras(payload, counter)
    for content in (*([system] if system else []), *payload["contents"]):
        tokens += MESSAGE_TOKENS + sum(part_cost(part, counter) for part in content["parts"])
    return tokens


def extras(payload: Mapping[str, Any], counter: Counter) -> int:
    """What tools and response format cost."""
    tools, form = payload.get("tools"), payload.get("generationConfig")
    return (tools_tokens(tools, counter) if tools else 0) + (format_tokens(form, counter) if form else 0)


def _content(turn: Turn, tally: Tally, signed: bool) -> Json:
    tally.charge(turn.blocks[0].item, MESSAGE_TOKENS)
    first = next((block for block in turn.blocks if isinstance(block.part, ToolCall)), None)
    parts = [_written(block, tally, signed and block is first) for block in turn.blocks]
    return {"role": "model" if turn.role == "assistant" else "user", "parts": parts}


def _written(block: Block, tally: Tally, signed: bool) -> Json:
    wire = _part(block, signed)
    tally.charge(block.item, part_cost(wire, tally.counter))
    return wire


def _part(block: Block, signed: bool) -> Json:
    match block.part:
        case Text(text=text):
            return {"text": text}
        case ToolCall() as call:
            signature = _signature(call) or (DUMMY_SIGNATURE if signed else None)
            wire: Json = {"functionCall": {"name": block.name, "args": arguments_object(call)}}
            return {**wire, "thoughtSignature": signature} if signature else wire
        case ToolResult() as result:
            key = "error" if result.error else "output"
            return {"functionResponse": {"name": block.name, "response": {key: result.text}}}
        case Media() as media:
            held = inline(media)
            if held:
                return {"inlineData": {"mimeType": held[0], "data": held[1]}}
            return {"fileData": {"mimeType": mime(media), "fileUri": file_of(media, ORIGINS) or media.url}}
        case Opaque() as part:
            return dict(part.data) if isinstance(part.data, dict) else {"text": f"[{part.kind}]"}
        case Reasoning():
            raise AssertionError("no reasoning goes to this target")


def _signature(call: ToolCall) -> str | None:
    """The signature that the API gave with the call; no other API's goes back."""
    held = call.extra.get("thoughtSignature") or call.extra.get("thought_signature")
    return held if isinstance(held, str) and call.origin in ORIGINS else None


def part_cost(part: Mapping[str, Any], counter: Counter) -> int:
    match part:
        case {"text": str(text)}:
            return counter(text)
        case {"functionCall": {"name": name, "args": args}}:
            signature = part.get("thoughtSignature")
            return call_cost("", name, compact(args), counter) + (
                thought_cost("", signature, (), counter) if signature else 0
            )
        case {"functionResponse": {"name": name, "response": response}}:
            return result_cost(name, counter) + sum(counter(value) for value in response.values())
        case {"inlineData": {"mimeType": kind, "data": data}}:
            return media_cost(Media(kind=_kind(kind), mime=kind, data=data), counter, "gemini")
        case {"fileData": {"mimeType": kind, "fileUri": uri}}:
            return media_cost(Media(kind=_kind(kind), mime=kind, url=uri), counter, "gemini")
        case _:
            return json_cost(part, counter)


def _kind(mime_type: str) -> MediaKind:
    head = mime_type.split("/")[0]
    return (
        "image" if head == "image" else "audio" if head == "audio" else "video" if head == "video" else "file"
    )
