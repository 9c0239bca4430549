"""Tables (CSV, TSV, Markdown): the header, both ends, rows that tell of failures, the number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ctxtree.passes.condensers.cut import Shortener, Span, alternate, from_ends, keep, line_around
from ctxtree.passes.condensers.telling import failures


def table(text: str) -> Shortener:
    """A shortener for tables. A row is a line; a quoted line break counts as two rows."""
    found = failures(text)
    header = list(_header(text))
    total = text.rstrip("\n").count("\n") + 1 - len(header)

    def shorten(room: int) -> str:
        cap = max(24, room // 3)
        outer = from_ends(text, cap)
        told = (line_around(text, at, cap) for at in found)
        first = (next(outer, (0, 0)), *(_cut(span, cap) for span in header))
        return keep(text, chain(first, alternate(outer, told)), room, "rows", total)

    return shorten


def _header(text: str) -> Iterator[Span]:
    start = 0
    while start < len(text):
        stop = text.find("\n", start) + 1 or len(text)
        yield start, stop
        following = text[stop : stop + 200].split("\n")[0]
        if start or not (following.strip() and set(following) <= set("|:- +=")):
            return
        start = stop


def _cut(span: Span, cap: int) -> Span:
    return span[0], min(span[1], span[0] + cap)
