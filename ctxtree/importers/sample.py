"""The beginning of a file, for telling its format."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from ctxtree.importers.base import Log, Sample
from ctxtree.importers.files import Source
from ctxtree.importers.lists import objects
from ctxtree.importers.sqlite import table_names

SIZES = (1 << 18, 1 << 21, 1 << 24, 1 << 26)
"""Bytes to look at, one after the other: a record may be longer than the first of them."""
RECORDS = 200


def samples(source: Source) -> Iterator[Sample]:
    """The first whole records in the first bytes, and the text there; then of more of the file, to 64 MiB.

    Each takes more to read than the one before: stop at the first that tells. Damage is passed over.
    """
    members = source.members()
    members = members or tuple(f"table:{name}" for name in table_names(source))
    if members:
        yield Sample((), members=members)
        return
    for size in SIZES:
        with source.open() as stream:
            head = stream.read(size)
        yield Sample(_records(head, source.name), head[: SIZES[0]].decode("utf-8", "replace"))
        if len(head) < size:
            return


def _records(head: bytes, name: str) -> tuple[dict[str, Any], ...]:
    found = []
    for record in objects(io.BytesIO(head), Log(name)):
        found.append(record.data)
        if len(found) == RECORDS:
            break
    return tuple(found)
