"""JSON: key fields, the shape, both ends of every array, and what failed. The result is JSON again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any

from ctxtree.passes.condensers.cut import MARK, Shortener, ends
from ctxtree.passes.condensers.log import log

KEY_FIELDS = frozenset(
    {
        "status", "code", "error", "errors", "message", "msg", "reason", "ok", "success", "id", "name",
        "title", "type", "total", "count", "total_count", "exit_code", "exitcode", "returncode", "result",
        "detail", "details", "stderr", "path", "url", "state", "version", "summary",
        "状态", "错误", "消息", "原因", "总数", "数量", "名称", "代码", "结果",
    }
)  # fmt: skip
_FAILING_KEYS = frozenset({"error", "errors", "exception", "failure", "failed", "stderr", "错误", "异常"})
_STATE_KEYS = frozenset({"status", "state", "level", "severity", "result", "outcome", "状态", "级别"})
_FAILING = re.compile(r"err|fail|fatal|exception|critical|denied|timeout|abort|错误|失败|异常", re.IGNORECASE)
_SCANNED = 20_000
Write = Callable[[Any], str]
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Shape:
    """How much of a value is shown: items of an array, characters of a string, levels, keys of an object."""

    items: int
    text: int
    depth: int
    keys: int


class Reading:
    """What was found out about one value while it is being fitted, so that each try is cheap."""

    def __init__(self) -> None:
        self.lines = cache(log)
        self._failing: dict[int, tuple[int, ...]] = {}

    def failing(self, items: list[Any]) -> tuple[int, ...]:
        """Where objects that carry an error stand, the first 50 of them; the list must live on."""
        found = self._failing.get(id(items))
        if found is None:
            every = (index for index, item in enumerate(items[:_SCANNED]) if is_failing(item))
            found = self._failing[id(items)] = tuple(islice(every, 50))
        return found


_SHAPES = (
    Shape(1, 16, 2, 6), Shape(1, 40, 3, 8), Shape(2, 40, 3, 12), Shape(2, 80, 4, 16), Shape(3, 120, 4, 24),
    Shape(5, 160, 5, 32), Shape(8, 240, 5, 40), Shape(12, 400, 6, 60), Shape(20, 800, 6, 100),
    Shape(40, 2_000, 8, 200), Shape(80, 8_000, 10, 800), Shape(200, 40_000, 12, 4_000),
)  # fmt: skip


def json_text(text: str) -> Shortener | None:
    """A shortener for one JSON value, or None if the text is none (or is nested too deep to read)."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    reading = Reading()
    return lambda room: _fitted(value, room, dump, reading)


def rows(text: str) -> Shortener | None:
    """A shortener for JSON lines, one value a line; lines that are no JSON stay as strings."""
    values = [_loaded(line) for line in text.split("\n") if line.strip()]
    reading = Reading()
    return lambda room: _fitted(values, room, _dump_lines, reading)


def dump(value: Any) -> str:
    """Compact JSON with readable characters; an unpaired surrogate is written as its escape."""
    text = json.dumps(value, ensure_ascii=False)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def shown(value: Any, shape: Shape, reading: Reading, arrays: int = 0) -> Any:
    """The value cut down to `shape`; recursion ends at `shape.depth`."""
    match value:
        case str():
            return _string(value, shape, reading)
        case dict() if value:
            return _object(value, shape, reading, arrays) if shape.depth > 0 else _outline(value)
        case list() if value:
            return (
                _array(value, shape, reading, arrays) if shape.depth > 0 else f"[{MARK} {len(value):,} items]"
            )
        case int() if abs(value) > 10**40:
            return f"{value:.3e}" if abs(value) < 10**300 else "[a very large number]"
        case _:
            return value


