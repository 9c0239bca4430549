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

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Hit:
    """A node by its place in the scene, before it is weighed."""

    place: int
    score: float
    why: str
    at: Literal["at", "before"] = "at"


def content(phrase: str) -> list[str]:
    """The terms of a phrase that say which place, in English where the glossary has them."""
    return Words().terms(english(GENERIC.sub(" ", phrase)))


def matches(scene: Scene, phrase: str, skip: int = -1, whole: bool = True) -> list[Hit]:
    """Nodes by the words they share with the phrase, one a turn if `whole`; a label's words count double.

    `skip` is a place to leave out unless it lays out a plan: nobody goes back to where they are.
    """
    wanted = content(phrase)
    words = Words()
    laid = {place for _, place in scene.plans}
    index = Index(
        words.terms(english(f"{scene.labels.get(i, '')} {text}")) for i, text in enumerate(scene.words)
    )
    scores = index.scores(wanted)
    top = max(scores.values(), default=1.0)
    found = {place: score / top for place, score in scores.items()}
    for place, label in scene.labels.items():
        shared = sum(term in words.terms(english(label)) for term in wanted) / max(len(wanted), 1)
        if shared:
            found[place] = max(found.get(place, 0.0), 0.5) + 0.5 * shared
    hits = []
    for place, score in found.items():
        if scene.nodes[place].role in ("user", "assistant", "tool") and (place != skip or place in laid):
            shown = quote(scene, place, _any_of(wanted))
            hits.append(Hit(place, score, f'matches "{phrase}": {shown}'))
    return [_doubted(scene, hit, phrase) for hit in (one_a_turn(scene, hits, laid) if whole else hits)]


def coverage(phrase: str, text: str) -> float:
    """The share of a phrase that a text holds: its words, and of Chinese the characters that stand in common pairs.

    Two characters weigh as much as one word. 1 for a phrase that names nothing.
    """
    wanted, text = LIGHT.sub(" ", english(GENERIC.sub(" ", phrase))), english(text)
    words = Words()
    known = set(words.terms(text))
    latin = words.terms(_HAN.sub(" ", wanted))
    runs: list[str] = _HAN.findall(wanted)
    total = len(latin) + sum(map(len, runs)) / 2
    held = sum(term in known for term in latin) + sum(_shared(run, text) for run in runs) / 2
    return held / total if total else 1.0


def _shared(run: str, text: str) -> int:
    if len(run) == 1:
        return int(run in text)
    pairs = [run[i : i + 2] in text for i in range(len(run) - 1)]
    return sum(any(pairs[max(i - 1, 0) : i + 1]) for i in range(len(run)))


def turn_words(scene: Scene, place: int) -> str:
    """All that the turn of a node says, with its labels."""
    turn = scene.turn(place)
    return "\n".join([scene.labels.get(i, "") for i in turn] + [scene.words[i] for i in turn])


def one_a_turn(scene: Scene, hits: Iterable[Hit], laid: set[int]) -> list[Hit]:
    """The best hit of each turn; the answer before the question, since one goes on from the answer."""
    best: dict[int, Hit] = {}
    for hit in sorted(hits, key=lambda hit: (hit.place not in laid, -hit.score, hit.place)):
        held = best.setdefault(scene.turns[hit.place], hit)
        answers = scene.speaks(hit.place) and not scene.speaks(held.place)
        if answers and held.place not in laid and hit.score >= 0.5 * held.score:
            best[scene.turns[hit.place]] = replace(hit, score=held.score)
    return list(best.values())


def _doubted(scene: Scene, hit: Hit, phrase: str) -> Hit:
    if hit.score <= DOUBT or coverage(phrase, turn_words(scene, hit.place)) >= ENOUGH:
        return hit
    return replace(hit, score=DOUBT * hit.score)


def _any_of(wanted: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(re.escape, wanted)), re.IGNORECASE) if wanted else None
