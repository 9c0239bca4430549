"""What broke the prefix: a request against the one before it on the branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from types import MappingProxyType
from typing import Any

from ctxtree.gather import DERIVATION
from ctxtree.memory import Print
from ctxtree.report import PrefixReport

HEADS = frozenset({"system", "instructions", "systemInstruction"})
"""Parts of a request that hold the system prompt."""

CHANGED = MappingProxyType(
    {
        "tools": "the tools or the response format changed", "system": "the system prompt changed",
        "state": "the state changed or moved to newer words", "facts": "the facts changed",
        "retrieved": "the retrieved texts changed", "summary": "another summary",
        "dead_end": "a note of a failed attempt came or went",
        "recall": "other texts were called back, or given up for room",
        "input": "the input of the request before was not stored as it was given",
    }
)  # fmt: skip
"""By the kind of the first item that is not as it was."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What is kept of a request: its fingerprint, the node that it ended at, its report as stored, the budget asked for."""

    print: Print
    head: str | None
    report: Mapping[str, Any]
    budget: Mapping[str, Any]
    version: int = DERIVATION


def prefix_of(now: Sent, before: Sent | None, places: Mapping[str, float]) -> PrefixReport:
    """The report's `prefix`; `places` are those of the path that is compiled now."""
    if before is None:
        return PrefixReport(stable_tokens=0, break_at=-1, cause="the first request on this branch")
    tokens, at, name = now.print.against(before.print, now.report["tokens"])
    cause = "" if at < 0 else _cause(now, before, name, places)
    return PrefixReport(stable_tokens=tokens, break_at=at, cause=cause)


def _cause(now: Sent, before: Sent, name: str, places: Mapping[str, float]) -> str:
    if name in ("tools", "text"):
        return CHANGED["tools"]
    other = _asked_otherwise(now, before)
    if other:
        return other
    if before.head is not None and before.head not in places:
        return f"the path changed: {before.head[:8]}, where the request before ended, is not on it"
    if now.report["compaction"] is not None:
        return f"a compaction: {now.report['compaction']['reason']}"
    told = _told(_shown(before.report), _shown(now.report))
    if told:
        return told
    return CHANGED["system"] if name in HEADS else "an earlier message changed at the same length"


def _asked_otherwise(now: Sent, before: Sent) -> str:
    """What the caller, or the library, does not do as before; such a request shares no epoch with it."""
    if now.version != before.version:
        return "another version of ctxtree"
    for part in ("target", "policy"):
        if now.report[part] != before.report[part]:
            return f"another {part} than in the request before"
    if now.report["counter"]["name"] != before.report["counter"]["name"]:
        return "another counter than in the request before"
    return "another budget than in the request before" if now.budget != before.budget else ""


Shown = tuple[str, Any, str, int]


def _shown(report: Mapping[str, Any]) -> list[Shown]:
    """Kind, nodes, level and tokens of what was sent, in its order."""
    return [
        (item["kind"], item["nodes"], item["level"], item["tokens"])
        for item in report["items"]
        if item["level"] not in ("summarized", "dropped")
    ]


def _told(old: Sequence[Shown], new: Sequence[Shown]) -> str:
    """What the first item that differs says; an item that came in between is told rather than the one after it."""
    a, b = next(((a, b) for a, b in zip_longest(old, new) if a != b), (None, None))
    if a and b and a[0] == "input" and b[0] in ("message", "exchange"):
        return CHANGED["input"]
    came = b is not None and a is not None and b[:2] not in [one[:2] for one in old]
    item = b if a is None or (came and a[:2] in [one[:2] for one in new]) else a
    if item is None:
        return ""
    if item[0] in CHANGED:
        return CHANGED[item[0]]
    if a and b and a[:2] == b[:2] and a[2] != b[2]:
        return f"{a[0]} at place {_place(a)} of the path went from {a[2]} to {b[2]}"
    return f"{item[0]} at place {_place(item)} of the path is not told as it was"


def _place(item: Shown) -> str:
    first = item[1][0] if item[1] else "?"
    return str(first[0]) if isinstance(first, list) else str(first)[:8]
