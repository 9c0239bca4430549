"""Which units of a path a query is about: BM25 over integers, statistics of the path's own.

Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009), with the
idf of Lucene, which is never negative. Units are added in the order of the path, so that
`upto=n` asks for what the first `n` units alone would have answered: nothing that came later,
and no other branch, changes a score.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

K1 = 1.2
"""How soon a repeated term stops counting; the usual value."""
B = 0.75
"""How far long units are held back; the usual value."""
NEIGHBOURS = (0.4, 0.2, 0.1)
"""What a unit also gets of the scores one, two and three places away."""
GROUP = 0.3
"""What a unit also gets of its sitting's score. Both were tuned on LoCoMo dialogues 26, 30 and 41."""
PAUSE = 3600.0
"""Seconds of silence after which a new sitting begins."""

_BITS = 16
_MOST = (1 << _BITS) - 1


class Index:
    """Units 0, 1, 2, … and the terms they hold; grows at the end only.

    A posting is one number: the unit, and in its low 16 bits how often it holds the term.
    A query costs the postings of its terms, not the number of units.
    """

    def __init__(self, units: Iterable[Sequence[str]] = ()) -> None:
        self._postings: dict[str, list[int]] = {}
        self._ends: list[int] = []
        for terms in units:
            self.add(terms)

    def __len__(self) -> int:
        return len(self._ends)

    def add(self, terms: Sequence[str]) -> int:
        """The number of the new unit."""
        unit = len(self._ends)
        self._ends.append(len(terms) + (self._ends[-1] if self._ends else 0))
        postings, high = self._postings, unit << _BITS
        for term, count in Counter(terms).items():
            entry = high | min(count, _MOST)
            if (held := postings.get(term)) is None:
                postings[term] = [entry]
            else:
                held.append(entry)
        return unit

    def scores(
        self, query: Iterable[str], upto: int | None = None, among: Collection[int] | None = None
    ) -> dict[int, float]:
        """The BM25 score of each unit that holds a term of the query; the others are 0 and left out.

        `upto`: only the first so many units exist. `among`: only these are wanted (the statistics
        stay those of all); a set or a range.
        """
        size = len(self) if upto is None else min(upto, len(self))
        found: dict[int, float] = {}
        if not size:
            return found
        mean = max(self._ends[size - 1] / size, 1.0)
        for _, units, counts in self._hits(query, size):
            idf = _idf(size, len(units))
            for unit, count in zip(units, counts, strict=True):
                if among is None or unit in among:
                    gain = _saturated(count, self._length(unit) / mean)
                    found[unit] = found.get(unit, 0.0) + idf * gain
        return found

    def group_scores(self, query: Iterable[str], groups: Sequence[int]) -> dict[int, float]:
        """The BM25 score of each group, its units read as one; `groups[i]` is the group of unit `i`.

        Only the first `len(groups)` units exist.
        """
        size = min(len(groups), len(self))
        lengths: dict[int, int] = {}
        for unit in range(size):
            lengths[groups[unit]] = lengths.get(groups[unit], 0) + self._length(unit)
        found: dict[int, float] = {}
        mean = max(sum(lengths.values()) / max(len(lengths), 1), 1.0)
        for _, units, counts in self._hits(query, size):
            held: dict[int, int] = {}
            for unit, count in zip(units, counts, strict=True):
                held[groups[unit]] = held.get(groups[unit], 0) + count
            idf = _idf(len(lengths), len(held))
            for group, count in held.items():
                found[group] = found.get(group, 0.0) + idf * _saturated(count, lengths[group] / mean)
        return found

    def ideal(self, query: Iterable[str], upto: int | None = None) -> float:
        """What a unit of middling length scores that holds every term of the query once."""
        size = len(self) if upto is None else min(upto, len(self))
        terms = dict.fromkeys(query)
        held = {term: len(units) for term, units, _ in self._hits(terms, size)}
        return sum(_idf(size, held.get(term, 0)) for term in terms) if size else 0.0

    def _hits(self, query: Iterable[str], size: int) -> Iterator[tuple[str, list[int], list[int]]]:
        for term in dict.fromkeys(query):
            held = self._postings.get(term, [])
            if end := bisect_left(held, size << _BITS):
                yield term, [one >> _BITS for one in held[:end]], [one & _MOST for one in held[:end]]

    def _length(self, unit: int) -> int:
        return self._ends[unit] - (self._ends[unit - 1] if unit else 0)


def smooth(
    scores: Mapping[int, float],
    size: int,
    neighbours: Sequence[float] = NEIGHBOURS,
    groups: Sequence[int] = (),
    group_scores: Mapping[int, float] | None = None,
    group: float = GROUP,
) -> dict[int, float]:
    """Scores in which a unit also has a share of its neighbours' and of its group's.

    An answer seldom repeats the words of its question, nor a remark those of its topic.
    `neighbours[i]` is the share taken from each unit `i + 1` places away; `size` is the number of
    units. Only scores above 0 are given back.
    """
    found: dict[int, float] = dict(scores)
    for unit, score in scores.items():
        for away, share in enumerate(neighbours, 1):
            for near in (unit - away, unit + away):
                if 0 <= near < size:
                    found[near] = found.get(near, 0.0) + share * score
    if group_scores:
        for unit, name in enumerate(groups[:size]):
            extra = group * group_scores.get(name, 0.0)
            if extra:
                found[unit] = found.get(unit, 0.0) + extra
    return found


def relevance(scores: Mapping[int, float], ideal: float) -> dict[int, float]:
    """Scores as shares from 0 to 1: of the best one, or of half the ideal where nothing comes near it.

    So one common word in ten does not make the least bad unit look relevant.
    """
    top = max(max(scores.values(), default=0.0), ideal / 2)
    return {unit: score / top for unit, score in scores.items()} if top > 0 else {}


class Sittings:
    """The number of the sitting of each unit: a new one begins after `pause` seconds of silence.

    A unit without a time, or with one out of order, belongs to the sitting before it.
    """

    def __init__(self, times: Iterable[datetime | None] = (), pause: float = PAUSE) -> None:
        self.numbers: list[int] = []
        self._pause = pause
        self._last: float | None = None
        for time in times:
            self.add(time)

    def add(self, time: datetime | None) -> None:
        current = self.numbers[-1] if self.numbers else 0
        if time is not None:
            stamp = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
            current += self._last is not None and stamp - self._last > self._pause
            self._last = stamp
        self.numbers.append(current)


def _idf(size: int, holding: int) -> float:
    return math.log(1 + (size - holding + 0.5) / (holding + 0.5))


def _saturated(count: int, length: float) -> float:
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length))
