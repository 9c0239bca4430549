"""mini-SWE-agent trajectories: OpenAI Chat messages, each with an `extra` of what was done and billed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxtree.importers.base import Conversation, Format, Sample
from ctxtree.importers.files import Source
from ctxtree.importers.lists import Shape, read_lists
from ctxtree.importers.moments import moment
from ctxtree.importers.wire import chat
from ctxtree.importers.wire.parsed import Parsed

ENDING = frozenset({"exit"})
"""Roles that end a run and that no model is sent."""


def fits(sample: Sample) -> bool:
    """A list of messages under the name of this format, or with what only this agent notes beside them."""
    return any(
        str(record.get("trajectory_format")).startswith("mini-swe-agent")
        or (isinstance(record.get("info"), Mapping) and _noted(record.get("messages")))
        for record in sample.records
    )


def _noted(messages: Any) -> bool:
    return isinstance(messages, list) and any(
        isinstance(raw, Mapping) and isinstance(raw.get("extra"), Mapping) for raw in messages
    )


def parse(items: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, Parsed]]:
    """The messages of each record, with the record's index; the message that ends a run is a hidden note."""
    for index, item in enumerate(items):
        told = item.get("extra")
        extra: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
        for parsed in chat.parse_one({key: value for key, value in item.items() if key != "extra"}):
            yield index, _with(parsed, extra, str(item.get("role")) in ENDING)


def _with(parsed: Parsed, extra: Mapping[str, Any], ending: bool) -> Parsed:
    """A message with what was noted beside it: usage and model of the response, the time, the rest as it is."""
    response = extra.get("response")
    told: Mapping[str, Any] = response if isinstance(response, Mapping) else {}
    marks = [(name, told[name]) for name in ("usage", "model") if told.get(name)]
    left = {
        key: value
        for key, value in extra.items()
        if key not in ("response", "timestamp") and value is not None
    }
    return replace(
        parsed,
        marks=(*parsed.marks, *marks),
        created_at=parsed.created_at or moment(extra.get("timestamp")),
        fields={**(parsed.fields or {}), **({"extra": left} if left else {})},
        fault="" if ending else parsed.fault,
    )


SHAPE = Shape(keys=("messages",), reader=parse)


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """The one conversation of a trajectory, named by its file; how it ended is in its `meta`."""
    yield from read_lists(source, strict, SHAPE)


FORMAT = Format("mini-SWE-agent trajectory", fits, read)
