"""A node as a summarizer reads it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ctxtree.model import Media, Node, ToolCall, ToolResult, canonical
from ctxtree.plan import Entry
from ctxtree.summarizers.sentences import both_ends, flat

OWN_CHARACTERS = 4_000
"""What is read of one message of a person or a model; tool output has its own, smaller limit."""

_NONE: Mapping[str, str] = MappingProxyType({})


def entry(node: Node, failed: str = "", tool_names: Mapping[str, str] = _NONE, cut: int = 300) -> Entry:
    """The node in brief: its words, its calls as `read(path=a.py)`, its results cut to `cut` characters.

    `failed`: why the node was given up, if it was. `tool_names`: the tool of each call id, for results
    that do not name theirs. Words beside results stay the words; results alone become a tool's entry.
    """
    message = node.message
    results = message.results
    words = both_ends(message.text, OWN_CHARACTERS)
    held = [part for part in message.parts if isinstance(part, Media)]
    words = "\n".join([words, *map(_media, held)]).strip() if held else words
    role = message.role
    if results and not words.strip():
        role, words = "tool", both_ends("\n".join(result.text for result in results), cut)
    elif role == "tool":
        words = both_ends(words, cut)
    return Entry(
        node=node.id,
        role=role,
        text=words,
        calls=tuple(brief_call(call) for call in message.calls),
        tool=_names(results, tool_names),
        error=any(result.error for result in results),
        failed=failed,
    )


def brief_call(call: ToolCall, value: int = 60, whole: int = 200) -> str:
    """A call on one line: every key, values of at most `value` characters (paths to twice that), `whole` in all."""
    shown = ", ".join(f"{key}={_value(held, value)}" for key, held in call.object.items())
    return f"{call.name}({both_ends(shown, whole)})"


def _value(held: object, limit: int) -> str:
    text = held if isinstance(held, str) else canonical(held)
    text = flat(text[: 4 * limit])
    limit = limit if " " in text else 2 * limit
    return text if len(text) <= limit else f"{text[:limit]}…"


def _media(part: Media) -> str:
    name = f" {part.name}" if part.name else ""
    return f"[{part.kind}{name}]" + (f" {part.transcript}" if part.transcript else "")


def _names(results: tuple[ToolResult, ...], tool_names: Mapping[str, str]) -> str:
    names = (result.name or tool_names.get(result.call_id, "") for result in results)
    return ", ".join(dict.fromkeys(name for name in names if name))
