"""The nodes that a wish fits: by count, error, plan name, order, label or words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from ctxtree.model import Node
from ctxtree.resolve.events import before
from ctxtree.resolve.match import DOUBT, ENOUGH, Hit, content, coverage, matches, one_a_turn, sought
from ctxtree.resolve.moments import moment
from ctxtree.resolve.places import (
    AFTER_ALL,
    BRANCHED,
    EDITION,
    MADE,
    PLAN_NOUN,
    PROPOSED,
    ROOTS,
    THAT,
)
from ctxtree.resolve.plans import by_key, not_in_use, ordinal, other, previous
from ctxtree.resolve.scene import Scene, quote
from ctxtree.resolve.wish import Wish

UNPLANNED = 0.5
"""What a node is worth that lays out no plan, where a plan is asked for."""
UNNAMED = 0.75
"""What a plan is worth that is called by another noun than the words have."""
WHOLLY = 0.6
"""The share of a choice that a plan must hold: less is another matter, and no move."""


def find(scene: Scene, wish: Wish) -> list[Hit]:
    match wish.kind:
        case "count":
            return _counted(scene, wish)
        case "start":
            first = next((place for place, node in enumerate(_path(scene)) if node.role == "user"), None)
            return [] if first is None else [Hit(first, 1.0, "the first user message", "before")]
        case "before" | "undo":
            return _undone(scene, wish, before(scene, wish))
        case "changed":
            return _changed(scene, wish) or _by_words(scene, wish)
        case "previous":
            edition = EDITION.search(wish.phrase) and not scene.plans
            return previous(scene) or (_counted(scene, wish) if edition else _by_words(scene, wish))
        case "other":
            return other(scene, wish.refused) or _by_words(scene, wish)
        case "ordinal":
            return ordinal(scene, wish.count) or _first(scene, wish) or _by_words(scene, wish)
        case "plan":
            return by_key(scene, wish.key) or _by_words(scene, wish)
        case "words":
            return _picked(scene, wish) if wish.picked else _by_words(scene, wish)


def _undone(scene: Scene, wish: Wish, hits: list[Hit]) -> list[Hit]:
    """The hits; where they only half fit what was blamed, the last step if they stand in it, else a question."""
    if not wish.pointed or any(hit.score > DOUBT for hit in hits):
        return hits
    last = _counted(scene, wish)
    if hits and last and hits[0].place == last[0].place:
        return last
    return hits or [replace(hit, score=DOUBT) for hit in last]


def _path(scene: Scene) -> Sequence[Node]:
    return scene.nodes[: scene.on_path]


def labelled(scene: Scene, wish: Wish) -> list[Hit]:
    """Nodes whose label stands whole in the phrase; the longest such label."""
    phrase = wish.phrase.casefold()
    if wish.kind in ("count", "start") or not phrase:
        return []
    found = {
        place: label
        for place, label in scene.labels.items()
        if label and re.search(rf"(?<![^\W_a-z]|[a-z0-9]){re.escape(label)}(?![a-z0-9])", phrase)
    }
    longest = max(map(len, found.values()), default=0)
    at: Literal["at", "before"] = "before" if wish.kind in ("before", "undo") else "at"
    return [
        Hit(place, 1.0, f'label "{label}"', at) for place, label in found.items() if len(label) == longest
    ]


def at_moment(scene: Scene, words: str, now: datetime) -> list[Hit]:
    """The last node of the path that stood at the time which the words name; nothing without times."""
    when = moment(words, now)
    if when is None:
        return []
    stood = [i for i, node in enumerate(_path(scene)) if node.created_at and node.created_at <= when]
    return [Hit(stood[-1], 1.0, f"the last message by {when:%Y-%m-%d %H:%M}")] if stood else []


_MEANING = {
    "exchange": "a step: a user message and all that follows it; of an answer still under way, one call with its results",
    "turn": "a turn: a user message and all that follows it",
    "message": "messages counted one by one",
}


def _counted(scene: Scene, wish: Wish) -> list[Hit]:
    """Back by so many steps, turns or messages."""
    path = _path(scene)
    turns = sorted({start for start in scene.turns[: len(path)] if path[start].role == "user"})
    units = {
        "exchange": [*turns, *_rounds(scene)],
        "turn": turns,
        "message": [i for i, node in enumerate(path) if node.role in ("user", "assistant", "tool")],
    }[wish.unit]
    if not 0 < wish.count <= len(units):
        return []
    plural = "" if wish.count == 1 else "s"
    why = f"{wish.count} {wish.unit}{plural} back ({_MEANING[wish.unit]})"
    return [Hit(units[-wish.count], 1.0, why, "before")]


def _rounds(scene: Scene) -> list[int]:
    """The calls of an answer still under way, but for the first, which goes with its user message."""
    path = _path(scene)
    if not path or not (path[-1].role == "tool" or path[-1].message.calls):
        return []
    start = scene.turns[len(path) - 1]
    return [i for i in range(start, len(path)) if path[i].role == "assistant"][1:]


def _by_words(scene: Scene, wish: Wish) -> list[Hit]:
    hits = matches(scene, wish.phrase, skip=scene.on_path - 1)
    laid = {place for _, place in scene.plans}
    if hits and wish.planned:
        proposed = {i for i in range(len(scene.nodes)) if scene.speaks(i) and PROPOSED.search(scene.words[i])}
        return _planned(scene, wish, hits, laid or proposed)
    if hits:
        return [hit if hit.place in laid else replace(hit, place=scene.onward(hit.place)) for hit in hits]
    named = bool(content(wish.phrase))
    if named and not wish.planned:
        return []
    if not named and wish.planned and THAT.search(wish.phrase) and not_in_use(scene):
        return not_in_use(scene)
    sure = DOUBT if named or not wish.planned else 0.7
    if not laid:
        return [] if named else _spoken_of(scene, wish)
    plans = [Hit(place, sure, f"a plan: {quote(scene, place)}") for place in sorted(laid)]
    return [replace(hit, score=hit.score * _called_so(scene, wish, hit.place)) for hit in plans]


def _planned(scene: Scene, wish: Wish, hits: Sequence[Hit], laid: set[int]) -> list[Hit]:
    """The plans that fit, by how much of the words they hold; what only speaks of the matter counts less.

    Where the words speak of a version, what was made counts more than what was proposed.
    """
    if MADE.search(wish.phrase):
        return [replace(hit, score=hit.score * (UNPLANNED if hit.place in laid else 1)) for hit in hits]
    top = max((hit.score for hit in hits if hit.place in laid), default=0.0)
    if not top:
        return list(hits)
    weighed, wanted = [], sought(wish.phrase)
    for hit in hits:
        held = coverage(wanted, scene, scene.turn(hit.place))
        share = (held / top if held >= ENOUGH else 1) if hit.place in laid else UNPLANNED
        weighed.append(replace(hit, score=hit.score * share * _called_so(scene, wish, hit.place)))
    return weighed


def _called_so(scene: Scene, wish: Wish, place: int) -> float:
    """Less for a node that does not use the noun of the words: option, proposal, 思路."""
    roots = [root for root in ROOTS if re.search(root, wish.phrase, re.IGNORECASE)]
    return 1 if all(re.search(root, scene.words[place], re.IGNORECASE) for root in roots) else UNNAMED


def _changed(scene: Scene, wish: Wish) -> list[Hit]:
    """Before the first user message after the first turn that speaks of the thing: there it was changed."""
    turns = sorted(set(scene.turns[: scene.on_path]))
    asked = [i for i in turns[1:] if scene.nodes[i].role == "user"]
    wanted = sought(wish.phrase)
    found = [i for i in asked if wanted.weight and coverage(wanted, scene, [i]) >= WHOLLY]
    return [Hit(i, 0.95, f"before it was changed: {quote(scene, i)}", "before") for i in found[:1]]


def _first(scene: Scene, wish: Wish) -> list[Hit]:
    """The first answer, for "the first draft" where no plan is the first."""
    answers = [i for i in range(scene.on_path) if scene.speaks(i)]
    first = wish.count == 1 and EDITION.search(wish.phrase) and answers
    return [Hit(answers[0], 0.6, f"the first answer: {quote(scene, answers[0])}")] if first else []


def _picked(scene: Scene, wish: Wish) -> list[Hit]:
    """Plans that hold what is chosen, or proposals by who is named; other branches where a version is spoken of."""
    phrase = wish.by or wish.phrase
    if not content(phrase):
        return []
    open_to = _open_to(scene, wish)
    wanted = sought(phrase)
    held = [(hit, coverage(wanted, scene, [hit.place])) for hit in matches(scene, phrase)]
    proposed = [hit for hit, share in held if hit.place in open_to and share >= WHOLLY]
    if MADE.search(wish.said):
        made = {hit.place for hit in proposed if hit.place >= scene.on_path}
        proposed = [
            replace(hit, score=hit.score * (1 if hit.place in made else UNPLANNED)) for hit in proposed
        ]
    if proposed or not AFTER_ALL.search(wish.said):
        return proposed
    return [hit for hit, share in held if share >= 1 and scene.speaks(hit.place)]


def _open_to(scene: Scene, wish: Wish) -> set[int]:
    """The places that a choice can mean: plans not turned down, proposals in words, what a person said."""
    plans = {place for key, place in scene.plans if key not in wish.refused or not key}
    said = {i for i, node in enumerate(_path(scene)) if node.role != "tool" and not node.message.calls}
    branched = BRANCHED.search(wish.phrase)
    elsewhere = set(range(scene.on_path, len(scene.nodes))) if branched else set()
    return plans | elsewhere | (said if wish.by else {i for i in said if PROPOSED.search(scene.words[i])})


def _spoken_of(scene: Scene, wish: Wish) -> list[Hit]:
    """Where no plan is laid out: each turn that speaks of one by the noun of the words."""
    noun = re.search(PLAN_NOUN, wish.phrase, re.IGNORECASE)
    if noun is None:
        return []
    word = re.compile(rf"(?<![a-z]){re.escape(noun.group().rstrip('s'))}s?(?![a-z])", re.IGNORECASE)
    hits = [
        Hit(place, 0.5, f'speaks of "{noun.group()}": {quote(scene, place, word)}')
        for place, text in enumerate(scene.words)
        if scene.nodes[place].role in ("user", "assistant")
        and place != scene.on_path - 1
        and word.search(text)
    ]
    return one_a_turn(scene, hits, set())
