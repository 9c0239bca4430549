"""Nodes by the words they share with a phrase, in English and Chinese alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ctxtree.bm25 import Index
from ctxtree.resolve.glossary import english
from ctxtree.resolve.places import GENERIC, LIGHT
from ctxtree.resolve.scene import Scene, quote
from ctxtree.words import Words

ENOUGH = 0.6
"""The share of a phrase that a turn must hold for the phrase to mean it without a question."""
DOUBT = 0.3
"""The most that a node with less than `ENOUGH` is worth."""
LOOKED = 200
"""Nodes looked at closely, best first."""

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Hit:
    """A node by its place in the scene, before it is weighed."""

    place: int
    score: float
    why: str
    at: Literal["at", "before"] = "at"


@dataclass(frozen=True, slots=True)
class Sought:
    """What a phrase names: words, and runs of Chinese that the glossary does not know."""

    words: tuple[str, ...]
    runs: tuple[str, ...]

    @property
    def weight(self) -> float:
        """Two Chinese characters weigh as much as one word."""
        return len(self.words) + sum(map(len, self.runs)) / 2


def content(phrase: str) -> list[str]:
    """The terms of a phrase that say which place, in English where the glossary has them."""
    return Words().terms(english(GENERIC.sub(" ", phrase)))


def sought(phrase: str) -> Sought:
    wanted = LIGHT.sub(" ", english(GENERIC.sub(" ", phrase)))
    return Sought(tuple(Words().terms(_HAN.sub(" ", wanted))), tuple(_HAN.findall(wanted)))


def coverage(wanted: Sought, scene: Scene, places: Iterable[int]) -> float:
    """The share of what is sought that some nodes hold together; 1 where nothing is named.

    Of Chinese the characters count that stand in pairs the nodes have too.
    """
    places = tuple(places)
    held = sum(any(term in scene.terms[i] for i in places) for term in wanted.words)
    text = "\n".join(scene.told[i] for i in places) if wanted.runs else ""
    share = held + sum(_shared(run, text) for run in wanted.runs) / 2
    return share / wanted.weight if wanted.weight else 1.0


def _shared(run: str, text: str) -> int:
    if len(run) == 1:
        return int(run in text)
    pairs = [run[i : i + 2] in text for i in range(len(run) - 1)]
    return sum(any(pairs[max(i - 1, 0) : i + 1]) for i in range(len(run)))


def matches(scene: Scene, phrase: str, skip: int = -1, whole: bool = True) -> list[Hit]:
    """Nodes by the words they share with the phrase, one a turn if `whole`, the best `LOOKED` of them.

    `skip` is a place to leave out unless it lays out a plan: nobody goes back to where they are.
    A node whose turn holds less than `ENOUGH` of the phrase is worth little.
    """
    terms, wanted = content(phrase), sought(phrase)
    laid = {place for _, place in scene.plans}
    scores = _scores(scene, terms, labels=whole)
    spoken = [i for i in scores if scene.nodes[i].role in ("user", "assistant", "tool")]
    hits = [Hit(i, scores[i], "") for i in spoken if i != skip or i in laid]
    hits = one_a_turn(scene, hits, laid) if whole else hits
    best = sorted(hits, key=lambda hit: (-hit.score, hit.place))[:LOOKED]
    shown = re.compile("|".join(map(re.escape, terms)) or "$", re.IGNORECASE)
    return [
        replace(
            hit,
            score=hit.score
            if coverage(wanted, scene, scene.turn(hit.place)) >= ENOUGH
            else DOUBT * hit.score,
            why=f'matches "{phrase}": {quote(scene, hit.place, shown)}',
        )
        for hit in best
    ]


def _scores(scene: Scene, terms: Sequence[str], labels: bool) -> dict[int, float]:
    """BM25 as shares of the best; where `labels` count, their words count double."""
    scores = Index(scene.terms).scores(terms)
    top = max(scores.values(), default=1.0)
    found = {place: score / top for place, score in scores.items()}
    for place, label in scene.labels.items() if labels else ():
        known = content(label)
        shared = sum(term in known for term in terms) / max(len(terms), 1)
        if shared:
            found[place] = max(found.get(place, 0.0), 0.5) + 0.5 * shared
    return found


def one_a_turn(scene: Scene, hits: Iterable[Hit], laid: set[int]) -> list[Hit]:
    """A hit for each turn, worth its best: a plan laid out, else an answer that is half as good, else the best."""
    turns: dict[int, list[Hit]] = {}
    for hit in sorted(hits, key=lambda hit: (-hit.score, hit.place)):
        turns.setdefault(scene.turns[hit.place], []).append(hit)
    chosen = []
    for best, *rest in turns.values():
        plan = next((hit for hit in (best, *rest) if hit.place in laid), None)
        answers = (hit for hit in (best, *rest) if scene.speaks(hit.place) and hit.score >= 0.5 * best.score)
        chosen.append(replace(plan or next(answers, best), score=best.score))
    return chosen
