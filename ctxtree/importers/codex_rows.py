"""What a line of a Codex log is. Newer logs wrap each record in {timestamp, type, payload}; older do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ITEMS = frozenset({
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
    "custom_tool_call_output", "local_shell_call", "local_shell_call_output", "web_search_call",
    "tool_search_call", "tool_search_output", "image_generation_call", "agent_message",
})  # fmt: skip
"""Response items that are part of the conversation."""

ASIDE = frozenset({"ghost_snapshot", "compaction", "other"})
"""Response items that are not."""

MIRRORS: Mapping[str, tuple[str, str, str]] = {
    "user_message": ("message", "user", "input_text"),
    "agent_message": ("message", "assistant", "output_text"),
    "agent_reasoning": ("text", "reasoning", "summary_text"),
}
"""Events that repeat an item: the field with the words, whose they are, and the type of their part."""

CONTEXT = (
    "<environment_context>", "<user_instructions>", "<permissions instructions>", "# AGENTS.md instructions",
    "<turn_aborted>", "<INSTRUCTIONS>",
)  # fmt: skip
"""How texts begin that stand as the user's and were put there by the program."""


def unwrapped(data: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The kind of a record and what it holds. Kinds: those of the wrapper; a bare item is a `response_item`."""
    payload, kind = data.get("payload"), data.get("type")
    if isinstance(payload, Mapping) and isinstance(kind, str):
        return kind, payload
    if isinstance(kind, str) and kind in ITEMS:
        return "response_item", data
    if "record_type" in data:
        return "state", data
    if kind is None and isinstance(data.get("id"), str) and "timestamp" in data:
        return "session_meta", data
    return str(kind) if kind is not None else "(none)", data


def event_item(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """The item that an event repeats, made from the event; None for all other events."""
    mirror = MIRRORS.get(str(event.get("type")))
    words = event.get(mirror[0]) if mirror else None
    if mirror is None or not isinstance(words, str):
        return None
    part = {"type": mirror[2], "text": words}
    if mirror[1] == "reasoning":
        return {"type": "reasoning", "summary": [part]}
    return {"type": "message", "role": mirror[1], "content": [part]}


def speech(item: Mapping[str, Any]) -> tuple[str, str] | None:
    """Who speaks in an item, and the words: by these an event and its item are known to be one."""
    kind = item.get("type")
    content = item.get("summary") if kind == "reasoning" else item.get("content")
    if kind not in ("message", "reasoning") or not isinstance(content, list):
        return None
    texts = [part.get("text") for part in content if isinstance(part, Mapping)]
    who = "reasoning" if kind == "reasoning" else str(item.get("role"))
    return who, "\n".join(text for text in texts if isinstance(text, str))


def is_context(item: Mapping[str, Any]) -> bool:
    """True for a user's message that the program wrote: environment, instructions."""
    said = speech(item)
    return said is not None and said[0] == "user" and said[1].lstrip().startswith(CONTEXT)
