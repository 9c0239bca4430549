"""What of a path fits the words of now: BM25 over its units, kept and extended as the path grows."""

from __future__ import annotations

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
    """Answers `relevance(trail, query)`; remembers what it has read.

    Statistics are those of the path alone (another branch never changes a score). Units that were read
    before are not read again: the cost of a call is what is new, plus the postings of the query.
    """

    def __init__(self) -> None:
        self._words = Words()
        self._forget(None)

    def follow(self, trail: Trail) -> None:
        """Read what is new, if it is little: so that no later turn has to read all that came before it."""
        if self._trail is trail and len(trail.units) - self._next > FEW:
            return
        if self._trail is trail or len(trail.units) <= FEW:
            self.read(trail)

    def read(self, trail: Trail) -> None:
        """Read what is new."""
        if self._trail is not trail or self._revision != trail.revision:
            self._forget(trail)
        self._extend(trail)

    def __call__(self, trail: Trail, query: str) -> Mapping[int, float]:
        self.read(trail)
        size = len(self._units)
        asked = self._words.terms(query, reach=REACH)
        groups = self._sittings.numbers
        together = self._index.group_scores(asked, groups) if size and groups[-1] else None
        found = smooth(self._index.scores(asked), size, NEIGHBOURS, groups, together)
        shares = relevance(found, self._index.ideal(asked))
        return {self._units[at]: share for at, share in shares.items()}

    def _forget(self, trail: Trail | None) -> None:
        self._trail, self._revision = trail, trail.revision if trail else 0
        self._index, self._sittings = Index(), Sittings()
        self._units: list[int] = []
        self._next = 0

    def _extend(self, trail: Trail) -> None:
        """Read the units that are new. The last one may still grow and is shown in any case: it waits."""
        for index in range(self._next, len(trail.units) - 1):
            unit = trail.units[index]
            if unit.kind in ("user", "exchange", "note"):
                text = _text([node.message for node in unit.nodes])
                self._index.add(self._words.terms(text, reach=REACH))
                self._sittings.add(unit.nodes[0].created_at)
                self._units.append(index)
            self._next = index + 1


def _text(messages: Sequence[Message]) -> str:
    found: list[str] = []
    for message in messages:
        found += texts(message)
        found += [f"{call.name} {call.arguments}" for call in message.calls]
    return "\n".join(found)
