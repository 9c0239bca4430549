"""Which node words like "go back to that plan" mean: candidates with reasons, and a winner if it is clear.

`asking` tells a request from a mention and `wish` reads what it points at, by the phrases in `tables`; `find`
looks for that among the nodes of the `scene`. Choosing a node means to go on from it; "before" means from its parent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from ctxtree.model import Node
from ctxtree.resolve.find import at_moment, find, labelled
from ctxtree.resolve.match import Hit
from ctxtree.resolve.scene import Scene, scene_of
from ctxtree.resolve.wish import Wish, read

CLEAR = 1.25
"""The best candidate wins if its score is this many times the next one's."""
LEAST = 0.35
"""No candidate below this score wins."""
SHOWN = 8
"""Candidates given back at most."""

ELSEWHERE = 0.85
"""What a score off the active path is worth."""
HERE = 0.7
"""What a node of the newest turn is worth: one goes back to what is further away."""
REFUSED = 0.2
"""What a plan is worth that the words turn down."""
TRIED = 0.6
"""What the score of a failed or abandoned node is worth."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that the words may mean. `target` is where to go on: the node, or its parent for `before`.

    `score` runs from 0 to 1; `why` quotes what matched and tells how far back. `target` is None before the first node.
    """

    node: str
    score: float
    why: str
    at: Literal["at", "before"] = "at"
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """`request`: whether the words ask for a move at all. Without one there is no winner."""

    request: bool
    candidates: tuple[Candidate, ...] = ()
    winner: Candidate | None = None


def resolve(
    words: str,
    nodes: Sequence[Node],
    marks: Mapping[str, Mapping[str, Any]],
    head: str | None,
    alternatives: Sequence[Node] = (),
    now: datetime | None = None,
) -> Resolution:
    """Candidates, best first, and the winner if one is clearly ahead (`CLEAR` times the next).

    `nodes` run from the root to the head, `alternatives` stand on other branches; `marks` are the
    values of each node by name. A last user message that holds these very words is not looked at.
    The cost is one pass over the text of all nodes, at most 4,000 characters each.
    """
    scene = scene_of(_told(words, nodes, head), marks, alternatives)
    wish = read(words)
    if any(label == words.strip().casefold() for label in scene.labels.values()):
        wish = Wish(True, "words", words.strip())
    timed = at_moment(scene, words, now or datetime.now(UTC)) if wish.request and not wish.chosen else []
    hits = labelled(scene, wish) or timed or find(scene, wish)
    candidates = tuple(_weigh(scene, wish, hits)[:SHOWN])
    request = wish.request and not _stays(scene, wish, hits)
    return Resolution(request, candidates, _winner(candidates) if request else None)


def _stays(scene: Scene, wish: Wish, hits: Sequence[Hit]) -> bool:
    """Whether a choice is no move: of what stands in the newest turn, or of nothing that was proposed."""
    if not wish.chosen:
        return False
    newest = scene.turns[scene.on_path - 1] if scene.on_path else -1
    laid = {place for _, place in scene.plans}
    away = [hit for hit in hits if scene.turns[hit.place] != newest or hit.place >= scene.on_path]
    return not away if wish.picked else bool(hits) and not away and any(hit.place in laid for hit in hits)


def _winner(candidates: Sequence[Candidate]) -> Candidate | None:
    if not candidates or candidates[0].score < LEAST:
        return None
    clear = len(candidates) == 1 or candidates[0].score >= CLEAR * candidates[1].score
    return candidates[0] if clear else None


def _told(words: str, nodes: Sequence[Node], head: str | None) -> Sequence[Node]:
    """The path up to the head, less the request itself where it is stored already."""
    ids = [node.id for node in nodes]
    path = nodes[: ids.index(head) + 1] if head in ids else nodes
    asked = path and path[-1].role == "user" and path[-1].text.strip() == words.strip()
    return path[:-1] if asked else path


def _here(scene: Scene, place: int) -> bool:
    return place < scene.on_path and scene.turns[place] == scene.turns[scene.on_path - 1]


def _where(scene: Scene, hit: Hit) -> str:
    """Where a candidate stands, so that a person can tell it from the others: turns back, branch, given up."""
    if hit.place >= scene.on_path:
        where = "on another branch"
    else:
        back = len(set(scene.turns[hit.place + 1 : scene.on_path]) - {scene.turns[hit.place]})
        where = f"{back} turn{'' if back == 1 else 's'} back" if back else "in this turn"
    return f"{where}, given up" if hit.place in scene.tried else where


def _weigh(scene: Scene, wish: Wish, hits: Sequence[Hit]) -> list[Candidate]:
    """Candidates by score, the best for each node."""
    named: dict[int, set[str]] = {}
    for key, place in scene.plans:
        named.setdefault(place, set()).add(key)
    scored = [(min(_worth(scene, wish, hit, named), 1.0), hit) for hit in hits]
    best: dict[str, Candidate] = {}
    for score, hit in sorted(scored, key=lambda entry: (-entry[0], -entry[1].place)):
        node = scene.nodes[hit.place]
        why = hit.why if wish.kind == "count" else f"{hit.why} ({_where(scene, hit)})"
        target = node.id if hit.at == "at" else node.parent
        best.setdefault(node.id, Candidate(node.id, round(score, 4), why, hit.at, target))
    return list(best.values())


def _worth(scene: Scene, wish: Wish, hit: Hit, named: Mapping[int, set[str]]) -> float:
    """A hit's score; tried ones, other branches and refused plans count less, later ones a bit more."""
    score = hit.score * (1 if hit.place < scene.on_path else ELSEWHERE)
    if wish.kind == "words" and not wish.planned and hit.at == "at" and _here(scene, hit.place):
        score *= HERE
    if hit.at == "at" and hit.place in scene.tried:
        score *= TRIED
    if wish.refused and named.get(hit.place, {""}) <= set(wish.refused):
        score *= REFUSED
    return score * (0.97 + 0.03 * (hit.place + 1) / len(scene.nodes))
