"""OpenAI Chat Completions: `{"messages", "tools"?, "response_format"?}`, and its dialects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxtree.model import Media, Opaque, Reasoning, ResultPart, Text, ToolCall, ToolResult
from ctxtree.plan import Counter, Rendered, Said, Settings
from ctxtree.render.attach import data_url, from_url, inline, link
from ctxtree.render.dialects import SOUNDS, Dialect, adapted, declared, dialect_of
from ctxtree.render.ids import legal_name
from ctxtree.render.normal import normal
from ctxtree.render.steps import Block, Ledger, Step
from ctxtree.render.tools import extras_tokens, shaped, write_format
from ctxtree.render.weight import (
    MESSAGE_TOKENS,
    REPLY_TOKENS,
    Tally,
    call_cost,
    fields_cost,
    json_cost,
    media_cost,
    name_cost,
    result_cost,
)
from ctxtree.tokens import arguments_text, format_tokens, tools_tokens

KNOWN = ("role", "content", "tool_calls", "tool_call_id", "name", "reasoning_content")
UNSENT = frozenset({*KNOWN, "type", "audio", "weight", "function_call"})
"""Recorded fields that do not go back: what we write ourselves, audio ids that expire, training weights."""

JOINT = "\n\n"


def render(said: Sequence[Said], settings: Settings, counter: Counter) -> Rendered:
    """The request body. Raises `TargetError` (`no_user_turn`, `unknown_dialect`)."""
    dialect = dialect_of(settings.dialect)
    ledger = Ledger()
    steps = adapted(normal(said, dialect.rules, ledger), dialect, ledger)
    tally = Tally(counter)
    payload: dict[str, Any] = {"messages": [one for step in steps for one in _messages(step, dialect, tally)]}
    tools, dropped = shaped(settings.tools, "chat")
    if dropped:
        ledger.add("tools_dropped")
    if dialect.declares:
        tools = declared(tools, steps, ledger)
    if tools:
        payload["tools"] = tools
    form = write_format(settings.response_format, "chat") if settings.response_format else None
    if form:
        payload["response_format"] = form
    return tally.rendered(payload, extras(payload, counter), ledger, REPLY_TOKENS)


def foreseen(settings: Settings, counter: Counter) -> int:
    """What tools and response format will cost."""
    return extras_tokens(settings, "chat", counter)


def weigh(payload: Mapping[str, Any], counter: Counter) -> int:
    """The tokens of a finished request, counted anew."""
    return (
        REPLY_TOKENS
        + extras(payload, counter)
        + sum(_message_cost(message, counter) for message in payload["messages"])
    )


def extras(payload: Mapping[str, Any], counter: Counter) -> int:
    """What tools and response format cost."""
    tools, form = payload.get("tools"), payload.get("response_format")
    return (tools_tokens(tools, counter) if tools else 0) + (format_tokens(form, counter) if form else 0)


def _messages(step: Step, dialect: Dialect, tally: Tally) -> Iterator[dict[str, Any]]:
    if step.role == "tool":
        for block in step.blocks:
            yield _result(block, dialect, tally)
        return
    tally.charge(step.blocks[0].item, MESSAGE_TOKENS)
    message: dict[str, Any] = {"role": step.role, "content": _content(step, dialect, tally)}
    if step.name and not dialect.strings:
        message["name"] = legal_name(step.name)
        tally.charge(step.blocks[0].item, name_cost(message["name"], tally.counter))
    if step.role == "assistant":
        message.update(_thinking(step, tally))
        if step.calls:
            message["tool_calls"] = [_call(block, tally) for block in step.calls]
    message.update(_fields(step, tally))
    yield message


def _content(step: Step, dialect: Dialect, tally: Tally) -> str | list[dict[str, Any]] | None:
    """None where there is none, a string for one text, else a list of parts."""
    shown = [block for block in step.blocks if _has_content(block)]
    texts = [(block.item, block.part.text) for block in shown if isinstance(block.part, Text)]
    if dialect.strings:
        return tally.joined(texts, JOINT) if texts else ""
    if not shown:
        return None
    if len(shown) == len(texts) == 1:
        return tally.joined(texts, JOINT)
    parts = [(_part(block.part), block.item) for block in shown]
    for part, item in parts:
        tally.charge(item, _part_cost(part, tally.counter))
    return [part for part, _ in parts]


def _has_content(block: Block) -> bool:
    match block.part:
        case Text() | Media():
            return True
        case Opaque(kind=kind):
            return kind not in ("fields", "refusal")
        case _:
            return False


def _part(part: Any) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Opaque(data=data):
            return data if isinstance(data, dict) else {"type": part.kind, "data": data}
        case Media(kind="image"):
            detail = {"detail": part.detail} if part.detail else {}
            return {"type": "image_url", "image_url": {"url": data_url(part) or link(part), **detail}}
        case Media(kind="audio"):
            kind, data = inline(part) or ("", "")
            return {"type": "input_audio", "input_audio": {"data": data, "format": SOUNDS[kind]}}
        case _:
            name = {"filename": part.name} if part.name else {}
            held = data_url(part)
            return {
                "type": "file",
                "file": {"file_data": held, **name} if held else {"file_id": part.file_id},
            }


def _part_cost(part: Mapping[str, Any], counter: Counter) -> int:
    match part.get("type"):
        case "text":
            return counter(part["text"])
        case "image_url":
            image = part["image_url"]
            return media_cost(from_url(image["url"], "image", detail=image.get("detail")), counter, "openai")
        case "input_audio":
            return media_cost(Media(kind="audio", data=part["input_audio"]["data"]), counter, "openai")
        case "file":
            file = part["file"]
            held = file.get("file_data")
            media = from_url(held, "file") if held else Media(kind="file", file_id=file.get("file_id"))
            return media_cost(media, counter, "openai")
        case _:
            return json_cost(part, counter)


def _call(block: Block, tally: Tally) -> dict[str, Any]:
    assert isinstance(block.part, ToolCall)
    arguments = arguments_text(block.part)
    tally.charge(block.item, call_cost(block.id, block.name, arguments, tally.counter))
    return {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": arguments}}


def _result(block: Block, dialect: Dialect, tally: Tally) -> dict[str, Any]:
    assert isinstance(block.part, ToolResult)
    content = _result_content(block.part.parts, dialect)
    message = {"role": "tool", "tool_call_id": block.id, "content": content}
    tally.charge(block.item, _message_cost(message, tally.counter))
    return message


def _result_content(parts: Sequence[ResultPart], dialect: Dialect) -> str | list[dict[str, Any]]:
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(texts) == 1 or dialect.strings:
        return JOINT.join(texts)
    return [{"type": "text", "text": text} for text in texts]


def _thinking(step: Step, tally: Tally) -> dict[str, Any]:
    pieces = [(block.item, block.part.text) for block in step.blocks if isinstance(block.part, Reasoning)]
    return {"reasoning_content": tally.joined(pieces, JOINT)} if pieces else {}


def _fields(step: Step, tally: Tally) -> dict[str, Any]:
    """The recorded fields that go back; of two with one name the later one."""
    owners: dict[str, int] = {}
    fields: dict[str, Any] = {}
    for block in step.blocks:
        part = block.part
        if not (
            isinstance(part, Opaque) and part.kind in ("fields", "refusal") and isinstance(part.data, dict)
        ):
            continue
        sent = {key: value for key, value in part.data.items() if key not in UNSENT and value is not None}
        fields |= sent
        owners |= dict.fromkeys(sent, block.item)
    for key, item in owners.items():
        tally.charge(item, fields_cost({key: fields[key]}, KNOWN, tally.counter))
    return fields


def _message_cost(message: Mapping[str, Any], counter: Counter) -> int:
    cost = MESSAGE_TOKENS + fields_cost(message, KNOWN, counter)
    content = message.get("content")
    if isinstance(content, str):
        cost += counter(content)
    elif content:
        cost += sum(_part_cost(part, counter) for part in content)
    if "tool_call_id" in message:
        cost += result_cost(message["tool_call_id"], counter)
    if "name" in message:
        cost += name_cost(message["name"], counter)
    cost += counter(message["reasoning_content"]) if "reasoning_content" in message else 0
    for call in message.get("tool_calls", ()):
        function = call["function"]
        cost += call_cost(call["id"], function["name"], function["arguments"], counter)
    return cost
