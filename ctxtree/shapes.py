"""The shape of a line: what is left of it when all that varies from one time to the next is taken out."""

from __future__ import annotations

import re

_VARIES = re.compile(
    r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"  # a moment
    r"|\b0x[0-9a-f]+\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[a-f]*\d)[0-9a-f]{7,64}\b"  # an address, an id
    r"|(?<=/tmp/)[\w.-]+"
    r"|\b\d+(?:\.\d+)? ?(?:ms|s|sec|secs|seconds?|min|minutes?|us|µs|秒|毫秒|分钟)\b",  # a duration
    re.IGNORECASE,
)


def shape(line: str) -> str:
    """Equal for lines that differ in times, durations, addresses and ids alone; a line number or a status still counts."""
    return " ".join(_VARIES.sub("#", line).casefold().split())
