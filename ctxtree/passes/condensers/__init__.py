"""Condense one text by what it is: JSON, log, table, diff, page, source, prose.

A condenser takes a text and gives a shortener (room in characters to shorter text), or None if
the text is not of its kind after all. A new kind is one file and one line of `CONDENSERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ctxtree.passes.condensers.blob import fold_blobs
from ctxtree.passes.condensers.code import code
from ctxtree.passes.condensers.cut import Shortener
from ctxtree.passes.condensers.diff import diff
from ctxtree.passes.condensers.fit import Measure, fit
from ctxtree.passes.condensers.html_text import html
from ctxtree.passes.condensers.json_text import json_text, rows
from ctxtree.passes.condensers.kinds import Kind, detect
from ctxtree.passes.condensers.log import log
from ctxtree.passes.condensers.plain import plain
from ctxtree.passes.condensers.table import table
from ctxtree.passes.condensers.telling import first_line

__all__ = ["CONDENSERS", "CONDENSE_VERSION", "Kind", "condense", "condense_bytes", "detect", "first_line"]

CONDENSE_VERSION = 1
"""Rises whenever the same text would be condensed otherwise; stored forms carry it."""

CONDENSERS: Mapping[str, Callable[[str], Shortener | None]] = {
    "json": json_text,
    "rows": rows,
    "diff": diff,
    "html": html,
    "table": table,
    "code": code,
    "log": log,
    "plain": plain,
}

_MOST_BYTES_A_TOKEN = 16


def condense(text: str, max_tokens: int, counter: Measure, kind: str | None = None) -> str:
    """The text in at most `max_tokens` by `counter`, both ends and what failed kept, by its kind of content.

    Never empty for a text that is not, if `max_tokens` is positive; no grapheme is split; the final
    line break does not matter and is not kept. `kind` is one of `CONDENSERS`, or found by content.
    Costs a reading of the text (about 0.2 s for 5 MB) and a few counts of results; the text itself is
    counted only when it could fit.
    """
    if not text or max_tokens <= 0:
        return ""
    body = text.rstrip("\r\n") or text[:1]
    if _fits(body, max_tokens, counter):
        return body
    folded = fold_blobs(body)
    if len(folded) < len(body) and _fits(folded, max_tokens, counter):
        return folded
    sample = folded[:300] + folded[-300:]
    rate = min(max(len(sample) / max(counter(sample), 1), 0.2), 6.0)
    return fit(_shortener(folded, kind), max_tokens, counter, rate)


def condense_bytes(text: str, max_bytes: int, kind: str | None = None) -> str:
    """As `condense`, by bytes of UTF-8, every marker included."""
    return condense(text, max_bytes, _byte_length, kind)


def _shortener(text: str, kind: str | None) -> Shortener:
    return CONDENSERS[kind or detect(text)](text) or log(text)


def _fits(text: str, limit: int, counter: Measure) -> bool:
    """Judges without counting wherever the length decides: a token holds at least one byte."""
    if len(text) > limit * _MOST_BYTES_A_TOKEN:
        return False
    return _byte_length(text) <= limit or counter(text) <= limit


def _byte_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
