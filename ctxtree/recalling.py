"""What of a path fits the words of now: BM25 over its units, kept and extended as the path grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctxtree.bm25 import Index, relevance, sittings, smooth
from ctxtree.model import Message, texts
from ctxtree.plan import HISTORY, Item
from ctxtree.words import Words

REACH = 4_000
"""Characters read of each unit, from both ends."""


class Reader:
    """Answers `relevance(items, query)`; remembers what it has read.

    Statistics are those of the path alone (another branch never changes a score). Units that were read
    before are not read again: the cost of a call is what is new, plus the postings of the query.
    """

    def __init__(self) -> None:
        self._words = Words()
        self._index = Index()
        self._read: list[tuple[str, ...]] = []

    def __call__(self, items: Sequence[Item], query: str) -> Mapping[int, float]:
        places = [i for i, item in enumerate(items) if item.kind in HISTORY and item.forms]
        places.sort(key=lambda i: i)
        self._extend([items[i] for i in places])
        asked = self._words.terms(query, reach=REACH)
        groups = sittings(items[i].when for i in places)
        together = self._index.group_scores(asked, groups) if len(set(groups)) > 1 else None
        found = smooth(
            self._index.scores(asked, upto=len(places)), len(places), (0.4, 0.2, 0.1), groups, together
        )
        shares = relevance(found, self._index.ideal(asked, upto=len(places)))
        return {places[unit]: share for unit, share in shares.items()}

    def _extend(self, items: Sequence[Item]) -> None:
        keys = [item.nodes for item in items]
        if self._read[: len(keys)] != keys[: len(self._read)]:
            self._index, self._read = Index(), []
        for item, key in zip(items[len(self._read) :], keys[len(self._read) :], strict=True):
            self._index.add(self._words.terms(_text(item.forms[0].messages), reach=REACH))
            self._read.append(key)


def _text(messages: Sequence[Message]) -> str:
    found: list[str] = []
    for message in messages:
        found += texts(message)
        found += [f"{call.name} {call.arguments}" for call in message.calls]
    return "\n".join(found)
