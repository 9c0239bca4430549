"""Source text: both ends, and the lines that define something."""

from __future__ import annotations

from itertools import islice

from ctxtree.passes.condensers.cut import Shortener, alternate, from_ends, keep, line_around
from ctxtree.passes.condensers.kinds import DEFINITION

_DEFINITIONS = 400
_READ = 400_000


def code(text: str) -> Shortener:
    """A shortener for source files: imports and the end, then an outline of classes and functions.

    Looks for definitions in the first 400,000 characters, and keeps at most 400.
    """
    found = [match.start() for match in islice(DEFINITION.finditer(text, 0, _READ), _DEFINITIONS)]

    def shorten(room: int) -> str:
        cap = max(24, room // 4)
        outline = (line_around(text, at, cap) for at in found)
        return keep(text, alternate(from_ends(text, cap), outline), room)

    return shorten
