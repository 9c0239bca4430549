"""The beginning of a file, for telling its format."""

from __future__ import annotations

import io

from ctxtree.importers.base import Log, Sample
from ctxtree.importers.files import Source
from ctxtree.importers.lists import objects

SIZE = 1 << 18
RECORDS = 200


def sample(source: Source) -> Sample:
    """The first whole records in the first `SIZE` bytes, and those bytes as text. Damage is passed over."""
    members = source.members()
    if members:
        return Sample((), members=members)
    with source.open() as stream:
        head = stream.read(SIZE)
    found = []
    for record in objects(io.BytesIO(head), Log(source.name)):
        found.append(record.data)
        if len(found) == RECORDS:
            break
    return Sample(tuple(found), head.decode("utf-8", "replace"))
