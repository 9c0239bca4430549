"""Where an event began that words go back before: a failure, a plan taken up, anything that was done."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ctxtree.resolve.keys import plan_keys
from ctxtree.resolve.match import DOUBT, LOOKED, Hit, Sought, content, coverage, matches, sought
from ctxtree.resolve.places import ASKED, FAILURE, INTENDED, TAKEN_UP
from ctxtree.resolve.plans import by_key, ordinal
from ctxtree.resolve.scene import Scene, quote
from ctxtree.resolve.wish import Wish, ordinal_in

WHOLE = 0.8
"""The share of an event that its node must hold where several turns hold as much."""
TOUCHED = 0.4
"""The share of an event that the user message must hold that began it."""


def before(scene: Scene, wish: Wish) -> list[Hit]:
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
    path = scene.nodes[: scene.on_path]
    errors = _errors(scene) or [i for i in range(len(path)) if i in scene.tried]
    told = [i for i, node in enumerate(path) if node.role != "user" and FAILURE.search(scene.words[i])]
    wanted = content(FAILURE.sub(" ", wish.phrase))
    fitting = [i for i in errors if _fits(scene, i, wanted)] or [
        i for i in told if wanted and _fits(scene, i, wanted)
    ]
    found = fitting or errors or told
    if not found:
        return []
    chosen = _told_of(scene, found[-1] if wish.last else found[0])
    best = 0.95 if fitting or not wanted else DOUBT
    first = f"before the {'last' if wish.last else 'first'} error: {quote(scene, chosen, FAILURE)}"
    rest = [i for i in errors if i != chosen][:LOOKED]
    others = (Hit(i, 0.4 * best, f"before an error: {quote(scene, i, FAILURE)}", "before") for i in rest)
    return [Hit(chosen, best, first, "before"), *others]


def _told_of(scene: Scene, place: int) -> int:
    """The error that an answer tells of, which stands right before it or in its turn; else the answer itself."""
    if not scene.speaks(place) or place >= scene.on_path:
        return place
    errors = [i for i in _errors(scene) if i < place and scene.turns[i] == scene.turns[place]]
    near = errors and (errors[-1] == place - 1 or FAILURE.search(scene.words[place]))
    return errors[-1] if near else place


def _errors(scene: Scene) -> list[int]:
    return [
        i
        for i, node in enumerate(scene.nodes[: scene.on_path])
        if any(result.error for result in node.message.results)
    ]


def _fits(scene: Scene, place: int, wanted: Sequence[str]) -> bool:
    """Whether a result, or the call right before it, speaks of one of the words."""
    near = range(max(place - 1, 0) if scene.nodes[place].role == "tool" else place, place + 1)
    return not wanted or any(
        term in scene.terms[i] or term in scene.told[i].casefold() for i in near for term in wanted
    )


def _before_words(scene: Scene, wish: Wish) -> list[Hit]:
    """The earliest of the nodes that fit an event about equally well: where it began."""
    wanted = sought(wish.phrase)
    hits = [hit for hit in matches(scene, wish.phrase, whole=False) if hit.place < scene.on_path]
    done = _done(scene, wish, hits)
    near = _near(scene, wanted, done)
    if not near:
        return []
    spoken = near[-1] if wish.last else near[0]
    begun = replace(spoken, place=_told_of(scene, spoken.place))
    turn = scene.turns[begun.place]
    start = next((hit for hit in done if hit.place == turn and _ordered(scene, wanted, hit, begun)), begun)
    if wish.kind == "undo" and start is begun and scene.speaks(spoken.place):
        start = replace(begun, place=turn)
    mentioned = start is begun and scene.speaks(spoken.place)
    ordered = any(scene.nodes[hit.place].role == "user" and scene.turns[hit.place] != turn for hit in near)
    unsure = (mentioned and ordered) or _scattered(scene, wanted, near)
    first = replace(start, score=max(hit.score for hit in done) * (DOUBT if unsure else 1))
    later = [hit for hit in done if hit.place not in (start.place, begun.place)]
    return [_ahead(scene, hit) for hit in (first, *(replace(hit, score=hit.score * 0.5) for hit in later))]


def _near(scene: Scene, wanted: Sought, done: Sequence[Hit]) -> list[Hit]:
    """The hits that are about as good as the best, by score and by how much of the event they hold, first to last."""
    top = max((hit.score for hit in done), default=0.0)
    shares = {hit.place: coverage(wanted, scene, [hit.place]) for hit in done if hit.score >= 0.6 * top}
    least = 0.75 * max(shares.values(), default=0.0)
    return sorted((hit for hit in done if shares.get(hit.place, -1) >= least), key=lambda hit: hit.place)


def _scattered(scene: Scene, wanted: Sought, near: Sequence[Hit]) -> bool:
    """Whether several turns hold a part of the event, and none the whole."""
    most = max(coverage(wanted, scene, [hit.place]) for hit in near)
    return most < WHOLE and len({scene.turns[hit.place] for hit in near}) > 1


def _ordered(scene: Scene, wanted: Sought, hit: Hit, begun: Hit) -> bool:
    """Whether a user message is where the event of its turn began: it speaks of it, and nothing failed."""
    user = scene.nodes[hit.place].role == "user" and scene.nodes[begun.place].role != "tool"
    return user and coverage(wanted, scene, [hit.place]) >= TOUCHED


def _done(scene: Scene, wish: Wish, hits: Sequence[Hit]) -> list[Hit]:
    """Hits where something was done: not where it was proposed or asked about, nor in the message that began it all."""
    laid = {place for _, place in scene.plans}
    laid |= {hit.place for hit in hits if scene.speaks(hit.place) and INTENDED.search(scene.words[hit.place])}
    if not ASKED.search(wish.phrase):
        users = [hit.place for hit in hits if scene.nodes[hit.place].role == "user"]
        laid |= {i for i in users if re.search(r"[?？吗呢]\W*$", scene.words[i])}
    first = next((place for place, node in enumerate(scene.nodes[: scene.on_path]) if node.role == "user"), 0)
    done = [hit for hit in hits if hit.place not in laid] or list(hits)
    return [hit for hit in done if hit.place != first] or done


def _ahead(scene: Scene, hit: Hit) -> Hit:
    return replace(hit, place=_asked(scene, hit.place), at="before", why=f"before the node that {hit.why}")
