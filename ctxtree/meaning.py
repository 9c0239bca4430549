"""What of a path fits the words of now, by words and by meaning: BM25 and embeddings, fused by rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ctxtree.bm25 import NEIGHBOURS
from ctxtree.embedding import Embedder, NoVectors, nearness
from ctxtree.fusion import fuse
from ctxtree.recalling import REACH, Reader, text_of
from ctxtree.trail import Trail

QUERIES = 1_000
"""Vectors of queries that are held; over that all go."""


@dataclass(slots=True)
class Vectors:
    """What a handle holds of one embedder: vectors of units by their last node, those of queries by text.

    `fresh` names the units whose vectors are not in the store yet, `blank` those without words.
    """

    embedder: Embedder
    units: dict[str, bytes] = field(default_factory=dict)
    queries: dict[str, bytes] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)
    blank: set[str] = field(default_factory=set)

    def stored(self) -> dict[str, bytes]:
        """What is to be stored, if the embedder has a name."""
        return {node: self.units[node] for node in sorted(self.fresh)} if self.embedder.name else {}


@dataclass(slots=True)
class Fused:
    """Answers `relevance(trail, query, upto)` for one compile.

    `load` reads stored vectors of nodes. New units and the query go to the embedder in one batch. If it
    fails, `failure` says how, and what follows in this compile is by words alone.
    """

    reader: Reader
    vectors: Vectors
    load: Callable[[Sequence[str]], Mapping[str, bytes]]
    failure: str = ""

    def __call__(self, trail: Trail, query: str, upto: int) -> Mapping[int, float]:
        """As `Reader`: from 0 to 1 by index. Cost: what is new, and a product with the path's vectors."""
        words = self.reader(trail, query, upto)
        if self.failure or not query.strip():
            return words
        try:
            return fuse(words, self._near(trail, _ends(query), upto))
        except Exception as error:  # noqa: BLE001 - a user's embedder may fail in any way
            self.failure = str(error) if isinstance(error, NoVectors) else type(error).__name__
            return words

    def _near(self, trail: Trail, query: str, upto: int) -> Mapping[int, float]:
        kinds = ("user", "exchange", "note")
        units = {unit.ids[-1]: at for at, unit in enumerate(trail.units) if unit.kind in kinds}
        self._embed(trail, units, query)
        held, asked = self.vectors.units, self.vectors.queries[query]
        odd = {node: units[node] for node in units if node in held and len(held[node]) != len(asked)}
        if odd:  # stored by a model of this name that had other dimensions
            self._keep(_texts(trail, odd), query)
        places = {trail.home[node]: node for node in units if node in held and trail.home[node] < upto}
        near = nearness([held[node] for node in places.values()], self.vectors.queries[query], NEIGHBOURS)
        return dict(zip(places, near, strict=True))

    def _embed(self, trail: Trail, units: Mapping[str, int], query: str) -> None:
        held, blank = self.vectors.units, self.vectors.blank
        missing = [node for node in units if node not in held and node not in blank]
        if missing and self.vectors.embedder.name:
            held.update(self.load(missing))
        new = _texts(trail, {node: units[node] for node in missing if node not in held})
        blank.update(node for node in missing if node not in held and node not in new)
        if new or query not in self.vectors.queries:
            self._keep(new, query)

    def _keep(self, new: Mapping[str, str], query: str) -> None:
        *found, asked = self.vectors.embedder.vectors([*new.values(), query])
        self.vectors.units.update(zip(new, found, strict=True))
        self.vectors.fresh.update(new)
        if len(self.vectors.queries) >= QUERIES:
            self.vectors.queries.clear()
        self.vectors.queries[query] = asked


def _texts(trail: Trail, units: Mapping[str, int]) -> dict[str, str]:
    """What these units of the path say, both ends of it; those that say nothing are left out."""
    trail.read(units.values())
    read = {node: text_of(one.message for one in trail.words_of(at)) for node, at in units.items()}
    return {node: text for node, whole in read.items() if (text := _ends(whole).strip())}


def _ends(text: str) -> str:
    return text if len(text) <= 2 * REACH else f"{text[:REACH]}\n{text[-REACH:]}"
