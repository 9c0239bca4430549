"""Times in words: "ten minutes ago", yesterday, 半小时前, 昨天. English and Chinese."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from ctxtree.resolve.tables import AGO, NUMBERS, YESTERDAY

_SECONDS = {"m": 60, "分": 60, "h": 3600, "小": 3600, "钟": 3600, "d": 86400, "天": 86400}


def moment(phrase: str, now: datetime) -> datetime | None:
    """The time that a phrase names, None without one; for a day its end."""
    if YESTERDAY.search(phrase):
        return datetime.combine(now.date(), time.min, now.tzinfo)
    for pattern in AGO:
        found = pattern.search(phrase)
        if found:
            half = found.group(1).lower() in ("半", "half an", "half a")
            count = 0.5 if half else float(_number(found.group(1)))
            return now - timedelta(seconds=count * _SECONDS[found.group(2)[0].lower()])
    return None


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else NUMBERS.get(word.lower(), 1)
