"""JSON of any depth, read without recursion: exports that nest each answer in its question go thousands deep."""

from __future__ import annotations

import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from ctxtree.model import sendable

_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|NaN|-?Infinity")


def decode_deep(text: str) -> Any:
    """The JSON value that a whole text is. ValueError if it is none. Slower than `json`, and without its limit.

    >>> decode_deep('{"a": [1, {"b": null}]}')
    {'a': [1, {'b': None}]}
    """
    result: list[Any] = []
    open_: list[list[Any] | dict[str, Any]] = [result]
    at = _skip(text, 0)
    while True:
        at = _value(text, at, open_)
        at = _close(text, at, open_)
        if len(open_) == 1:
            if at != len(text):
                raise ValueError(f"more after the end, at {at}")
            return result[0]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, open_: list[Any]) -> int:
    """Read one value, or open one container, into the innermost; where the next token begins."""
    key: str | None = None
    holder = open_[-1]
    if isinstance(holder, dict):
        if text[at : at + 1] != '"':
            raise ValueError(f"a key expected at {at}")
        key, at = scanstring(text, at + 1, False)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise ValueError(f"a colon expected at {at}")
        at = _skip(text, at + 1)
    value, at = _token(text, at)
    if key is None:
        holder.append(value)
    else:
        holder[key] = value
    if isinstance(value, list | dict):
        open_.append(value)
        return at
    return at


def _token(text: str, at: int) -> tuple[Any, int]:
    first = text[at : at + 1]
    if first == '"':
        value, at = scanstring(text, at + 1, False)
        return value, _skip(text, at)
    if first in ("{", "["):
        return {} if first == "{" else [], _skip(text, at + 1)
    plain = _PLAIN.match(text, at)
    if plain is None:
        raise ValueError(f"a value expected at {at}")
    return sendable(plain.group()), _skip(text, plain.end())


def _close(text: str, at: int, open_: list[Any]) -> int:
    """Past commas and closing brackets to where the next value stands."""
    fresh = isinstance(open_[-1], list | dict) and not open_[-1] and len(open_) > 1
    while len(open_) > 1:
        end = "}" if isinstance(open_[-1], dict) else "]"
        found = text[at : at + 1]
        if found == end:
            open_.pop()
            at = _skip(text, at + 1)
            fresh = False
        elif fresh:
            return at
        elif found == ",":
            return _skip(text, at + 1)
        else:
            raise ValueError(f"a comma or {end} expected at {at}")
    return at
