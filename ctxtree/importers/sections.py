"""The fields of one large JSON object, lists among them an element at a time.

What an export of a whole tree or of an evaluation needs: a few fields, and lists of many records. Memory
is the largest element, not the file.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from ctxtree.model import finite

CHUNK = 1 << 20
BOM = "\ufeff"

_SPACE = re.compile(r"[ \t\r\n]*")
_EXACT = json.JSONDecoder(strict=False)
_SENDABLE = json.JSONDecoder(strict=False, parse_constant=str, parse_float=finite)


class _Text:
    """The text of a stream, read on as it is needed and forgotten behind `at`."""

    __slots__ = ("at", "counted", "decoder", "ended", "line", "stream", "text", "values")

    def __init__(self, stream: BinaryIO, values: json.JSONDecoder) -> None:
        self.stream = stream
        self.values = values
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text = ""
        self.at = self.counted = 0
        self.line = 1
        self.ended = False

    def more(self) -> bool:
        """Read at least as much again as is held, so that a long element is tried a few times only."""
        raw = self.stream.read(max(CHUNK, len(self.text) - self.at))
        self.ended = not raw
        self.here()
        self.text = self.text[self.at :] + self.decoder.decode(raw, final=self.ended)
        self.at = self.counted = 0
        return not self.ended

    def here(self) -> int:
        """The number of the line that is being read."""
        self.line += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        return self.line

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            found = _SPACE.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def take(self, expected: str) -> None:
        if self.peek() != expected:
            raise ValueError(f"{expected!r} expected in line {self.here()}")
        self.at += 1

    def value(self) -> Any:
        """The value that stands here. ValueError if there is none that is whole."""
        self.peek()
        while True:
            try:
                value, end = self.values.raw_decode(self.text, self.at)
            except ValueError:
                if not self.more():
                    raise ValueError(f"the value in line {self.here()} is not whole") from None
                continue
            except RecursionError:
                raise ValueError(f"the value in line {self.here()} nests too deep") from None
            if end < len(self.text) or not self.more():
                # a figure at the end of what is read might go on
                self.at = end
                return value


def sections(stream: BinaryIO, exact: bool = False) -> Iterator[tuple[str, int, Any]]:
    """Name, line and value of each field; a list gives one of these for each element. ValueError if cut.

    Numbers that strict JSON cannot hold become strings, unless the file is `exact`: one that we wrote.

    >>> import io
    >>> [(name, value) for name, _, value in sections(io.BytesIO(b'{"a": 1, "b": [2, 3]}'))]
    [('a', 1), ('b', 2), ('b', 3)]
    """
    text = _Text(stream, _EXACT if exact else _SENDABLE)
    if text.peek() == BOM:
        text.at += 1
    text.take("{")
    if text.peek() == "}":
        return
    while True:
        name = text.value()
        text.take(":")
        if text.peek() == "[":
            yield from _list(text, name)
        else:
            line = text.here()
            yield name, line, text.value()
        if text.peek() != ",":
            break
        text.at += 1
    text.take("}")


def _list(text: _Text, name: str) -> Iterator[tuple[str, int, Any]]:
    text.take("[")
    if text.peek() == "]":
        text.at += 1
        return
    while True:
        text.peek()
        line = text.here()
        yield name, line, text.value()
        if text.peek() != ",":
            break
        text.at += 1
    text.take("]")
