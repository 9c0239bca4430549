"""Times in words: "ten minutes ago", yesterday, 半小时前, 昨天. English and Chinese."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from ctxtree.resolve.counts import number
from ctxtree.resolve.places import AGO, YESTERDAY

_SECONDS = {"m": 60, "分": 60, "刻": 900, "h": 3600, "小": 3600, "钟": 3600, "d": 86400, "天": 86400}


def moment(phrase: str, now: datetime) -> datetime | None:
    """The time that a phrase names, None without one; for a day its end."""
    if YESTERDAY.search(phrase):
        return datetime.combine(now.date(), time.min, now.tzinfo)
    for pattern in AGO:
        found = pattern.search(phrase)
        if found:
            said, *more, unit = found.groups()
            half = said.lower() in ("半", "half an", "half a")
            count = 0.5 if half else number(said) + (0.5 if any(more) else 0)
            return now - timedelta(seconds=count * _SECONDS[unit[0].lower()])
    return None
