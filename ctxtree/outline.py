"""Segments of a path as bytes, so that a long path need not be read to be known: its outline and its words.

Both follow from the nodes alone: no mark, no branch and nothing that came later is in them.
"""

from __future__ import annotations

import json
import struct
import sys
import zlib
from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from ctxtree.bm25 import SIZE, Segment
from ctxtree.model import Role, canonical
from ctxtree.tree import Step

VERSION = 1
"""Of both forms, and of how words are read; segments of another version are made anew."""

ROLES: tuple[Role, ...] = ("system", "developer", "user", "assistant", "tool", "state", "note")
_ID = 32
_HEAD = struct.Struct("<II")


def outline_out(steps: Sequence[Step]) -> bytes:
    """`SIZE` steps: their ids, and what else is not the same for all, by place."""
    rest: dict[str, Any] = {
        "roles": "".join(str(ROLES.index(step.role)) for step in steps),
        "when": [None if step.when is None else round(step.when, 6) for step in steps],
        "blank": [at for at, step in enumerate(steps) if step.blank],
    }
    for name in ("calls", "answers", "patch"):
        rest[name] = {str(at): getattr(step, name) for at, step in enumerate(steps) if getattr(step, name)}
    ids = b"".join(bytes.fromhex(step.id) for step in steps)
    return ids + zlib.compress(canonical(rest).encode("utf-8"), 6)


def outline_in(data: bytes) -> list[Step]:
    """Raises ValueError for bytes that are no outline."""
    try:
        rest = json.loads(zlib.decompress(data[SIZE * _ID :]))
    except zlib.error as error:
        raise ValueError(str(error)) from None
    ids = data[: SIZE * _ID].hex()
    names = [ids[at : at + 2 * _ID] for at in range(0, len(ids), 2 * _ID)]
    roles = [ROLES[int(code)] for code in rest["roles"]]
    calls: list[tuple[str, ...]] = [()] * SIZE
    answers: list[tuple[str, ...]] = [()] * SIZE
    blank, patches = [False] * SIZE, [""] * SIZE
    for sparse, dense in ((rest["calls"], calls), (rest["answers"], answers)):
        for at, value in sparse.items():
            dense[int(at)] = tuple(value)
    for at in rest["blank"]:
        blank[at] = True
    for at, value in rest["patch"].items():
        patches[int(at)] = value
    rows = zip(names, roles, calls, answers, blank, patches, rest["when"], strict=True)
    return list(map(Step._make, rows))


def words_out(segment: Segment) -> bytes:
    """The segment as little-endian numbers: codes, postings of each less one, lengths, postings."""
    counts = [end - start for start, end in zip([0, *segment.ends], segment.ends, strict=False)]
    return b"".join(
        (
            _HEAD.pack(len(segment.codes), len(segment.postings)),
            _little(segment.codes).tobytes(),
            bytes(count - 1 for count in counts),
            _little(segment.lengths).tobytes(),
            segment.postings,
        )
    )


def words_in(data: bytes) -> Segment:
    """Raises ValueError for bytes that are no segment."""
    if len(data) < _HEAD.size:
        raise ValueError("no segment of words")
    terms, size = _HEAD.unpack_from(data)
    at = _HEAD.size
    if len(data) != at + 5 * terms + 4 * SIZE + size:
        raise ValueError("a damaged segment of words")
    codes, at = data[at : at + 4 * terms], at + 4 * terms
    counts, at = data[at : at + terms], at + terms
    lengths, at = data[at : at + 4 * SIZE], at + 4 * SIZE
    ends = array("I", accumulate(count + 1 for count in counts))
    return Segment(_little(array("I", codes)), ends, data[at:], _little(array("I", lengths)))


def _little(numbers: array[int]) -> array[int]:
    if sys.byteorder == "little":
        return numbers
    swapped = array("I", numbers)
    swapped.byteswap()
    return swapped
