"""From room in characters to a limit in tokens or bytes: shorten, measure, correct."""

from __future__ import annotations

from collections.abc import Callable

from ctxtree.passes.condensers.cut import MARK, Shortener, ends
from ctxtree.passes.condensers.graphemes import border_after

Measure = Callable[[str], int]

_TRIES = 7
_FULL = 0.92
_GOOD = 0.7  # enough when more room gave no more
_LEAST_NAMES = (MARK, ".", "-")


def fit(shorten: Shortener, limit: int, measure: Measure, rate: float) -> str:
    """The longest text of a few tries that measures at most `limit`; not empty if `limit` is positive.

    `rate`: characters that one unit of the measure buys, a first guess. Only results are
    measured, so the cost depends on `limit` and not on what is shortened.
    """
    room = max(1, int(limit * rate))
    best, best_cost, seen = "", 0, set[int]()
    text = ""
    for _ in range(_TRIES):
        if room in seen:
            break
        seen.add(room)
        before, text = text, shorten(room)
        cost = measure(text)
        if best_cost < cost <= limit:
            best, best_cost = text, cost
        if limit * (_GOOD if text == before else _FULL) <= cost <= limit:
            break
        # A little under the proportional step: markers and joints do not shrink with the room.
        step = limit / max(cost, 1) * (0.97 if cost > limit else 0.99)
        room = max(1, int(room * min(max(step, 0.2), 2.5)))
    return best or squeeze(text, limit, measure)


def squeeze(text: str, limit: int, measure: Measure) -> str:
    """Both ends of `text` within `limit`, by halving; at worst its first character or a mark."""
    low, high, best = 1, len(text), ""
    while low <= high:
        room = (low + high) // 2
        shorter = ends(text, room)
        if measure(shorter) <= limit:
            low, best = room + 1, shorter
        else:
            high = room - 1
    if best:
        return best
    first = text[: border_after(text, 1)]
    return next((name for name in (first, *_LEAST_NAMES) if name and measure(name) <= limit), "")
