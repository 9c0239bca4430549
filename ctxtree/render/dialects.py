"""What servers with an OpenAI Chat interface want otherwise, as data and small rules.

`strict`: chat templates that alternate user and assistant, with string contents and one leading
system message. `no_system`: those that have no system role at all. `mistral`: ids of nine letters or
digits, and the last message is never the assistant's. `bedrock`: a Converse backend behind the
interface. `deepseek`: gets `reasoning_content` back in turns with tool calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxtree.errors import TargetError
from ctxtree.model import Media, Reasoning
from ctxtree.render.attach import file_of, inline, is_image, is_pdf, link
from ctxtree.render.fit import Rules, never
from ctxtree.render.ids import CHAT, MISTRAL
from ctxtree.render.steps import Ledger, Step

ORIGINS = frozenset({"openai.chat", "openai"})
FILES = frozenset({*ORIGINS, "openai.responses"})
SOUNDS = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/mp3": "mp3",
    "audio/mpeg": "mp3",
}
"""Sound types by the names that the API has for them."""


def _holds(media: Media) -> bool:
    held = inline(media)
    match media.kind:
        case "image":
            return is_image(media) and bool(held or link(media))
        case "audio":
            return held is not None and held[0] in SOUNDS
        case "file":
            return (held is not None and is_pdf(media)) or file_of(media, FILES) is not None
        case _:
            return False


def _plain_thinking(part: Reasoning) -> bool:
    return bool(part.text.strip()) and not part.sealed and part.origin in (None, "deepseek", *ORIGINS)


PLAIN = Rules(origins=ORIGINS, ids=CHAT, holds=_holds, result_holds=never, thinks=never, fields=True)
STRICT = replace(PLAIN, origins=frozenset(), holds=never, merges=True, apart=True, defuses=True, fields=False)


@dataclass(frozen=True, slots=True)
class Dialect:
    """Rules and the few things beyond them. `strings`: contents are strings; `one_system`: a single
    system message, or none (`no_system`); `declares`: tools in the history must be declared."""

    rules: Rules
    strings: bool = False
    one_system: bool = False
    no_system: bool = False
    declares: bool = False


DIALECTS = {
    "strict": Dialect(STRICT, strings=True, one_system=True),
    "no_system": Dialect(STRICT, strings=True, no_system=True),
    "mistral": Dialect(replace(STRICT, ids=MISTRAL, ends=True), strings=True, one_system=True),
    "bedrock": Dialect(replace(PLAIN, merges=True, apart=True, ends=True), declares=True),
    "deepseek": Dialect(replace(PLAIN, thinks=_plain_thinking)),
}


def dialect_of(name: str | None) -> Dialect:
    """The dialect of that name; plain OpenAI Chat for None. Raises `TargetError` for another name."""
    if name is None:
        return Dialect(PLAIN)
    return DIALECTS[known_dialect(name, DIALECTS)]


def known_dialect(name: str, known: Sequence[str] | dict[str, Any]) -> str:
    if not isinstance(name, str) or name not in known:
        listed = ", ".join(known) or "none"
        raise TargetError(
            "unknown_dialect", f"dialect {str(name)[:40]!r} is not known to this target; it has: {listed}"
        )
    return name


def adapted(steps: list[Step], dialect: Dialect, ledger: Ledger) -> list[Step]:
    """The steps with what the dialect wants beside its rules."""
    if dialect.one_system or dialect.no_system:
        steps = _one_head(steps, into_user=dialect.no_system)
    if dialect.rules.thinks is _plain_thinking:
        steps = _thinking_with_tools(steps, ledger)
    return steps


def _one_head(steps: list[Step], into_user: bool) -> list[Step]:
    """All leading system messages as one, or as the first blocks of the first user message."""
    count = next(
        (at for at, step in enumerate(steps) if step.role not in ("system", "developer")), len(steps)
    )
    if not count:
        return steps
    blocks = tuple(block for step in steps[:count] for block in step.blocks)
    if into_user:
        first = steps[count]
        return [first.keep((*blocks, *first.blocks)), *steps[count + 1 :]]
    return [replace(steps[0], role="system", blocks=blocks), *steps[count:]]


def _thinking_with_tools(steps: list[Step], ledger: Ledger) -> list[Step]:
    """Reasoning stays in turns that hold a call, where the API demands it, and goes elsewhere."""
    out: list[Step] = []
    start = 0
    for end in range(1, len(steps) + 1):
        if end < len(steps) and steps[end].role != "user":
            continue
        turn = steps[start:end]
        kept = any(step.calls for step in turn)
        out += turn if kept else [_without_thinking(step, ledger) for step in turn]
        start = end
    return out


def _without_thinking(step: Step, ledger: Ledger) -> Step:
    blocks = [block for block in step.blocks if not isinstance(block.part, Reasoning)]
    if len(blocks) == len(step.blocks):
        return step
    ledger.add("reasoning_dropped", step.node)
    return step.keep(blocks)


def declared(tools: list[dict[str, Any]], steps: Sequence[Step], ledger: Ledger) -> list[dict[str, Any]]:
    """The tools, or stand-ins for those in the history where none are given."""
    names = sorted({block.name for step in steps for block in step.calls})
    if tools or not names:
        return tools
    ledger.add("tools_declared")
    said = "Used earlier in this conversation."
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    return [
        {"type": "function", "function": {"name": name, "description": said, "parameters": schema}}
        for name in names
    ]
