"""Which units of a path a query is about: BM25 over integers, statistics of the path's own.

Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009), with the
idf of Lucene, which is never negative. As there, what was read is kept in segments that never change.
Units are added in the order of the path, and `Groups` says which of the first units are read as one:
nothing that came later, and no other branch, changes a score.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from zlib import crc32

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

SIZE = 256
"""Units of a segment: as many as one byte can name."""

_MOST = 255


@dataclass(frozen=True, slots=True)
class Segment:
    """What `SIZE` units hold, closed for good: small, quick to read, the same wherever it was made.

    `codes`: CRC-32 of the terms, rising; two terms of one code count as one, which of a million terms
    befalls a few. `ends`: where the postings of each end, counted in pairs. `postings`: pairs of bytes, a
    unit's place in the segment and how often it holds the term, 255 at most. `lengths`: terms of each unit.
    """

    codes: array[int]
    ends: array[int]
    postings: bytes
    lengths: array[int]

    @classmethod
    def of(cls, units: Iterable[Sequence[str]]) -> Segment:
        """Raises ValueError unless there are `SIZE` units."""
        (segment,) = Index(units).segments
        return segment

    def held(self, code: int) -> bytes:
        """The postings of a term."""
        at = bisect_left(self.codes, code)
        if at == len(self.codes) or self.codes[at] != code:
            return b""
        return self.postings[2 * self.ends[at - 1] if at else 0 : 2 * self.ends[at]]


Hits = dict[int, int]
"""Units or groups that hold a term, and how often."""


class Groups:
    """Units that are read as one: the number of each unit's group (0, 1, 2, …; -1 for none), and their lengths."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.lengths: list[int] = []
        self.total = 0

    def add(self, number: int, length: int) -> None:
        """The next unit, of `length` terms, belongs to group `number`."""
        self.numbers.append(number)
        if number >= 0:
            self.lengths += [0] * (number + 1 - len(self.lengths))
            self.lengths[number] += length
            self.total += length


