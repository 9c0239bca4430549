"""What of a path fits the words of now: BM25 over its units, read once and kept with the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ctxtree.bm25 import (
    NEIGHBOURS,
    SIZE,
    Groups,
    Index,
    Segment,
    Sittings,
    ideal,
    joined,
    relevance,
    scored,
    smooth,
)
from ctxtree.model import Message, Node, texts
from ctxtree.trail import Trail
from ctxtree.words import Words

FEW = 64
"""Nodes that are read ahead of a question."""

REACH = 4_000
"""Characters read of each node, from both ends."""

ANSWERS = 8
"""Answers that are remembered; over that all go."""

SILENT = frozenset({"system", "developer", "state"})
"""Roles whose words are never called back."""

Stored = Callable[[Sequence[str]], Mapping[str, Segment]]
"""Segments that were read before, by their last nodes, as far as there are any."""


class Reader:
    """Answers `relevance(trail, query, upto)`; remembers what it has read.

    Statistics are those of the path alone (another branch never changes a score). What was read before, here
    or by another process, is not read again: a call costs what is new, plus the postings of the query.
    """

    def __init__(self, stored: Stored = lambda _ends: {}) -> None:
        self._stored, self._words = stored, Words()
        self._forget(None)

    def follow(self, trail: Trail) -> None:
        """Read what is new, if it is little: so that no later turn has to read all that came before it."""
        if len(trail.ids) - (len(self._index) if self._trail is trail else 0) <= FEW:
            self._read(trail, len(trail.ids))

    def __call__(self, trail: Trail, query: str, upto: int) -> Mapping[int, float]:
        """How well the first `upto` units fit, from 0 to 1, by index: what was said later changes nothing."""
        end = int(trail.places[trail.units[upto].ids[0]]) if upto < len(trail.units) else len(trail.ids)
        self._read(trail, end)
        if (query, end) not in self._answers:
            if len(self._answers) >= ANSWERS:
                self._answers.clear()
            self._answers[query, end] = self._fitting(trail, query, end)
        return self._answers[query, end]

    def segment(self, trail: Trail, number: int) -> Segment:
        """The words of a full segment."""
        if self._trail is trail and number < len(self._index.segments):
            return self._index.segments[number]
        return Segment.of(map(self._terms, trail.nodes[number * SIZE : (number + 1) * SIZE]))

    def _fitting(self, trail: Trail, query: str, end: int) -> dict[int, float]:
        asked = self._words.terms(query, reach=REACH)
        self._group(trail, end)
        sittings = self._sittings.numbers
        hits, size = self._index.hits(asked, self._said), len(self._units)
        together = None
        if sittings and sittings[-1]:
            together = scored(joined(hits, sittings), self._sat.lengths, self._sat.total)
        scores = scored(hits, self._said.lengths, self._said.total)
        found = smooth(scores, size, NEIGHBOURS, sittings, together)
        shares = relevance(found, ideal(hits, size))
        return {self._units[at]: share for at, share in shares.items()}

    def _forget(self, trail: Trail | None) -> None:
        self._trail, self._index = trail, Index()
        self._answers: dict[tuple[str, int], dict[int, float]] = {}
        self._ungroup()

    def _ungroup(self) -> None:
        """`_said` joins nodes to units, which `_units` names, `_sat` to sittings; of the first nodes only."""
        self._said, self._sat, self._sittings = Groups(), Groups(), Sittings()
        self._units: list[int] = []
        self._numbers: dict[int, int] = {}

    def _read(self, trail: Trail, end: int) -> None:
        """Read the first `end` nodes: full segments that are stored as they are, the others node by node."""
        if self._trail is not trail:
            self._forget(trail)
        index = self._index
        full = range(-(-len(index) // SIZE), len(trail.ids) // SIZE)
        known: Mapping[str, Segment] = {}
        if len(full) and end - len(index) > FEW:
            known = self._stored([trail.ids[(number + 1) * SIZE - 1] for number in full])
        while len(index) < end:
            first = len(index)
            last = min(end, (first // SIZE + 1) * SIZE)
            close = first + SIZE - 1
            held = known.get(trail.ids[close]) if first % SIZE == 0 and close < len(trail.ids) else None
            if held is not None:
                index.take(held)
            else:
                for node in trail.nodes[first:last]:
                    index.add(self._terms(node))

    def _group(self, trail: Trail, end: int) -> None:
        """Join the first `end` nodes to units and sittings. A result that came late counts for its unit."""
        if len(self._said.numbers) > end:
            self._ungroup()
        for place in range(len(self._said.numbers), end):
            step, length = trail.steps[place], self._index.lengths[place]
            home = trail.home[step.id]
            number = self._numbers.get(home, -1)
            if number < 0 and trail.units[home].kind in ("user", "exchange", "note"):
                number = self._numbers[home] = len(self._units)
                self._units.append(home)
                self._sittings.add(step.when)
            self._said.add(number, length)
            self._sat.add(self._sittings.numbers[number] if number >= 0 else -1, length)

    def _terms(self, node: Node) -> list[str]:
        return [] if node.role in SILENT else self._words.terms(text_of([node.message]), reach=REACH)


def text_of(messages: Iterable[Message]) -> str:
    """What messages say and what their calls ask for."""
    found: list[str] = []
    for message in messages:
        found += texts(message)
        found += [f"{call.name} {call.arguments}" for call in message.calls]
    return "\n".join(found)
