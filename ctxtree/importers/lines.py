"""Records out of JSON lines, with everything that goes wrong in such files repaired and reported.

Lines end at LF only: U+2028, U+0085 and the like are text. A byte order mark, CR LF and blank lines
are accepted. A line that is no JSON is searched for whole records that were glued to a cut one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from ctxtree.importers.base import Log
from ctxtree.importers.deep import decode_deep
from ctxtree.model import clean, finite

BOM = b"\xef\xbb\xbf"
DEPTH = 200
ATTEMPTS = 100
PADDING = b" \t\r\n\0"

_OPENING = re.compile(rb'\{\s*"')
_DECODER = json.JSONDecoder(strict=False, parse_constant=str, parse_float=finite)


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object of a file, and where it stands: line from 1, offset and length in bytes."""

    line: int
    offset: int
    length: int
    data: dict[str, Any]


class TooDeep(ValueError):
    """Nested deeper than `DEPTH`."""


def parse(raw: bytes) -> Any:
    """The first JSON value in `raw`; bad UTF-8 becomes U+FFFD. ValueError (`TooDeep` among them) if none.

    >>> parse(b'{"a": 1} and more')
    {'a': 1}
    """
    return decode(raw.removeprefix(BOM).lstrip(PADDING).decode("utf-8", "replace"))[0]


def decode(text: str) -> tuple[Any, int]:
    """The JSON value at the start of a text, surrogates mended, and where it ends."""
    value, end = _raw(text)
    return (clean(value)[0] if _escapes(text) else value), end


def _raw(text: str) -> tuple[Any, int]:
    try:
        value, end = _DECODER.raw_decode(text)
    except RecursionError:
        raise TooDeep(f"nested deeper than {DEPTH} levels") from None
    if depth_over(value, DEPTH):
        raise TooDeep(f"nested deeper than {DEPTH} levels")
    return value, end


def _escapes(text: str) -> bool:
    """True if a text can hold a surrogate: decoded bytes never do, only JSON's escapes."""
    return "\\ud" in text or "\\uD" in text


def depth_over(value: Any, limit: int) -> bool:
    """True if JSON data nests deeper than `limit`. Goes level by level, without recursion."""
    level = [value]
    for _ in range(limit + 1):
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def load(stream: BinaryIO, offset: int, length: int) -> dict[str, Any]:
    """A record again, by the place that `records` gave."""
    stream.seek(offset)
    value: dict[str, Any] = parse(stream.read(length))
    return value


def records(
    stream: BinaryIO, log: Log, recover: frozenset[str] = frozenset(), deep: bool = False
) -> Iterator[Record]:
    """Every object of a file of JSON lines, in order; what is wrong goes to `log`.

    `recover`: fields that only a record of this format has. With them a record glued on right after
    a `:` or `,` can be told from an inner object; without, such a place is never taken for a record.
    """
    offset = number = 0
    start = stream.tell()
    while raw := stream.readline():
        number += 1
        yield from _line(raw, number, start + offset, log, recover, deep)
        offset += len(raw)


def _line(
    raw: bytes, number: int, offset: int, log: Log, recover: frozenset[str], deep: bool
) -> Iterator[Record]:
    body = raw
    if number == 1 and body.startswith(BOM):
        log.add("bom", "a byte order mark", "passed over", number, offset)
        body, offset = body[len(BOM) :], offset + len(BOM)
    if body.endswith(b"\r\n"):
        log.once("crlf", "lines end in CR LF", "accepted", number, offset)
    stripped = body.strip(PADDING)
    if b"\0" in body:
        count = body.count(b"\0")
        action = "removed around the record" if stripped else "line left out"
        log.add("nul_bytes", f"{count} NUL bytes", action, number, offset, skipped=0 if stripped else 1)
    if not stripped:
        return
    offset += len(body) - len(body.lstrip(PADDING))
    yield from read_object(stripped, number, offset, log, recover, not raw.endswith(b"\n"), deep)


def read_object(
    raw: bytes,
    line: int,
    offset: int,
    log: Log,
    recover: frozenset[str] = frozenset(),
    cut: bool = False,
    deep: bool = False,
) -> Iterator[Record]:
    """The object that `raw` should be; failing that, the whole objects in it.

    `cut`: the file ends here. `deep`: this format may nest without limit.
    """
    text = _text(raw, line, offset, log)
    try:
        value = _whole(text, deep)
    except TooDeep as problem:
        log.add("too_deep", str(problem), "left out", line, offset, skipped=1)
        return
    except ValueError:
        yield from _recover(raw, line, offset, log, recover, cut)
        return
    if not isinstance(value, dict):
        what = f"a JSON {type(value).__name__}, no object"
        log.add("bad_record", what, "left out", line, offset, skipped=1)
        return
    if _escapes(text):
        value, count = clean(value)
        if count:
            log.add("surrogate", f"{count} unpaired surrogates", "replaced by U+FFFD", line, offset)
    yield Record(line, offset, len(raw), value)


def _whole(text: str, deep: bool) -> Any:
    try:
        value, end = _raw(text)
    except TooDeep:
        if not deep:
            raise
        return decode_deep(text)
    if text[end:].strip():
        raise ValueError("more after the end")
    return value


def _text(raw: bytes, line: int, offset: int, log: Log) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        message = f"bytes that are no UTF-8, the first at {offset + problem.start}"
        log.add("bad_utf8", message, "replaced by U+FFFD", line, offset + problem.start)
        return raw.decode("utf-8", "replace")


def _recover(
    raw: bytes, line: int, offset: int, log: Log, recover: frozenset[str], cut: bool
) -> Iterator[Record]:
    pieces, lost = _pieces(raw, recover)
    if not pieces:
        code, what = ("truncated_line", "stops in the middle") if cut else ("bad_line", "is no JSON")
        log.add(code, f"a record of {len(raw)} bytes {what}", "left out", line, offset, skipped=1)
        return
    message = f"{len(pieces)} whole records on one line, {lost} cut"
    log.add("fused_lines", message, "the whole ones recovered", line, offset, skipped=lost)
    for at, value in pieces:
        yield Record(line, offset + at, len(raw) - at, value)


def _pieces(raw: bytes, recover: frozenset[str]) -> tuple[list[tuple[int, dict[str, Any]]], int]:
    """The whole records in a damaged line with their places, and how many cut ones lie between."""
    found: list[tuple[int, dict[str, Any]]] = []
    cursor = lost = attempts = 0
    for match in _OPENING.finditer(raw):
        at = match.start()
        if at < cursor:
            continue
        inner = raw[:at].rstrip()[-1:] in (b":", b",", b"[")
        if inner and not recover:
            continue
        attempts += 1
        if attempts > ATTEMPTS:
            break
        piece = _piece(raw[at:], recover if inner else frozenset())
        if piece is not None:
            value, length = piece
            lost += bool(raw[cursor:at].strip(PADDING))
            found.append((at, value))
            cursor = at + length
    return found, lost + bool(raw[cursor:].strip(PADDING))


def _piece(raw: bytes, needed: frozenset[str]) -> tuple[dict[str, Any], int] | None:
    text = raw.decode("utf-8", "replace")
    try:
        value, end = decode(text)
    except ValueError:
        return None
    rest = text[end:].lstrip(" \t\r\n\0")
    if not isinstance(value, dict) or not needed <= value.keys() or rest[:1] not in ("", "{"):
        return None
    return value, len(text[:end].encode("utf-8", "surrogatepass"))
