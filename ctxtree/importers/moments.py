"""Times as logs write them: seconds or milliseconds since 1970, or ISO 8601."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

MILLISECONDS_FROM = 1e11
"""Figures from here on (the year 5138 in seconds) are milliseconds."""


def moment(value: Any) -> datetime | None:
    """The time in UTC, or None for what is no time; never a made-up one.

    >>> moment(1733000000000) == moment(1733000000) == moment("2024-11-30T20:53:20Z")
    True
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _from_figure(float(value))
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _from_figure(figure: float) -> datetime | None:
    seconds = figure / 1000 if abs(figure) >= MILLISECONDS_FROM else figure
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None
