"""What a case demands of the words of a request, read by pattern from its sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
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


def unmet(case: dict[str, Any], made: Sequence[tuple[str, Any]]) -> list[str]:
    """The terms that do not hold for the requests made: (`at` of the case, payload), in order.

    `contains` is asked of the last request, `absent(…) at X` of those at X and else of the last,
    `count` of any: a case may name the counts of several requests.
    """
    whole = [(at, texts(payload)) for at, payload in made]
    found = []
    for sentence in _sentences(case["expected"].get("must")):
        places = {place for _, place in re.findall("absent" + QUOTED + r" at (\w+)", sentence)}
        text = "\n".join(text for at, text in whole if at in places) if places else whole[-1][1]
        found += [
            f"contains({json.dumps(term)})"
            for term in re.findall("contains" + QUOTED, sentence)
            if term not in text
        ]
        found += [
            f"absent({json.dumps(term)})" for term in re.findall("absent" + QUOTED, sentence) if term in text
        ]
        for term, count in re.findall("count" + QUOTED + r"\s*==\s*(\d+)", sentence):
            if all(one.count(term) != int(count) for _, one in whole):
                found.append(f"count({json.dumps(term)}) is never {count}")
    return found


def error_allowed(case: dict[str, Any]) -> bool:
    """True if the case counts a typed error as an answer."""
    return any(re.search(r"error\s*\(", sentence) for sentence in _sentences(case["expected"].get("must")))


def _sentences(given: Any) -> Iterable[str]:
    return [given] if isinstance(given, str) else [str(one) for one in given or ()]
