"""What of a path fits the words of now: BM25 over its units, kept and extended as the path grows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from ctxtree.bm25 import NEIGHBOURS, Index, Sittings, relevance, smooth
from ctxtree.model import Message, texts
from ctxtree.trail import Trail
from ctxtree.words import Words

FEW = 64
"""Units that are read ahead of a question."""

REACH = 4_000
"""Characters read of each unit, from both ends."""


class Reader:
    """Answers `relevance(trail, query, upto)`; remembers what it has read.

    Statistics are those of the path alone (another branch never changes a score). Units that were read
    before are not read again: the cost of a call is what is new, plus the postings of the query.
    """

    def __init__(self) -> None:
        self._words = Words()
        self._forget(None)

    def follow(self, trail: Trail) -> None:
        """Read what is new, if it is little: so that no later turn has to read all that came before it."""
        waiting = len(trail.units) - (self._next if self._trail is trail else 0)
        if waiting <= FEW:
            self._read(trail, len(trail.units) - 1)  # the last unit may still grow

    def __call__(self, trail: Trail, query: str, upto: int) -> Mapping[int, float]:
        """How well the first `upto` units fit, from 0 to 1, by index: what was said later changes nothing."""
        self._read(trail, upto)
        size = bisect_left(self._units, upto)
        asked = self._words.terms(query, reach=REACH)
        groups = self._sittings.numbers[:size]
        together = self._index.group_scores(asked, groups) if size and groups[-1] else None
        found = smooth(self._index.scores(asked, upto=size), size, NEIGHBOURS, groups, together)
        shares = relevance(found, self._index.ideal(asked, upto=size))
        return {self._units[at]: share for at, share in shares.items()}

    def _forget(self, trail: Trail | None) -> None:
        self._trail, self._revision = trail, trail.revision if trail else 0
        self._index, self._sittings = Index(), Sittings()
        self._units: list[int] = []
        self._next = self._nodes = 0

    def _read(self, trail: Trail, upto: int) -> None:
        """Read those of the first `upto` units that are new; all of them if one that was read has grown."""
        same = self._trail is trail and self._revision == trail.revision
        if not same or (self._next and len(trail.units[self._next - 1].nodes) != self._nodes):
            self._forget(trail)
        for index in range(self._next, upto):
            unit = trail.units[index]
            if unit.kind in ("user", "exchange", "note"):
                text = text_of([node.message for node in unit.nodes])
                self._index.add(self._words.terms(text, reach=REACH))
                self._sittings.add(unit.nodes[0].created_at)
                self._units.append(index)
            self._next, self._nodes = index + 1, len(unit.nodes)


def text_of(messages: Sequence[Message]) -> str:
    """What messages say and what their calls ask for."""
    found: list[str] = []
    for message in messages:
        found += texts(message)
        found += [f"{call.name} {call.arguments}" for call in message.calls]
    return "\n".join(found)