class Index:
    """Units 0, 1, 2, … and the terms they hold; grows at the end only, and closes a segment every `SIZE` units.

    A query costs the postings of its terms, not the number of units.
    """

    def __init__(self, units: Iterable[Sequence[str]] = ()) -> None:
        self.segments: list[Segment] = []
        self.lengths: list[int] = []
        self._open: dict[int, bytearray] = {}
        self._codes: dict[str, int] = {}
        for terms in units:
            self.add(terms)

    def __len__(self) -> int:
        return len(self.lengths)

    def add(self, terms: Sequence[str]) -> None:
        place = len(self.lengths) % SIZE
        self.lengths.append(len(terms))
        once = bytes((place, 1))
        postings, codes = self._open, self._codes
        for term, count in Counter(terms).items():
            entry = once if count == 1 else bytes((place, min(count, _MOST)))
            if (code := codes.get(term)) is None:
                code = codes[term] = _code(term)
            if (held := postings.get(code)) is None:
                postings[code] = bytearray(entry)
            else:
                held += entry
        if place == SIZE - 1:
            self._close()

    def take(self, segment: Segment) -> None:
        """Go on with a segment that was closed before. Raises ValueError inside of one."""
        if len(self) % SIZE:
            raise ValueError("a segment begins where another ends")
        self.segments.append(segment)
        self.lengths += segment.lengths

    def hits(self, query: Iterable[str], groups: Groups | None = None) -> list[Hits]:
        """For each term of the query the units that hold it, and how often; with `groups` the groups.

        Only the units that `groups` numbers exist. Cost: the postings of the terms.
        """
        numbers: Sequence[int] = range(len(self)) if groups is None else groups.numbers
        found: list[Hits] = []
        for code in dict.fromkeys(map(_code, query)):
            held: Hits = {}
            for first, pairs in self._postings(code, len(numbers)):
                some, places = numbers[first : first + SIZE], pairs[::2]
                if len(some) < SIZE:
                    places = places[: bisect_left(places, len(some))]
                for place, count in zip(places, pairs[1::2], strict=False):
                    number = some[place]
                    held[number] = held.get(number, 0) + count
            held.pop(-1, None)
            found.append(held)
        return found

    def scores(self, query: Iterable[str]) -> dict[int, float]:
        """The BM25 score of each unit that holds a term of the query; the others are 0 and left out."""
        return scored(self.hits(query), self.lengths, sum(self.lengths))

    def ideal(self, query: Iterable[str]) -> float:
        """As the function `ideal`."""
        return ideal(self.hits(query), len(self))

    def _postings(self, code: int, size: int) -> Iterator[tuple[int, bytes]]:
        """Each segment's postings of a term, with the number of its first unit."""
        for number, segment in enumerate(self.segments[: -(-size // SIZE)]):
            if pairs := segment.held(code):
                yield number * SIZE, pairs
        if code in self._open:
            yield len(self.segments) * SIZE, bytes(self._open[code])

    def _close(self) -> None:
        codes = sorted(self._open)
        held = [bytes(self._open[code]) for code in codes]
        ends = array("I", accumulate(len(one) // 2 for one in held))
        lengths = array("I", self.lengths[-SIZE:])
        self.segments.append(Segment(array("I", codes), ends, b"".join(held), lengths))
        self._open = {}
        self._codes = {}


def scored(hits: Iterable[Hits], lengths: Sequence[int], total: int) -> dict[int, float]:
    """The BM25 score of each unit or group in the hits; `total` is the sum of the lengths of all."""
    mean = max(total / max(len(lengths), 1), 1.0)
    least, step = K1 * (1 - B), K1 * B / mean
    found: dict[int, float] = {}
    for held in hits:
        gain = _idf(len(lengths), len(held)) * (K1 + 1)
        for unit, count in held.items():
            score = gain * count / (count + least + step * lengths[unit])
            found[unit] = found.get(unit, 0.0) + score
    return found


def ideal(hits: Iterable[Hits], size: int) -> float:
    """What a unit of middling length scores that holds every term of the query once, of `size` units."""
    return sum(_idf(size, len(held)) for held in hits) if size else 0.0


def joined(hits: Iterable[Hits], numbers: Sequence[int]) -> list[Hits]:
    """The hits of groups of groups; `numbers` says which each belongs to."""
    found: list[Hits] = []
    for held in hits:
        whole: Hits = {}
        for unit, count in held.items():
            whole[numbers[unit]] = whole.get(numbers[unit], 0) + count
        found.append(whole)
    return found


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
    """Scores as shares from 0 to 1, best and latest first: of the best one, or of half the ideal where nothing comes near it.

    So one common word in ten does not make the least bad unit look relevant.
    """
    if not scores:
        return {}
    best_first = sorted(scores.items(), key=lambda one: (-one[1], -one[0]))
    top = max(best_first[0][1], ideal / 2)
    return {unit: score / top for unit, score in best_first} if top > 0 else {}


class Sittings:
    """The number of the sitting of each unit: a new one begins after `pause` seconds of silence.

    Times are seconds. A unit without one, or with one out of order, belongs to the sitting before it.
    """

    def __init__(self, times: Iterable[float | None] = (), pause: float = PAUSE) -> None:
        self.numbers: list[int] = []
        self._pause = pause
        self._last: float | None = None
        for time in times:
            self.add(time)

    def add(self, time: float | None) -> None:
        current = self.numbers[-1] if self.numbers else 0
        if time is not None:
            current += self._last is not None and time - self._last > self._pause
            self._last = time
        self.numbers.append(current)


def _idf(size: int, holding: int) -> float:
    return math.log(1 + (size - holding + 0.5) / (holding + 0.5))


def _code(term: str) -> int:
    return crc32(term.encode("utf-8", "surrogatepass"))
