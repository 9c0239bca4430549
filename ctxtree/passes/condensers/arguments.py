"""Call arguments in short: every key stays, long values are cut where a reader sees it."""

from __future__ import annotations

from typing import Any

from ctxtree.model import sendable
from ctxtree.passes.condensers.cut import MARK, clip
from ctxtree.passes.condensers.fit import Measure
from ctxtree.passes.condensers.graphemes import border_after, border_before
from ctxtree.passes.condensers.json_text import dump

_LIMITS = (4_000, 2_000, 1_000, 500, 240, 120, 80, 50, 32, 24, 16, 8)
_DEPTH = 5
_SPACIOUS = 50
_NUMBER = 40
_CHARACTERS = 16  # more than a token can be expected to hold: longer text need not be counted


def shorten(arguments: dict[str, Any] | str, max_tokens: int, counter: Measure) -> dict[str, Any]:
    """The arguments as an object that costs `max_tokens` or as little as keeping every key allows.

    A cut value reads "first characters … [3,214 characters left out]". Text that is no JSON object
    stands under `_raw`. Models copy what they see, so values are cut visibly, and nothing is cut in an
    open tool loop or beside reasoning that is kept: that is the caller's to see to.
    """
    given = as_object(arguments)
    text = dump(given)
    if len(text) <= max_tokens * _CHARACTERS and counter(text) <= max_tokens:
        return given
    shorter = given
    for limit in _LIMITS:
        shorter = {name: _value(held, limit, _DEPTH) for name, held in given.items()}
        text = dump(shorter)
        if len(text) <= max_tokens * _CHARACTERS and counter(text) <= max_tokens:
            return shorter
    return shorter


def as_object(arguments: dict[str, Any] | str) -> dict[str, Any]:
    """A JSON object, whatever came; see `ToolCall.object`."""
    if isinstance(arguments, dict):
        return arguments
    try:
        parsed = sendable(arguments or "{}")
    except (ValueError, RecursionError):
        return {"_raw": arguments}
    return parsed if isinstance(parsed, dict) else {"_raw": parsed}


def _value(value: Any, limit: int, depth: int) -> Any:
    match value:
        case str():
            return _string(value, limit)
        case dict() if value and depth <= 0:
            return f"{{{MARK} {len(value):,} keys left out}}"
        case dict():
            return {name: _value(held, limit, depth - 1) for name, held in value.items()}
        case list() if value and depth <= 0:
            return f"[{MARK} {len(value):,} items left out]"
        case list():
            return _list(value, limit, depth)
        case int() if not isinstance(value, bool) and value.bit_length() > 4 * _NUMBER:
            return f"[a number of {value.bit_length():,} bits left out]"
        case _:
            return value


def _list(value: list[Any], limit: int, depth: int) -> list[Any]:
    most = max(1, limit // 16)
    kept = [_value(item, limit, depth - 1) for item in value[:most]]
    return kept if len(value) <= most + 1 else [*kept, f"{MARK} {len(value) - most:,} more items"]


def _string(text: str, limit: int) -> str:
    """The beginning, of a path the end: that is where the file's name stands."""
    if len(text) <= limit + 12:
        return text
    if "/" in text and len(text) <= 300 and not any(map(str.isspace, text)):
        return MARK + text[border_after(text, len(text) - max(limit, 24)) :] if len(text) > 36 else text
    stop = border_before(text, limit) or border_after(text, 1)
    words = "characters left out" if limit >= _SPACIOUS else "more"
    shorter = f"{text[:stop]}{MARK} [{len(text) - stop:,} {words}]"
    return shorter if len(shorter) < len(text) else clip(text, max(limit, 12))
