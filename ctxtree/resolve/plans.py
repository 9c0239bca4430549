"""The plans that a wish fits: by name, by order, the one before, the one that is not in use."""

from __future__ import annotations

from collections.abc import Sequence

from ctxtree.resolve.keys import plan_keys
from ctxtree.resolve.match import Hit
from ctxtree.resolve.places import ENGLISH_KEY, HAN_KEY
from ctxtree.resolve.scene import Scene, quote


def laid_out(scene: Scene) -> list[tuple[str, int]]:
    """The plans of the path with their places, first to last."""
    return [(key, place) for key, place in scene.plans if place < scene.on_path]


def by_key(scene: Scene, key: str) -> list[Hit]:
    """The node that lays the plan out, then those that only speak of it."""
    laid = {place for name, place in scene.plans if name == key}
    hits = []
    for place, text in enumerate(scene.words):
        if place in laid or (scene.nodes[place].role in ("user", "assistant") and key in plan_keys(text)):
            score, how = (1.0, "lays out") if place in laid else (0.35, "speaks of")
            named = next((names for names in (ENGLISH_KEY, HAN_KEY) if names.search(text)), None)
            hits.append(Hit(place, score, f'{how} plan "{key}": {quote(scene, place, named)}'))
    return hits


def ordinal(scene: Scene, count: int) -> list[Hit]:
    """The plan of that number by name, else by order (-1: the last); nothing if the names say otherwise."""
    plans = laid_out(scene)
    numbers = {key.removeprefix("version "): place for key, place in reversed(plans)}
    named = [numbers[str(count)]] if str(count) in numbers else []
    places = list(dict.fromkeys(place for _, place in plans))
    if named:
        return [Hit(named[0], 0.95, f"plan {count}: {quote(scene, named[0])}")]
    index = count - 1 if count > 0 else -1
    if not places or index >= len(places) or (index >= 0 and any(map(str.isdecimal, numbers))):
        return []
    which = f"plan {count} of {len(places)}" if index >= 0 else "the last plan"
    return [Hit(places[index], 0.95, f"{which}: {quote(scene, places[index])}")]


def previous(scene: Scene) -> list[Hit]:
    """The plan before the one that is spoken of now."""
    plans = laid_out(scene)
    now = _spoken(scene, plans)
    if now < 1:
        return []
    place = plans[now - 1][1]
    return [Hit(place, 0.95, f"the plan before the present one: {quote(scene, place)}")]


def other(scene: Scene, refused: Sequence[str]) -> list[Hit]:
    """The plans that are neither turned down nor, where none is, spoken of now: a winner if that is one."""
    plans = laid_out(scene)
    now = _spoken(scene, plans)
    known = {key for key, _ in plans}
    left = set(refused) & known or {plans[now][0]} if plans else set()
    rest = [place for key, place in plans if key not in left]
    score = 0.95 if len(rest) == 1 else 0.7
    return [Hit(place, score, f"another plan: {quote(scene, place)}") for place in rest]


def not_in_use(scene: Scene) -> list[Hit]:
    """Of two named plans the one that no user took up since: what "that plan" means then."""
    plans = laid_out(scene)
    if len(plans) != 2 or len(scene.plans) != 2:
        return []
    since = range(plans[1][1] + 1, scene.on_path)
    said = [key for i in since if scene.nodes[i].role == "user" for key in plan_keys(scene.words[i])]
    rest = [place for key, place in plans if key not in said[-1:]]
    if len(rest) != 1:
        return []
    return [Hit(rest[0], 0.95, f"the plan that is not in use: {quote(scene, rest[0])}")]


def _spoken(scene: Scene, plans: Sequence[tuple[str, int]]) -> int:
    """Which plan the newest words name; the last one where none does."""
    names = [key for key, _ in plans]
    for place in range(scene.on_path - 1, -1, -1):
        for key in reversed(plan_keys(scene.words[place])):
            if key in names:
                return names.index(key)
    return len(plans) - 1
