"""What an entry of a pi log says: its roles, its parts, and what stands beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ctxtree.importers.base import Marks
from ctxtree.importers.wire.parts import parts_of, result_of, string
from ctxtree.model import Message, Part, Reasoning, Text

ORIGINS: Mapping[str, str] = {
    "anthropic-messages": "anthropic",
    "openai-completions": "openai.chat",
    "openai-responses": "openai.responses",
    "openai-codex-responses": "openai.responses",
    "azure-openai-responses": "openai.responses",
    "google-generative-ai": "gemini",
    "google-vertex": "gemini",
    "google-gemini-cli": "gemini",
}
"""pi's names of APIs, and ours."""

FAILED = frozenset({"error", "aborted"})
HELD = frozenset({
    "role", "content", "model", "usage", "stopReason", "timestamp", "toolCallId", "toolName", "isError",
    "command", "output", "excludeFromContext", "summary",
})  # fmt: skip


def message_of(raw: Mapping[str, Any]) -> Message | None:
    """The message of an entry's `message`; None for a role that pi does not send and we do not know."""
    role = raw.get("role")
    origin = ORIGINS.get(str(raw.get("api")), "pi")
    match role:
        case "user" | "system" | "developer":
            return Message(role=role, parts=parts_of(raw.get("content"), "pi"))
        case "assistant":
            parts = parts_of(raw.get("content"), origin)
            given = raw.get("content")
            listed = given if isinstance(given, list) else []
            return Message(role="assistant", parts=_reasoned(parts, listed, origin))
        case "toolResult":
            result = result_of(raw, raw.get("toolCallId"), raw.get("content"), origin)
            return Message(role="tool", parts=(result,))
        case "bashExecution":
            return Message(role="user", parts=(Text(text=bash_text(raw)),))
        case "custom":
            return Message(role="user", parts=parts_of(raw.get("content"), "pi"))
        case "branchSummary" | "compactionSummary":
            return Message.of("note", string(raw.get("summary")) or "")
    return None


def _reasoned(parts: tuple[Part, ...], listed: list[Any], origin: str) -> tuple[Part, ...]:
    """The parts, with each reasoning given the origin and the seal that its API knows."""
    return tuple(
        _sealed(part, listed[index], origin) if isinstance(part, Reasoning) and index < len(listed) else part
        for index, part in enumerate(parts)
    )


def _sealed(part: Reasoning, raw: Any, origin: str) -> Reasoning:
    signature = string(raw.get("thinkingSignature")) if isinstance(raw, Mapping) else None
    if isinstance(raw, Mapping) and raw.get("redacted") and signature:
        return Reasoning(encrypted=signature, origin=origin)
    if origin == "openai.responses" and signature and signature.startswith("{"):
        item = _item(signature)
        return Reasoning(
            text=part.text,
            id=string(item.get("id")),
            encrypted=string(item.get("encrypted_content")),
            origin=origin,
        )
    return Reasoning(text=part.text, signature=signature, origin=origin)


def _item(signature: str) -> Mapping[str, Any]:
    """pi keeps a whole Responses item as the signature of its thinking."""
    try:
        item = json.loads(signature)
    except (ValueError, RecursionError):
        return {}
    return item if isinstance(item, dict) else {}


def bash_text(raw: Mapping[str, Any]) -> str:
    """A command that the user ran, in the words in which pi tells the model of it."""
    output = string(raw.get("output"))
    said = f"Ran `{raw.get('command') or ''}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    code = raw.get("exitCode")
    if raw.get("cancelled"):
        said += "\n\n(command cancelled)"
    elif isinstance(code, int) and code:
        said += f"\n\nCommand exited with code {code}"
    return said


def marks_of(raw: Mapping[str, Any]) -> Marks:
    """Model, stop reason, usage; incomplete for an aborted answer, hidden for what pi does not send."""
    stop = raw.get("stopReason")
    given = (
        ("model", raw.get("model")),
        ("stop", stop),
        ("usage", raw.get("usage")),
        ("incomplete", stop == "aborted"),
        ("hidden", bool(raw.get("excludeFromContext"))),
    )
    return tuple((name, value) for name, value in given if value)
