"""The nodes that a wish fits: by count, error, plan name, order, label or words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from ctxtree.model import Node
from ctxtree.resolve.glossary import english
from ctxtree.resolve.keys import plan_keys
from ctxtree.resolve.match import DOUBT, Hit, content, coverage, matches, one_a_turn, turn_words
from ctxtree.resolve.moments import moment
from ctxtree.resolve.places import (
    AFTER_ALL,
    ASKED,
    BRANCHED,
    EDITION,
    FAILURE,
    INTENDED,
    MADE,
    PLAN_NOUN,
    PROPOSED,
    ROOTS,
    TAKEN_UP,
    THAT,
)
from ctxtree.resolve.plans import by_key, not_in_use, ordinal, other, previous
from ctxtree.resolve.scene import Scene, quote
from ctxtree.resolve.wish import Wish, ordinal_in

UNPLANNED = 0.5
"""What a node is worth that lays out no plan, where a plan is asked for."""
UNNAMED = 0.75
"""What a plan is worth that is called by another noun than the words have."""
WHOLE = 0.8
"""The share of an event that its node must hold where several turns hold as much."""
TOUCHED = 0.4
"""The share of an event that the user message must hold that began it."""
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
            hits = _before(scene, wish)
            unclear = wish.pointed and all(hit.score <= DOUBT for hit in hits)
            return _counted(scene, wish) if unclear else hits
        case "changed":
            return _changed(scene, wish) or _by_words(scene, wish)
        case "previous":
            return previous(scene) or _by_words(scene, wish)
        case "other":
            return other(scene, wish.refused) or _by_words(scene, wish)
        case "ordinal":
            return ordinal(scene, wish.count) or _first(scene, wish) or _by_words(scene, wish)
        case "plan":
            return by_key(scene, wish.key) or _by_words(scene, wish)
        case "words":
            return _picked(scene, wish) if wish.picked else _by_words(scene, wish)


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


def _before(scene: Scene, wish: Wish) -> list[Hit]:
    keys = [wish.key] if wish.key else plan_keys(wish.phrase)
    if keys:
        return [_ahead(scene, hit) for hit in _taken_up(scene, wish, keys[0]) or by_key(scene, keys[0])]
    count = ordinal_in(wish.phrase) if wish.planned else 0
    if count and (named := ordinal(scene, count)):
        return [_ahead(scene, hit) for hit in named]
    failed = _failures(scene, wish) if FAILURE.search(wish.phrase) else []
    return failed or _before_words(scene, wish)


def _taken_up(scene: Scene, wish: Wish, key: str) -> list[Hit]:
    """The first user message that takes up a plan laid out before it, where the words speak of using it."""
    laid = [place for name, place in scene.plans if name == key and place < scene.on_path]
    since = range(laid[0], scene.on_path) if laid and TAKEN_UP.search(wish.phrase) else ()
    taken = [i for i in since if scene.nodes[i].role == "user" and key in plan_keys(scene.words[i])]
    return [Hit(i, 1.0, f'takes up plan "{key}": {quote(scene, i)}') for i in taken[:1]]


def _asked(scene: Scene, place: int) -> int:
    """The user message that led to a node, if it stands right before it: what led there goes with it."""
    while 0 < place < scene.on_path and scene.nodes[place - 1].role == "user":
        place -= 1
    return place


def _failures(scene: Scene, wish: Wish) -> list[Hit]:
    """The first error that the words fit (the last, if they say so), and behind it the other errors."""
    path = _path(scene)
    errors = _errors(scene) or [i for i in range(len(path)) if i in scene.tried]
    told = [i for i, node in enumerate(path) if node.role != "user" and FAILURE.search(scene.words[i])]
    wanted = content(FAILURE.sub(" ", wish.phrase))
    fitting = [i for i in errors if _fits(scene, i, wanted)] or [
        _told_of(scene, i) for i in told if wanted and _fits(scene, i, wanted)
    ]
    found = fitting or errors or told
    if not found:
        return []
    chosen = found[-1] if wish.last else found[0]
    best = 0.95 if fitting or not wanted else DOUBT
    rest = [i for i in errors if i != chosen]
    which = "last" if wish.last else "first"
    first = Hit(chosen, best, f"before the {which} error: {quote(scene, chosen, FAILURE)}", "before")
    weight = best * 0.42
    return [first, *(Hit(i, weight, f"before an error: {quote(scene, i, FAILURE)}", "before") for i in rest)]


def _told_of(scene: Scene, place: int) -> int:
    """The error that an answer tells of, which stands right before it or in its turn; else the answer itself."""
    if not scene.speaks(place) or place >= scene.on_path:
        return place
    errors = [i for i in _errors(scene) if i < place and scene.turns[i] == scene.turns[place]]
    near = errors and (errors[-1] == place - 1 or FAILURE.search(scene.words[place]))
    return errors[-1] if near else place


def _errors(scene: Scene) -> list[int]:
    return [i for i, node in enumerate(_path(scene)) if any(result.error for result in node.message.results)]


def _fits(scene: Scene, place: int, wanted: Sequence[str]) -> bool:
    """Whether a result, or the call right before it, speaks of one of the words."""
    around = (
        " ".join(scene.words[max(place - 1, 0) : place + 1])
        if scene.nodes[place].role == "tool"
        else scene.words[place]
    )
    lowered = english(around).casefold()
    known = set(content(around))
    return not wanted or any(term in known or term in lowered for term in wanted)


def _before_words(scene: Scene, wish: Wish) -> list[Hit]:
    """The earliest of the nodes that fit an event about equally well: where it began, not where it was proposed."""
    hits = [hit for hit in matches(scene, wish.phrase, whole=False) if hit.place < scene.on_path]
    done = _events(scene, wish, hits)
    top = max((hit.score for hit in done), default=0.0)
    near = [hit for hit in done if hit.score >= 0.6 * top]
    shares = {hit.place: coverage(wish.phrase, scene.words[hit.place]) for hit in near}
    most = max(shares.values(), default=0.0)
    near = sorted((hit for hit in near if shares[hit.place] >= 0.75 * most), key=lambda hit: hit.place)
    if not near:
        return []
    begun = near[-1] if wish.last else near[0]
    spoken = scene.speaks(begun.place)
    begun = replace(begun, place=_told_of(scene, begun.place))
    asked = scene.turns[begun.place]
    start = next((hit for hit in done if hit.place == asked and _orders(scene, wish, asked, begun)), begun)
    ordered = any(scene.nodes[hit.place].role == "user" and scene.turns[hit.place] != asked for hit in near)
    unsure = start is begun and ordered and spoken
    unsure |= most < WHOLE and len({scene.turns[hit.place] for hit in near}) > 1
    rest = (
        replace(hit, score=hit.score * 0.5) for hit in done if hit.place not in (start.place, begun.place)
    )
    first = replace(start, score=top * DOUBT if unsure else top)
    return [_ahead(scene, hit) for hit in (first, *rest)]


def _orders(scene: Scene, wish: Wish, place: int, begun: Hit) -> bool:
    """Whether a user message is where the event of its turn began: it speaks of it, and nothing failed."""
    user = scene.nodes[place].role == "user" and scene.nodes[begun.place].role != "tool"
    return user and coverage(wish.phrase, scene.words[place]) >= TOUCHED


def _events(scene: Scene, wish: Wish, hits: Sequence[Hit]) -> list[Hit]:
    """Hits where something was done: not where it was proposed or asked about, nor in the message that began it all."""
    laid = {place for _, place in scene.plans}
    laid |= {hit.place for hit in hits if scene.speaks(hit.place) and INTENDED.search(scene.words[hit.place])}
    if not ASKED.search(wish.phrase):
        users = [hit.place for hit in hits if scene.nodes[hit.place].role == "user"]
        laid |= {i for i in users if re.search(r"[?？吗呢]\W*$", scene.words[i])}
    first = next((place for place, node in enumerate(_path(scene)) if node.role == "user"), 0)
    done = [hit for hit in hits if hit.place not in laid] or list(hits)
    return [hit for hit in done if hit.place != first] or done


def _ahead(scene: Scene, hit: Hit) -> Hit:
    return replace(hit, place=_asked(scene, hit.place), at="before", why=f"before the node that {hit.why}")


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
    weighed = []
    for hit in hits:
        share = coverage(wish.phrase, turn_words(scene, hit.place)) / top if hit.place in laid else UNPLANNED
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
    found = [i for i in asked if coverage(wish.phrase, scene.words[i]) >= WHOLLY and content(wish.phrase)]
    return [Hit(i, 0.95, f"before it was changed: {quote(scene, i)}", "before") for i in found[:1]]


def _first(scene: Scene, wish: Wish) -> list[Hit]:
    """The first answer, for "the first draft" where no plan is laid out."""
    answers = [i for i in range(scene.on_path) if scene.speaks(i)]
    first = wish.count == 1 and not scene.plans and EDITION.search(wish.phrase) and answers
    return [Hit(answers[0], 0.6, f"the first answer: {quote(scene, answers[0])}")] if first else []


def _picked(scene: Scene, wish: Wish) -> list[Hit]:
    """Plans that hold what is chosen, or proposals by who is named; other branches where a version is spoken of."""
    phrase = wish.by or wish.phrase
    if not content(phrase):
        return []
    open_to = {place for key, place in scene.plans if key not in wish.refused or not key}
    open_to |= {place for place in range(scene.on_path) if PROPOSED.search(scene.words[place])} - _called(
        scene
    )
    if wish.by:
        open_to |= set(range(scene.on_path))
    if BRANCHED.search(wish.phrase):
        open_to |= set(range(scene.on_path, len(scene.nodes)))
    held = [(hit, coverage(phrase, scene.words[hit.place])) for hit in matches(scene, phrase)]
    proposed = [hit for hit, share in held if hit.place in open_to and share >= WHOLLY]
    if MADE.search(wish.said):
        made = {hit.place for hit in proposed if hit.place >= scene.on_path}
        proposed = [
            replace(hit, score=hit.score * (1 if hit.place in made else UNPLANNED)) for hit in proposed
        ]
    if proposed or not AFTER_ALL.search(wish.said):
        return proposed
    return [hit for hit, share in held if share >= 1 and scene.speaks(hit.place)]


def _called(scene: Scene) -> set[int]:
    return {place for place, node in enumerate(scene.nodes) if node.role == "tool" or node.message.calls}


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
