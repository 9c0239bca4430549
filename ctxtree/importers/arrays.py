"""Elements out of one large JSON array, one at a time, in memory for the largest element.

The array is cut at its brackets and each element parsed by itself: so an element that is damaged
costs only itself, every issue has a place, and text comes out as `json` gives it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from ctxtree.importers.base import Log
from ctxtree.importers.lines import BOM, Record, read_object

CHUNK = 1 << 20

_OUTSIDE = re.compile(rb'["\[\]{}]')
_INSIDE = re.compile(rb'["\\]')


class _Cutter:
    """Follows strings and brackets through chunks; gives the bytes between the outermost brackets.

    `base` is the file's offset of the buffer, `line` the line number at `counted` in the buffer.
    """

    __slots__ = ("base", "buffer", "counted", "depth", "inside", "line", "place", "start")

    def __init__(self, base: int) -> None:
        self.buffer = bytearray()
        self.base = base
        self.line = 1
        self.counted = self.depth = self.place = 0
        self.start = -1
        self.inside = False

    def feed(self, chunk: bytes) -> Iterator[tuple[int, int, bytes]]:
        """Line, offset and bytes of each element that this chunk completes."""
        self.buffer += chunk
        while self.place < len(self.buffer):
            match = (_INSIDE if self.inside else _OUTSIDE).search(self.buffer, self.place)
            if match is None:
                self.place = len(self.buffer)
                break
            self.place = match.end()
            begin = self._step(match.group(), match.start())
            if begin >= 0:
                self._count_to(begin)
                yield self.line, self.base + begin, bytes(self.buffer[begin : match.end()])
        self._forget()

    def _step(self, token: bytes, at: int) -> int:
        """Where the element began that ends with this token, or -1."""
        if token == b"\\":
            self.place += 1
        elif token == b'"':
            self.inside = not self.inside
        elif token in (b"{", b"["):
            self.depth += 1
            if self.depth == 2:
                self.start = at
        else:
            self.depth -= 1
            if self.depth == 1 and self.start >= 0:
                begin, self.start = self.start, -1
                return begin
        return -1

    def _count_to(self, place: int) -> None:
        self.line += self.buffer.count(b"\n", self.counted, place)
        self.counted = place

    def _forget(self) -> None:
        """Drop what lies behind the element at hand."""
        gone = min(self.start if self.start >= 0 else self.place, len(self.buffer))
        self._count_to(gone)
        del self.buffer[:gone]
        self.base += gone
        self.place -= gone
        self.counted = 0
        self.start = 0 if self.start >= 0 else -1


def elements(stream: BinaryIO, log: Log, deep: bool = False) -> Iterator[Record]:
    """The objects of a JSON array, in order. Other elements and damaged ones go to `log`."""
    cutter = _Cutter(stream.tell())
    first = True
    while chunk := stream.read(CHUNK):
        if first and chunk.startswith(BOM):
            log.add("bom", "a byte order mark", "passed over", 1, 0)
        first = False
        for line, offset, raw in cutter.feed(chunk):
            yield from read_object(raw, line, offset, log, deep=deep)
    if cutter.depth > 0:
        lost = 1 if cutter.start >= 0 else 0
        log.add(
            "truncated_line", "the array is not closed", "what is whole is kept", cutter.line, cutter.base,
            skipped=lost,
        )  # fmt: skip
