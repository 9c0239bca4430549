"""Failed attempts beside a path, and the one line that a model is told of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxtree import notices
from ctxtree.model import Node
from ctxtree.tree import DeadEnd, brief_call

LONGEST = 160
"""Characters of one part of a note."""

Telling = Callable[[str, int], str]
"""Text and a limit in characters -> its most telling line."""


@dataclass(frozen=True, slots=True)
class Note:
    """One note: the attempts that it tells of, where it stands, its words."""

    anchor: str
    nodes: tuple[str, ...]
    text: str


def notes(dead_ends: Sequence[DeadEnd], telling: Telling) -> tuple[Note, ...]:
    """One note for each kind of failure at each place; equal failures are told once, with their number.

    In order of the newest attempt of each kind, oldest first.
    """
    groups: dict[tuple[str, str, str, str], list[DeadEnd]] = {}
    for dead_end in dead_ends:
        tried, outcome = describe(dead_end.nodes, telling)
        groups.setdefault((dead_end.anchor, tried, outcome, ""), []).append(dead_end)
    made = []
    for (anchor, tried, outcome, _), attempts in groups.items():
        reason = _newest_reason(attempts)
        text = notices.dead_end(tried, outcome, reason, len(attempts))
        nodes = tuple(node.id for attempt in attempts for node in attempt.nodes)
        made.append(Note(anchor, nodes, text))
    return tuple(made)


def _newest_reason(attempts: Sequence[DeadEnd]) -> str:
    reasons = list(dict.fromkeys(attempt.reason for attempt in attempts if attempt.reason))
    return cut("; ".join(notices.one_line(reason) for reason in reasons[-3:]), LONGEST)


def describe(nodes: Sequence[Node], telling: Telling) -> tuple[str, str]:
    """What was tried (the last call that failed, or the first words), and what came out (its error line)."""
    calls = {call.id: call for node in nodes for call in node.message.calls}
    for node in reversed(nodes):
        for result in node.message.results:
            if result.error:
                call = calls.get(result.call_id)
                tried = brief_call(call) if call else result.name or "a tool"
                return _with_words(nodes, tried), cut(
                    notices.one_line(telling(result.text, LONGEST)), LONGEST
                )
    last_calls = [brief_call(call) for node in nodes for call in node.message.calls][-2:]
    tried = ", ".join(last_calls)
    return _with_words(nodes, tried), ""


def _with_words(nodes: Sequence[Node], tried: str) -> str:
    words = next((node.text for node in nodes if node.role == "assistant" and node.text.strip()), "")
    said = cut(notices.one_line(words[:400]), 80)
    if tried and said:
        return f'{tried} ("{said}")'
    return tried or (f'"{said}"' if said else "")


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