def _fitted(value: Any, room: int, write: Write, reading: Reading) -> str:
    """The richest shape that fits; towards the next richer one the length of strings is tuned."""

    def at(shape: Shape) -> str:
        return write(shown(value, shape, reading))

    best, fitting = at(_SHAPES[0]), _SHAPES[0]
    for shape in _SHAPES[1:]:
        text = at(shape)
        if len(text) > room:
            best = _tuned(at, fitting, room, best)
            break
        if len(text) == len(best) and shape.text >= room:
            break
        best, fitting = text, shape
    return best if len(best) <= room else ends(best, room)


def _tuned(at: Callable[[Shape], str], shape: Shape, room: int, best: str) -> str:
    low, high = shape.text, max(shape.text * 3, room)
    if at(replace(shape, text=high)) == best:
        return best
    for _ in range(5):
        middle = (low + high) // 2
        text = at(replace(shape, text=middle))
        if len(text) <= room:
            low, best = middle, text
        else:
            high = middle
    return best


def _string(text: str, shape: Shape, reading: Reading) -> str:
    if len(text) <= shape.text:
        return text
    if shape.text >= 80 and text.count("\n") > 2:
        return reading.lines(text)(shape.text)
    return ends(text, shape.text)


def _object(value: dict[str, Any], shape: Shape, reading: Reading, arrays: int) -> dict[str, Any]:
    inner = replace(shape, depth=shape.depth - 1)
    names = list(value)
    if len(names) > shape.keys:
        key = [name for name in names if name.lower() in KEY_FIELDS][: shape.keys]
        kept = set(key) | set(
            islice((name for name in names if name not in key), max(1, shape.keys - len(key)))
        )
        names = [name for name in names if name in kept]
    result: dict[str, Any] = {}
    for name in names:
        limit = shape.text * 3 if name.lower() in _FAILING_KEYS or name.lower() == "message" else shape.text
        result[ends(name, 80)] = shown(value[name], replace(inner, text=limit), reading, arrays)
    left = len(value) - len(names)
    if left:
        result[MARK] = f"{left:,} more keys: {_names([name for name in value if name not in result], shape)}"
    return result


def _array(value: list[Any], shape: Shape, reading: Reading, arrays: int) -> list[Any]:
    """Both ends, and what failed in between; deeper arrays show fewer items, plain numbers and words more."""
    most = max(1, shape.items >> arrays)
    if not isinstance(value[0], dict | list):
        most *= 4
    inner = replace(shape, depth=shape.depth - 1)
    if len(value) <= most + 2:
        return [shown(item, inner, reading, arrays + 1) for item in value]
    head, tail = max(1, most * 2 // 3), max(1, most // 3)
    middle = (index for index in reading.failing(value) if head <= index < len(value) - tail)
    failing = islice(middle, most // 2 + 1)
    result: list[Any] = []
    at = 0
    for index in [*range(head), *failing, *range(len(value) - tail, len(value))]:
        if index > at:
            result.append(f"{MARK} {index - at:,} more items")
        result.append(shown(value[index], inner, reading, arrays + 1))
        at = index + 1
    return result


def is_failing(item: Any) -> bool:
    """True for an object that carries an error or a failing status."""
    if not isinstance(item, dict):
        return False
    for name, held in item.items():
        key = name.lower()
        if key in _FAILING_KEYS and held:
            return True
        if key in _STATE_KEYS and isinstance(held, str) and _FAILING.search(held):
            return True
    return False


def _outline(value: dict[str, Any]) -> str:
    return f"{{{MARK} {len(value):,} keys: {', '.join(ends(name, 24) for name in islice(value, 4))}}}"


def _names(names: list[str], shape: Shape) -> str:
    shown_names = ", ".join(ends(name, 24) for name in names[: max(2, shape.keys // 3)])
    return shown_names + (f", {MARK}" if len(names) > max(2, shape.keys // 3) else "")


def _loaded(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def _dump_lines(value: Any) -> str:
    return "\n".join(item if isinstance(item, str) else dump(item) for item in value)
