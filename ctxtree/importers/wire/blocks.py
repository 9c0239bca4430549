"""Anthropic messages: a role and a string or blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ctxtree.importers.wire.chat import call_of
from ctxtree.importers.wire.parsed import Parsed, divide, unknown_fields
from ctxtree.importers.wire.parts import parts_of, result_of
from ctxtree.model import Part

ORIGIN = "anthropic"
KNOWN = frozenset({"role", "content", "calls", "result_of", "error", "is_error", "name"})


def parse(items: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, Parsed]]:
    """The messages of each record, with the record's index.

    A user's record that mixes results and words gives a `tool` message and then a `user` message.
    """
    for index, item in enumerate(items):
        for parsed in parse_one(item):
            yield index, parsed


def parse_one(item: Mapping[str, Any]) -> Iterator[Parsed]:
    extra = unknown_fields(item, KNOWN, ORIGIN)
    content = item.get("content")
    if item.get("role") == "tool" and not isinstance(content, list):
        parts: tuple[Part, ...] = (result_of(item, item.get("result_of"), content, ORIGIN),)
    else:
        calls = item.get("calls")
        listed = calls if isinstance(calls, list) else []
        parts = (*parts_of(content, ORIGIN), *(call_of(call) for call in listed))
    yield from divide(item, item.get("role"), (*parts, *extra), None)
