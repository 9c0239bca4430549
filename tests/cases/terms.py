"""What a case demands of the words of a request, read by pattern from its sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

QUOTED = r"\(\s*[\"“](.+?)[\"”]\s*\)"


def texts(payload: Any) -> str:
    """All text of a request, one piece a line."""
    found: list[str] = []
    todo = [payload]
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            todo += list(reversed(list(value.values())))
        elif isinstance(value, list):
            todo += list(reversed(value))
    return "\n".join(found)


def unmet(case: dict[str, Any], payload: Any) -> list[str]:
    """The `contains`, `absent` and `count` terms that do not hold."""
    text = texts(payload)
    expected = case["expected"]
    found = []
    for sentence in _sentences(expected.get("must")):
        found += [
            f"contains({json.dumps(term)})"
            for term in re.findall("contains" + QUOTED, sentence)
            if term not in text
        ]
        found += [
            f"absent({json.dumps(term)})" for term in re.findall("absent" + QUOTED, sentence) if term in text
        ]
        for term, count in re.findall("count" + QUOTED + r"\s*==\s*(\d+)", sentence):
            if text.count(term) != int(count):
                found.append(f"count({json.dumps(term)}) is {text.count(term)}, not {count}")
    return found


def error_allowed(case: dict[str, Any]) -> bool:
    """True if the case counts a typed error as an answer."""
    return any(re.search(r"error\s*\(", sentence) for sentence in _sentences(case["expected"].get("must")))


def _sentences(given: Any) -> Iterable[str]:
    return [given] if isinstance(given, str) else [str(one) for one in given or ()]
