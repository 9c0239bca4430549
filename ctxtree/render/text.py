"""A readable transcript: `{"text"}`, with one line of role before each message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxtree.imitation import no_turns
from ctxtree.model import Media, Opaque, Reasoning, Text, ToolCall, ToolResult
from ctxtree.plan import Counter, Rendered, Said, Settings
from ctxtree.render.dialects import known_dialect
from ctxtree.render.fit import Rules, never
from ctxtree.render.normal import normal
from ctxtree.render.steps import Block, Ledger, Step, brief
from ctxtree.render.weight import Tally

JOINT = "\n\n"
ROLES = {"system": "System", "developer": "System", "user": "User", "assistant": "Assistant"}


RULES = Rules(origins=frozenset(), ids=None, holds=never, result_holds=never, thinks=never, begins=False)


def render(said: Sequence[Said], settings: Settings, counter: Counter) -> Rendered:
    """The transcript. Raises `TargetError` (`no_user_turn`, `unknown_dialect`)."""
    if settings.dialect is not None:
        known_dialect(settings.dialect, ())
    ledger = Ledger()
    pieces = [piece for step in normal(said, RULES, ledger) for piece in _pieces(step, ledger)]
    if settings.tools:
        ledger.add("tools_dropped")
    if settings.response_format:
        ledger.add("response_format_dropped")
    tally = Tally(counter)
    return tally.rendered({"text": tally.joined(pieces, JOINT)}, 0, ledger, 0)


def foreseen(_settings: Settings, _counter: Counter) -> int:
    """Nothing: a transcript holds no tools."""
    return 0


def weigh(payload: Mapping[str, Any], counter: Counter) -> int:
    """The tokens of a finished transcript, counted anew."""
    return counter(payload["text"])


def _pieces(step: Step, ledger: Ledger) -> Iterator[tuple[int, str]]:
    role = ROLES.get(step.role)
    if role is None:
        yield from ((block.item, _line(block, ledger)) for block in step.blocks)
        return
    for index, block in enumerate(step.blocks):
        line = _line(block, ledger)
        yield block.item, line if index or isinstance(block.part, ToolCall) else f"{role}: {line}"


def _line(block: Block, ledger: Ledger) -> str:
    match block.part:
        case Text(text=text):
            return _within(text, block, ledger)
        case ToolCall() as call:
            return f"[call {brief(call, value_chars=2000, total_chars=8000)}]"
        case ToolResult() as result:
            failed = " failed" if result.error else ""
            return f"[tool {block.name}{failed} → {_within(result.text, block, ledger)}]"
        case Media() | Opaque() | Reasoning():
            raise AssertionError(f"{block.part.type} was to be told as text")


def _within(text: str, block: Block, ledger: Ledger) -> str:
    """What was said, without lines that would begin a turn, a call or a result of the transcript itself."""
    kept = no_turns(text)
    if kept != text:
        ledger.add("notice_imitated", block.node)
    return kept
