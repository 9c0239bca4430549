"""Exports in which each object of the file is a conversation of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ctxtree.errors import FormatError
from ctxtree.importers.base import Conversation, Log
from ctxtree.importers.files import Source
from ctxtree.importers.lines import Record
from ctxtree.importers.lists import objects

Made = Callable[[Source, int, Record, Log], Conversation]


def entries(
    source: Source,
    strict: bool,
    holds: Callable[[Mapping[str, Any]], bool],
    made: Made,
    deep: bool = False,
) -> Iterator[Conversation]:
    """A conversation for each object that `holds` one; the others are noted in the log of the one before.

    A record is looked at ahead, so that the last log is complete. Memory: the largest object, twice.
    `FormatError` if nothing in the file is a conversation.
    """
    log = Log(source.name, strict)
    held: Conversation | None = None
    with source.open() as stream:
        for number, record in enumerate(objects(stream, log, deep), 1):
            if not holds(record.data):
                what = f"entry {number} holds no messages"
                log.add("no_conversation", what, "left out", record.line, record.offset, skipped=1)
                continue
            if held is not None:
                yield held
                log = Log(source.name, strict)
            held = made(source, number, record, log)
    if held is None:
        raise FormatError(source.name, 0, f"no conversation that can be read; {log.skipped} entries left out")
    yield held
