"""Values that a case only describes: `{"$repeat": [prefix, unit, n, suffix]}` and `gen: …`."""

from __future__ import annotations

import re
from typing import Any

SENTENCE = "The quick step {n} of the long task moves on and touches item {n} of the list. "


def expand(value: Any) -> Any:
    if isinstance(value, dict):
        if list(value) == ["$repeat"]:
            prefix, unit, count, suffix = value["$repeat"]
            return prefix + unit * count + suffix
        return {key: expand(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [expand(inner) for inner in value]
    if isinstance(value, str) and re.search(r"(^|\s)gen: ", value):
        return generated(value)
    return value


def generated(text: str) -> str:
    """The text with what follows `gen:` made at the size that it names."""
    before, _, wish = text.partition("gen: ")
    size = int((re.search(r"([\d,]+)", wish) or ["0", "1500"])[1].replace(",", ""))
    if "base64" in wish:
        head = "data:image/png;base64," if "data:" in wish else ""
        return before + head + "iVBORw0KGgo" + "A" * size
    last = re.search(r"last line: (.*)", wish)
    if "tokens" not in wish:
        size = 1500
    body = "".join(SENTENCE.format(n=n) for n in range(max(1, size // 17)))
    return before + body + (f"\n{last[1]}" if last else "")


def tools(wish: Any) -> list[dict[str, Any]]:
    """Tool schemas: a list of names, or `gen: 40 tools, 60-line JSON schema each`."""
    if isinstance(wish, list):
        return [
            {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
            for name in wish
        ]
    numbers = [int(one) for one in re.findall(r"\d+", str(wish))]
    count, lines = (*numbers, 1, 1)[:2]
    fields = {f"field_{n}": {"type": "string", "description": f"the value {n}"} for n in range(lines // 4)}
    schema = {"type": "object", "properties": fields}
    return [
        {
            "type": "function",
            "function": {"name": f"tool_{n}", "description": "does it", "parameters": schema},
        }
        for n in range(count)
    ]
