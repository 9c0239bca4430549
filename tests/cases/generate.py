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


def expressions(wishes: list[str]) -> list[str]:
    """Texts such as `'a'*100_000` or `base64 of 3 MB random bytes on one line`."""
    made = []
    for wish in wishes:
        if times := re.match(r"'(.+)'\*([\d_]+)", wish):
            made.append(times[1].encode().decode("unicode_escape") if times[1].isascii() else times[1])
            made[-1] *= int(times[2].replace("_", ""))
        else:
            size = int((re.search(r"(\d+) MB", wish) or ["", "1"])[1]) * 1_000_000
            made.append("".join("%08x" % (n * 2654435761 % 2**32) for n in range(size // 6)))
    return made


def chain(wish: str) -> list[dict[str, Any]]:
    """Nodes u1, a1, u2, … of a described chain: `chain of N …` nodes or `N exchanges`."""
    count = re.search(r"chain of ([\d,]+)", wish)
    if not count:
        return []
    number = int(count[1].replace(",", ""))
    pairs = number if "exchange" in wish else number // 2
    words = int((re.search(r"plus (\d+) words", wish) or ["", "3"])[1])
    nodes: list[dict[str, Any]] = []
    for turn in range(1, pairs + 1):
        for role, letter in (("user", "u"), ("assistant", "a")):
            text = f"turn {turn} " + "word " * (words if letter == "u" else 5)
            nodes.append(
                {
                    "id": f"{letter}{turn}",
                    "parent": nodes[-1]["id"] if nodes else None,
                    "role": role,
                    "content": text,
                }
            )
    return nodes


def nested(wish: str) -> str:
    """The text of an export `nested N deep`, each message within the one that it answers; else nothing."""
    count = re.search(r"nested ([\d,]+) deep", wish)
    if not count:
        return ""
    opened, number = "", int(count[1].replace(",", ""))
    for n in range(number):
        said = f'"messageId":"m{n}","conversationId":"c","text":"message {n}","isCreatedByUser":{str(not n % 2).lower()}'
        opened += f'{{{said},"children":['
    return f'{{"conversationId":"c","title":"t","messagesTree":[{opened}{"]}" * number}]}}'


def turns(wish: str) -> tuple[int, int, int]:
    """(turns, characters of a result, window) of `60 turns with 2 kB tool results; … budget 20,000`."""
    count = int((re.search(r"(\d+) turns", wish) or ["", "20"])[1])
    size = int((re.search(r"(\d+) kB", wish) or ["", "1"])[1]) * 1000
    window = int((re.search(r"budget ([\d,]+)", wish) or ["", "20000"])[1].replace(",", ""))
    return count, size, window
