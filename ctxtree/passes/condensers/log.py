"""Lines of output: both ends, the lines that tell of failures with their neighbours, repetitions folded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby

from ctxtree.passes.condensers.cut import Shortener, Span, alternate, from_ends, keep, line_around
from ctxtree.passes.condensers.telling import failures, plain_of_ansi

_NEIGHBOURS = (-1, 1, -2)


def log(text: str) -> Shortener:
    """A shortener for logs, test output and stack traces: half the room for the ends, half for what failed.

    Line numbers are not kept. Reading costs about 60 ms for 5 MB.
    """
    folded = fold_repeats(plain_of_ansi(text))
    found = failures(folded)

    def shorten(room: int) -> str:
        cap = max(24, room // 3)
        return keep(folded, candidates(folded, found, cap), room)

    return shorten


def candidates(text: str, found: list[int], cap: int) -> Iterator[Span]:
    """The last and the first line, then failures and ends in turn, then the failures' neighbours."""
    outer = from_ends(text, cap)
    told = (line_around(text, at, cap * 5 // 4) for at in found)
    near = (span for at in found for span in _neighbours(text, at, cap))
    both = (next(outer, (0, 0)), next(outer, (0, 0)))
    return chain(both, alternate(chain(told, near), outer))


def fold_repeats(text: str) -> str:
    """Equal lines in a row as one line with "(×37)"; carriage returns count as line breaks."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    folded: list[str] = []
    for line, run in groupby(lines):
        count = sum(1 for _ in run)
        folded.append(f"{line} (×{count:,})" if count > 2 and line.strip() else line)
        if count == 2 and line.strip():
            folded.append(line)
    return "\n".join(folded)


def _neighbours(text: str, at: int, cap: int) -> Iterator[Span]:
    start, stop = line_around(text, at, len(text))
    for step in _NEIGHBOURS:
        place = stop if step > 0 else start - 1
        for _ in range(abs(step) - 1):
            place = text.rfind("\n", 0, max(place, 0))
        if 0 <= place < len(text):
            yield line_around(text, place, cap)
