"""Short ways to say things in tests, and what every rendering must satisfy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from ctxtree.model import Message, Opaque, Part, Reasoning, ResultPart, Role, Text, ToolCall, ToolResult
from ctxtree.plan import Rendered, Said, Settings
from ctxtree.render import TARGETS, target
from ctxtree.tokens import TextCounter, counter_for
from tests.validity import violations

CHAT_DIALECTS = ("strict", "no_system", "mistral", "bedrock", "deepseek")
PLACES: list[tuple[str, str | None]] = [
    *((name, None) for name in TARGETS),
    ("gemini", "gemini-3"),
    *(("openai.chat", dialect) for dialect in CHAT_DIALECTS),
]
"""Every target with every dialect."""

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@cache
def counter() -> TextCounter:
    return counter_for("o200k_base")


def words(role: Role, text: str) -> Message:
    return Message.of(role, text)


def says(*parts: Part | str) -> Message:
    return Message(
        role="assistant", parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts)
    )


def call(identity: str, name: str = "read", arguments: dict[str, Any] | str = "{}", **more: Any) -> ToolCall:
    return ToolCall(id=identity, name=name, arguments=arguments, **more)


def result(identity: str, *parts: ResultPart | str, error: bool = False) -> Message:
    held = tuple(Text(text=part) if isinstance(part, str) else part for part in parts)
    return Message(role="tool", parts=(ToolResult(call_id=identity, parts=held, error=error),))


def thought(text: str = "hm", signature: str | None = "SIG") -> Reasoning:
    return Reasoning(text=text, signature=signature, origin="anthropic")


def fields(origin: str, **data: Any) -> Opaque:
    return Opaque(origin=origin, kind="fields", data=data)


def spoken(*messages: Message | Said) -> list[Said]:
    """Each message as an item of its own, with the node `n0`, `n1`, …"""
    return [
        message if isinstance(message, Said) else Said(message, index, f"n{index}")
        for index, message in enumerate(messages)
    ]


def note(text: str, item: int = 90) -> Said:
    return Said(Message.of("user", text), item, note=True)


def rendered(
    name: str, said: Sequence[Said | Message], dialect: str | None = None, **settings: Any
) -> Rendered:
    """The rendering, after checking that it is valid, exactly accounted and the same twice."""
    ready = Settings(dialect=dialect, **settings)
    listed = spoken(*said)
    made = target(name)(listed, ready, counter())
    again = target(name)(listed, ready, counter())
    assert json.dumps(made.payload) == json.dumps(again.payload)
    assert made == again
    assert violations(name, made.payload, dialect if name == "openai.chat" else None) == []
    assert made.tokens == TARGETS[name].weigh(made.payload, counter())
    assert 0 <= made.overhead <= 60
    assert set(made.spans) <= {entry.item for entry in listed}
    return made


def codes(made: Rendered) -> set[str]:
    return {signal.code for signal in (*made.repairs, *made.losses)}


def everything(made: Rendered) -> str:
    return json.dumps(made.payload, ensure_ascii=False)
