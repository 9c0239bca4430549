"""Anthropic Messages: `{"system"?, "messages", "tools"?, "max_tokens"?}`; content is a list of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ctxtree.model import Media, Opaque, Reasoning, ResultPart, Text, ToolCall, ToolResult
from ctxtree.plan import Counter, Rendered, Said, Settings
from ctxtree.render.arguments import arguments_object
from ctxtree.render.attach import file_of, inline, is_image, is_pdf, link
from ctxtree.render.dialects import known_dialect
from ctxtree.render.fit import Rules
from ctxtree.render.ids import ANTHROPIC
from ctxtree.render.normal import normal
from ctxtree.render.steps import Block, Ledger
from ctxtree.render.tools import extras_tokens, shaped
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
from ctxtree.tokens import compact, tools_tokens

ORIGINS = frozenset({"anthropic"})
MOST_CUTS = 4

Json: TypeAlias = dict[str, Any]


def _holds(media: Media) -> bool:
    if media.kind not in ("image", "file"):
        return False
    if file_of(media, ORIGINS):
        return True
    held = inline(media)
    if media.kind == "image":
        return is_image(media) and (bool(held and held[0]) or link(media) is not None)
    return is_pdf(media) or (held is None and link(media) is not None)


def _thinks(part: Reasoning) -> bool:
    return part.sealed and part.origin in ORIGINS


RULES = Rules(
    origins=ORIGINS, ids=ANTHROPIC, holds=_holds, result_holds=_holds, thinks=_thinks,
    result_opaque=True, ends=True, merges=True,
)  # fmt: skip


def render(said: Sequence[Said], settings: Settings, counter: Counter) -> Rendered:
    """The request body. Raises `TargetError` (`no_user_turn`, `unknown_dialect`)."""
    if settings.dialect is not None:
        known_dialect(settings.dialect, ())
    ledger = Ledger()
    system, turns = divided(normal(said, RULES, ledger))
    turns = one_mode(turns, ledger)
    system, turns = _few_cuts(system, turns, ledger)
    tally = Tally(counter)
    payload: Json = {}
    if system:
        tally.charge(system[0].item, MESSAGE_TOKENS)
        payload["system"] = [_written(block, tally) for block in system]
    payload["messages"] = [_message(turn, tally) for turn in turns]
    tools, dropped = shaped(settings.tools, "anthropic")
    if dropped:
        ledger.add("tools_dropped")
    if tools:
        payload["tools"] = tools if system else _cut_after(tools, turns)
    if settings.response_format:
        ledger.add("response_format_dropped")
    if settings.reserve > 0:
        payload["max_tokens"] = settings.reserve
    return tally.rendered(
        payload, tools_tokens([_uncut(tool) for tool in tools], counter) if tools else 0, ledger, REPLY_TOKENS
    )


def foreseen(settings: Settings, counter: Counter) -> int:
    """What tools and response format will cost."""
    return extras_tokens(settings, "anthropic", counter)


def weigh(payload: Mapping[str, Any], counter: Counter) -> int:
    """The tokens of a finished request, counted anew."""
    tools, system = payload.get("tools"), payload.get("system")
    tokens = REPLY_TOKENS + (tools_tokens([_uncut(tool) for tool in tools], counter) if tools else 0)
    heads = [system] if system else []
    for blocks in (*heads, *(message["content"] for message in payload["messages"])):
        tokens += MESSAGE_TOKENS + sum(block_cost(block, counter) for block in blocks)
    return tokens


def one_mode(turns: Sequence[Turn], ledger: Ledger) -> list[Turn]:
    """A tool loop thinks from its first message on, or not at all.

    A loop is what the assistant says up to the next turn without results.
    """
    out: list[Turn] = []
    thinking = looping = False
    for turn in turns:
        if turn.role == "user":
            looping = any(isinstance(block.part, ToolResult) for block in turn.blocks)
            out.append(turn)
            continue
        if not looping:
            thinking = isinstance(turn.blocks[0].part, Reasoning)
        out.append(turn if thinking else _unthinking(turn, ledger))
    return out


def _unthinking(turn: Turn, ledger: Ledger) -> Turn:
    for block in turn.blocks:
        if isinstance(block.part, Reasoning):
            ledger.add("reasoning_dropped", block.node)
    return replace(
        turn, blocks=tuple(block for block in turn.blocks if not isinstance(block.part, Reasoning))
    )


def _few_cuts(system: list[Block], turns: list[Turn], ledger: Ledger) -> tuple[list[Block], list[Turn]]:
    """At most four break points: the earliest and the newest three."""
    marked = sum(block.cut for block in system) + sum(block.cut for turn in turns for block in turn.blocks)
    if marked <= MOST_CUTS:
        return system, turns
    ledger.add("cut_dropped")
    numbers = iter(range(marked))

    def kept(blocks: Sequence[Block]) -> Iterator[Block]:
        for block in blocks:
            number = next(numbers) if block.cut else 0
            yield replace(block, cut=False) if 0 < number <= marked - MOST_CUTS else block

    return list(kept(system)), [replace(turn, blocks=tuple(kept(turn.blocks))) for turn in turns]


def _cut_after(tools: list[Json], turns: Sequence[Turn]) -> list[Json]:
    """The tools with a break point after them, where break points are asked for and one is left."""
    marked = sum(block.cut for turn in turns for block in turn.blocks)
    own = sum("cache_control" in tool for tool in tools)
    if own or not 0 < marked < MOST_CUTS:
        return tools
    return [*tools[:-1], {**tools[-1], "cache_control": {"type": "ephemeral"}}]


def _uncut(tool: Mapping[str, Any]) -> Json:
    return {name: value for name, value in tool.items() if name != "cache_control"}


def _message(turn: Turn, tally: Tally) -> Json:
    tally.charge(turn.blocks[0].item, MESSAGE_TOKENS)
    return {"role": turn.role, "content": [_written(block, tally) for block in turn.blocks]}


def _written(block: Block, tally: Tally) -> Json:
    wire = _block(block)
    tally.charge(block.item, block_cost(wire, tally.counter))
    return {**wire, "cache_control": {"type": "ephemeral"}} if block.cut else wire


def _block(block: Block) -> Json:
    match block.part:
        case ToolCall() as call:
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": arguments_object(call)}
        case ToolResult() as result:
            error = {"is_error": True} if result.error else {}
            return {"type": "tool_result", "tool_use_id": block.id, "content": _inside(result.parts), **error}
        case Reasoning(encrypted=str(data)):
            return {"type": "redacted_thinking", "data": data}
        case Reasoning() as part:
            return {"type": "thinking", "thinking": part.text, "signature": part.signature}
        case part:
            return _content(part)


def _inside(parts: Sequence[ResultPart]) -> Any:
    only = parts[0]
    return only.text if len(parts) == 1 and isinstance(only, Text) else [_content(part) for part in parts]


def _content(part: ResultPart) -> Json:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Media():
            kind = "image" if part.kind == "image" else "document"
            title = {"title": part.name} if part.name and kind == "document" else {}
            return {"type": kind, "source": _source(part), **title}
        case Opaque():
            return dict(part.data) if isinstance(part.data, dict) else {"type": part.kind, "data": part.data}


def _source(part: Media) -> Json:
    held = inline(part)
    if held:
        return {"type": "base64", "media_type": held[0], "data": held[1]}
    return {"type": "url", "url": part.url} if link(part) else {"type": "file", "file_id": part.file_id}


def block_cost(block: Mapping[str, Any], counter: Counter) -> int:
    match block.get("type"):
        case "text" if isinstance(block.get("text"), str):
            return counter(block["text"])
        case "tool_use":
            return call_cost(block["id"], block["name"], compact(block["input"]), counter)
        case "tool_result":
            content = block["content"]
            parts = (
                counter(content)
                if isinstance(content, str)
                else sum(block_cost(part, counter) for part in content)
            )
            return result_cost(block["tool_use_id"], counter) + parts
        case "thinking":
            return thought_cost(block["thinking"], block["signature"], (), counter)
        case "redacted_thinking":
            return thought_cost("", block["data"], (), counter)
        case "image" | "document" if _known_source(block.get("source")):
            return media_cost(_media(block), counter, "anthropic")
        case _:
            return json_cost({key: value for key, value in block.items() if key != "cache_control"}, counter)


def _known_source(source: Any) -> bool:
    return isinstance(source, Mapping) and source.get("type") in ("base64", "url", "file")


def _media(block: Mapping[str, Any]) -> Media:
    source = block["source"]
    return Media(
        kind="image" if block["type"] == "image" else "file",
        mime=source.get("media_type", ""),
        data=source.get("data"),
        url=source.get("url"),
        file_id=source.get("file_id"),
    )
