"""OpenAI Responses: `{"instructions"?, "input", "tools"?, "text"?}`.

Ids of messages and calls are never sent, so that none can be missed beside its reasoning item.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ctxtree.model import Media, Opaque, Reasoning, ResultPart, Text, ToolCall, ToolResult
from ctxtree.plan import Counter, Rendered, Said, Settings
from ctxtree.render.attach import data_url, file_of, from_url, inline, is_image, is_pdf, link
from ctxtree.render.dialects import known_dialect
from ctxtree.render.fit import Rules
from ctxtree.render.ids import RESPONSES
from ctxtree.render.normal import normal
from ctxtree.render.steps import Block, Ledger, Step
from ctxtree.render.tools import extras_tokens, shaped, write_format
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
from ctxtree.tokens import arguments_text, format_tokens, tools_tokens

ORIGINS = frozenset({"openai.responses", "openai"})
FILES = frozenset({*ORIGINS, "openai.chat"})
JOINT = "\n\n"

Json: TypeAlias = dict[str, Any]


def _holds(media: Media) -> bool:
    known = file_of(media, FILES) is not None
    match media.kind:
        case "image":
            return known or (is_image(media) and bool(inline(media) or link(media)))
        case "file":
            return known or is_pdf(media) or link(media) is not None
        case _:
            return False


def _thinks(part: Reasoning) -> bool:
    return part.encrypted is not None and part.origin in ORIGINS


RULES = Rules(
    origins=ORIGINS, ids=RESPONSES, holds=_holds, result_holds=_holds, thinks=_thinks, result_opaque=True
)


def render(said: Sequence[Said], settings: Settings, counter: Counter) -> Rendered:
    """The request body. Raises `TargetError` (`no_user_turn`, `unknown_dialect`)."""
    if settings.dialect is not None:
        known_dialect(settings.dialect, ())
    ledger = Ledger()
    steps = normal(said, RULES, ledger)
    tally = Tally(counter)
    payload: Json = {}
    if steps[0].role in ("system", "developer"):
        payload["instructions"] = _instructions(steps[0], tally)
        steps = steps[1:]
    written = followed([pair for step in steps for pair in _items(step)], ledger)
    for piece in written:
        piece.charge(tally)
    payload["input"] = [piece.wire for piece in written]
    tools, dropped = shaped(settings.tools, "responses")
    if dropped:
        ledger.add("tools_dropped")
    if tools:
        payload["tools"] = tools
    form = write_format(settings.response_format, "responses") if settings.response_format else None
    if form:
        payload["text"] = {"format": form}
    return tally.rendered(payload, extras(payload, counter), ledger, REPLY_TOKENS)


def foreseen(settings: Settings, counter: Counter) -> int:
    """What tools and response format will cost."""
    return extras_tokens(settings, "responses", counter)


def weigh(payload: Mapping[str, Any], counter: Counter) -> int:
    """The tokens of a finished request, counted anew."""
    head = payload.get("instructions")
    return (
        REPLY_TOKENS
        + extras(payload, counter)
        + (MESSAGE_TOKENS + counter(head) if head else 0)
        + sum(item_cost(item, counter) for item in payload["input"])
    )


def extras(payload: Mapping[str, Any], counter: Counter) -> int:
    """What tools and response format cost."""
    tools, form = payload.get("tools"), payload.get("text")
    return (tools_tokens(tools, counter) if tools else 0) + (
        format_tokens(form["format"], counter) if form else 0
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """An input item, and the blocks that it was made of (one for each part of a content list)."""

    wire: Json
    blocks: tuple[Block, ...]
    node: str = ""

    def charge(self, tally: Tally) -> None:
        content = self.wire.get("content")
        if len(self.blocks) == 1 or not isinstance(content, list):
            tally.charge(self.blocks[0].item, item_cost(self.wire, tally.counter))
            return
        tally.charge(self.blocks[0].item, MESSAGE_TOKENS)
        for block, part in zip(self.blocks, content, strict=True):
            tally.charge(block.item, part_cost(part, tally.counter))


def _instructions(step: Step, tally: Tally) -> str:
    tally.charge(step.blocks[0].item, MESSAGE_TOKENS)
    texts = [(block.item, block.part.text) for block in step.blocks if isinstance(block.part, Text)]
    return tally.joined(texts, JOINT)


def _items(step: Step) -> Iterator[_Piece]:
    """The items of a step in the order of its parts; texts that stand together are one message."""
    held: list[Block] = []
    for block in step.blocks:
        if _in_message(block, step):
            held.append(block)
            continue
        if held:
            yield _message(step, tuple(held))
            held = []
        yield _Piece(_item(block), (block,), step.node)
    if held:
        yield _message(step, tuple(held))


def _in_message(block: Block, step: Step) -> bool:
    match block.part:
        case Text() | Media():
            return True
        case Opaque(kind=kind):
            return kind == "refusal" or (step.role != "assistant" and not kind.endswith("_output"))
        case _:
            return False


def _message(step: Step, blocks: tuple[Block, ...]) -> _Piece:
    text = "output_text" if step.role == "assistant" else "input_text"
    only = blocks[0].part
    content: Any = [_part(block.part, text) for block in blocks]
    if len(blocks) == 1 and isinstance(only, Text):
        content = only.text
    return _Piece({"type": "message", "role": step.role, "content": content}, blocks, step.node)


def _part(part: Any, text: str) -> Json:
    match part:
        case Text():
            return {"type": text, "text": part.text}
        case Media(kind="image"):
            url = data_url(part) or link(part)
            place = {"image_url": url} if url else {"file_id": part.file_id}
            return {"type": "input_image", **place, "detail": part.detail or "auto"}
        case Media():
            return {"type": "input_file", **_file(part)}
        case _:
            return dict(part.data) if isinstance(part.data, dict) else {"type": part.kind, "data": part.data}


def _file(part: Media) -> Json:
    held = data_url(part)
    if held:
        return {"filename": part.name or "file.pdf", "file_data": held}
    return {"file_url": part.url} if link(part) else {"file_id": part.file_id}


def _item(block: Block) -> Json:
    match block.part:
        case ToolCall() as call:
            arguments = arguments_text(call)
            return {"type": "function_call", "call_id": block.id, "name": block.name, "arguments": arguments}
        case ToolResult() as result:
            return {"type": "function_call_output", "call_id": block.id, "output": _output(result.parts)}
        case Reasoning() as part:
            summary = [{"type": "summary_text", "text": line} for line in part.summary]
            identity = {"id": part.id} if part.id else {}
            return {"type": "reasoning", **identity, "summary": summary, "encrypted_content": part.encrypted}
        case Opaque() as part:
            return _part(part, "")
        case _:
            raise AssertionError(f"{block.part.type} stands in a message")


def _output(parts: Sequence[ResultPart]) -> Any:
    only = parts[0]
    if len(parts) == 1 and isinstance(only, Text):
        return only.text
    return [_part(part, "input_text") for part in parts]


def followed(pieces: list[_Piece], ledger: Ledger) -> list[_Piece]:
    """Without reasoning that no output of the assistant follows directly, and each reasoning id once.

    What depended on reasoning that is not sent loses its own id.
    """
    led = _led(pieces)
    out: list[_Piece] = []
    seen: set[str] = set()
    stripping = False
    for piece, leads in zip(pieces, led, strict=True):
        if not isinstance(piece.blocks[0].part, Reasoning):
            stripping = stripping and piece.wire.get("role") != "user"
            opaque = isinstance(piece.blocks[0].part, Opaque) and "role" not in piece.wire
            out.append(_without_id(piece) if stripping and opaque else piece)
            continue
        identity = piece.wire.get("id", "")
        stripping = not leads or identity in seen
        if stripping:
            ledger.add("reasoning_dropped", piece.node)
            continue
        seen.update({identity} - {""})
        out.append(piece)
    return out


def _led(pieces: Sequence[_Piece]) -> list[bool]:
    """For each piece, whether the next one that is no reasoning is an output of the assistant."""
    led: list[bool] = []
    leads = False
    for piece in reversed(pieces):
        led.append(leads)
        if not isinstance(piece.blocks[0].part, Reasoning):
            leads = piece.wire.get("type") == "function_call" or piece.wire.get("role") == "assistant"
    return led[::-1]


def _without_id(piece: _Piece) -> _Piece:
    return replace(piece, wire={key: value for key, value in piece.wire.items() if key != "id"})


def item_cost(item: Mapping[str, Any], counter: Counter) -> int:
    match item.get("type"):
        case "message":
            content = item["content"]
            texts = (
                counter(content)
                if isinstance(content, str)
                else sum(part_cost(part, counter) for part in content)
            )
            return MESSAGE_TOKENS + texts
        case "function_call":
            return call_cost(item["call_id"], item["name"], item["arguments"], counter)
        case "function_call_output":
            output = item["output"]
            parts = (
                counter(output)
                if isinstance(output, str)
                else sum(part_cost(part, counter) for part in output)
            )
            return result_cost(item["call_id"], counter) + parts
        case "reasoning":
            lines = [line["text"] for line in item["summary"]]
            return thought_cost("", item["encrypted_content"], lines, counter)
        case _:
            return json_cost(item, counter)


def part_cost(part: Mapping[str, Any], counter: Counter) -> int:
    match part.get("type"):
        case "input_text" | "output_text" if isinstance(part.get("text"), str):
            return counter(part["text"])
        case "input_image":
            url = part.get("image_url")
            detail = part.get("detail")
            media = from_url(url, detail=detail) if url else Media(file_id=part.get("file_id"), detail=detail)
            return media_cost(media, counter, "openai")
        case "input_file":
            url = part.get("file_data") or part.get("file_url")
            media = from_url(url, "file") if url else Media(kind="file", file_id=part.get("file_id"))
            return media_cost(media, counter, "openai")
        case _:
            return json_cost(part, counter)
