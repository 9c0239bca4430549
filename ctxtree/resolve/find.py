"""The nodes that a wish fits: by count, error, plan name, order, label or words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from ctxtree.bm25 import Index, relevance
from ctxtree.model import Node
from ctxtree.resolve.moments import moment
from ctxtree.resolve.scene import Scene, quote
from ctxtree.resolve.tables import ENGLISH_KEY, HAN_KEY, PLAN_NOUN, THAT
from ctxtree.resolve.wish import Wish, plan_keys
from ctxtree.words import Words

UNPLANNED = 0.5
"""What a node is worth that lays out no plan, where a plan is asked for."""

FAILURE = re.compile(
    r"\b(?:fail(?:s|ed|ing|ures?)?|errors?|crash(?:es|ed)?|broke|broken|exceptions?|traceback|went wrong)\b"
    r"|失败|报错|出错|错误|崩溃|挂了|坏了|异常",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    PLAN_NOUN
    + r"|\b(?:the|that|this|one|thing|point|place|step|state|just|now|last|previous|earlier|first|back|to"
    r"|where|when|we|i|you|had|were|was|from|of|about|with|please|again|instead|after all|time|discussed|talked"
    r"|proposed|suggested|mentioned|made|used|did|before|checkpoint|label|node|message|conversation|said)\b"
    r"|刚才|刚刚|之前|以前|那个|这个|那一?步|这一?步|那版|的时候|时候|说的|提到的|讨论的|那里|那儿|地方|状态|一下",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A node by its place in the scene, before it is weighed."""

    place: int
    score: float
    why: str
    at: Literal["at", "before"] = "at"


def find(scene: Scene, wish: Wish) -> list[Hit]:
    match wish.kind:
        case "count":
            return _counted(scene, wish)
        case "start":
            first = next((place for place, node in enumerate(_path(scene)) if node.role == "user"), None)
            return [] if first is None else [Hit(first, 1.0, "the first user message", "before")]
        case "before" | "undo":
            return _before(scene, wish)
        case "previous":
            return _previous(scene) or _by_words(scene, wish)
        case "ordinal":
            return _ordinal(scene, wish) or _by_words(scene, wish)
        case "plan":
            return _by_key(scene, wish.key) or _by_words(scene, wish)
        case "words":
            return _by_words(scene, wish)


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


def _not_in_use(scene: Scene) -> list[Hit]:
    """Of two named plans the one that no user took up since: what "that plan" means then."""
    plans = [(key, place) for key, place in scene.plans if place < scene.on_path]
    if len(plans) != 2 or len(scene.plans) != 2:
        return []
    since = range(plans[1][1] + 1, scene.on_path)
    said = [key for i in since if scene.nodes[i].role == "user" for key in plan_keys(scene.words[i])]
    rest = [place for key, place in plans if key not in said[-1:]]
    if len(rest) != 1:
        return []
    return [Hit(rest[0], 0.95, f"the plan that is not in use: {quote(scene, rest[0])}")]


def _counted(scene: Scene, wish: Wish) -> list[Hit]:
    """Back by so many exchanges, turns or messages; an exchange takes the user message before it along."""
    path = _path(scene)
    units = {
        "exchange": [i for i, node in enumerate(path) if node.role == "assistant"],
        "turn": [
            i for i, node in enumerate(path) if node.role == "user" and (not i or path[i - 1].role != "user")
        ],
        "message": [i for i, node in enumerate(path) if node.role in ("user", "assistant", "tool")],
    }[wish.unit]
    if not 0 < wish.count <= len(units):
        return []
    place = units[-wish.count]
    place = place if wish.unit == "message" else _asked(scene, place)
    meaning = {
        "exchange": "an exchange: an assistant message with its results, and the user message that led to it",
        "turn": "a turn: a user message and all that follows it",
        "message": "messages counted one by one",
    }[wish.unit]
    plural = "" if wish.count == 1 else "s"
    return [Hit(place, 1.0, f"{wish.count} {wish.unit}{plural} back ({meaning})", "before")]


def _before(scene: Scene, wish: Wish) -> list[Hit]:
    if wish.key or plan_keys(wish.phrase):
        named = _by_key(scene, wish.key or plan_keys(wish.phrase)[0])
        return [_ahead(scene, hit) for hit in named]
    failed = _failures(scene, wish) if FAILURE.search(wish.phrase) else []
    return failed or _before_words(scene, wish)


def _asked(scene: Scene, place: int) -> int:
    """The user message that led to a node, if it stands right before it: what led there goes with it."""
    while 0 < place < scene.on_path and scene.nodes[place - 1].role == "user":
        place -= 1
    return place


def _failures(scene: Scene, wish: Wish) -> list[Hit]:
    """The first error that the words fit (the last, if they say so), and behind it the other errors."""
    path = _path(scene)
    errors = [i for i, node in enumerate(path) if any(result.error for result in node.message.results)]
    errors = errors or [i for i in range(len(path)) if i in scene.tried]
    told = [i for i, node in enumerate(path) if node.role != "user" and FAILURE.search(scene.words[i])]
    wanted = Words().terms(FAILURE.sub(" ", wish.phrase))
    fitting = [i for i in errors if _fits(scene, i, wanted)] or [
        i for i in told if wanted and _fits(scene, i, wanted)
    ]
    found = fitting or errors or told
    if not found:
        return []
    chosen = found[-1] if wish.last else found[0]
    best = 0.95 if fitting or not wanted else 0.8
    rest = [i for i in errors if i != chosen]
    which = "last" if wish.last else "first"
    first = Hit(chosen, best, f"before the {which} error: {quote(scene, chosen, FAILURE)}", "before")
    return [first, *(Hit(i, 0.4, f"before an error: {quote(scene, i, FAILURE)}", "before") for i in rest)]


def _fits(scene: Scene, place: int, wanted: Sequence[str]) -> bool:
    """Whether a result, or the call right before it, speaks of one of the words."""
    around = (
        " ".join(scene.words[max(place - 1, 0) : place + 1])
        if scene.nodes[place].role == "tool"
        else scene.words[place]
    )
    lowered = around.casefold()
    return not wanted or any(term in lowered for term in wanted)


def _before_words(scene: Scene, wish: Wish) -> list[Hit]:
    """The earliest of the nodes that fit an event about equally well: where it began."""
    hits = [hit for hit in _matches(scene, wish.phrase, whole=False) if hit.place < scene.on_path]
    top = max((hit.score for hit in hits), default=0.0)
    near = sorted((hit for hit in hits if hit.score >= 0.6 * top), key=lambda hit: hit.place)
    if not near:
        return []
    begun = near[-1] if wish.last else near[0]
    rest = (replace(hit, score=hit.score * 0.5) for hit in hits if hit.place != begun.place)
    return [_ahead(scene, hit) for hit in (replace(begun, score=top), *rest)]


def _ahead(scene: Scene, hit: Hit) -> Hit:
    return replace(hit, place=_asked(scene, hit.place), at="before", why=f"before the node that {hit.why}")


def _previous(scene: Scene) -> list[Hit]:
    """The plan before the one that is spoken of now."""
    plans = [(key, place) for key, place in scene.plans if place < scene.on_path]
    spoken = [
        key for place in range(scene.on_path - 1, -1, -1) for key in reversed(plan_keys(scene.words[place]))
    ]
    names = [key for key, _ in plans]
    now = names.index(spoken[0]) if spoken and spoken[0] in names else len(plans) - 1
    if now < 1:
        return []
    place = plans[now - 1][1]
    return [Hit(place, 0.95, f"the plan before the present one: {quote(scene, place)}")]


def _ordinal(scene: Scene, wish: Wish) -> list[Hit]:
    places = list(dict.fromkeys(place for _, place in scene.plans if place < scene.on_path))
    index = wish.count - 1 if wish.count > 0 else -1
    if not -1 <= index < len(places) or not places:
        return []
    place = places[index]
    which = f"plan {index + 1} of {len(places)}" if index >= 0 else "the last plan"
    return [Hit(place, 0.95, f"{which}: {quote(scene, place)}")]


def _by_key(scene: Scene, key: str) -> list[Hit]:
    """The node that lays the plan out, then those that only speak of it."""
    laid = {place for name, place in scene.plans if name == key}
    hits = []
    for place, text in enumerate(scene.words):
        if place in laid or (scene.nodes[place].role in ("user", "assistant") and key in plan_keys(text)):
            score, how = (1.0, "lays out") if place in laid else (0.35, "speaks of")
            named = next((names for names in (ENGLISH_KEY, HAN_KEY) if names.search(text)), None)
            hits.append(Hit(place, score, f'{how} plan "{key}": {quote(scene, place, named)}'))
    return hits


def _by_words(scene: Scene, wish: Wish) -> list[Hit]:
    hits = _matches(scene, wish.phrase, skip=scene.on_path - 1)
    laid = {place for _, place in scene.plans}
    if hits:
        plain = not wish.planned or not any(hit.place in laid for hit in hits)
        return [
            hit if plain or hit.place in laid else replace(hit, score=hit.score * UNPLANNED) for hit in hits
        ]
    if _content(wish.phrase):
        return []
    if wish.planned and THAT.search(wish.phrase) and _not_in_use(scene):
        return _not_in_use(scene)
    sure = 0.7 if wish.planned else 0.3
    if not laid:
        return _spoken_of(scene, wish)
    return [Hit(place, sure, f"a plan: {quote(scene, place)}") for place in sorted(laid)]


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
    return _one_a_turn(scene, hits, set())


def _content(phrase: str) -> list[str]:
    return Words().terms(_GENERIC.sub(" ", phrase))


def _matches(scene: Scene, phrase: str, skip: int = -1, whole: bool = True) -> list[Hit]:
    """Nodes by the words they share with the phrase, one a turn if `whole`; a label's words count double.

    `skip` is a place to leave out unless it lays out a plan: nobody goes back to where they are.
    """
    wanted = _content(phrase)
    words = Words()
    laid = {place for _, place in scene.plans}
    index = Index(words.terms(f"{scene.labels.get(i, '')} {text}") for i, text in enumerate(scene.words))
    found = relevance(index.scores(wanted), index.ideal(wanted))
    for place, label in scene.labels.items():
        shared = sum(term in words.terms(label) for term in wanted) / max(len(wanted), 1)
        if shared:
            found[place] = max(found.get(place, 0.0), 0.5) + 0.5 * shared
    hits = []
    for place, score in found.items():
        if scene.nodes[place].role in ("user", "assistant", "tool") and (place != skip or place in laid):
            shown = quote(scene, place, _any_of(wanted))
            hits.append(Hit(place, score, f'matches "{phrase}": {shown}'))
    return _one_a_turn(scene, hits, laid) if whole else hits


def _one_a_turn(scene: Scene, hits: Iterable[Hit], laid: set[int]) -> list[Hit]:
    """The best hit of each turn; the answer before the question, since one goes on from the answer."""
    best: dict[int, Hit] = {}
    turn = 0
    starts = []
    for place, node in enumerate(scene.nodes):
        turn += node.role == "user" or place >= scene.on_path
        starts.append(turn)
    for hit in sorted(hits, key=lambda hit: (hit.place not in laid, -hit.score, hit.place)):
        held = best.setdefault(starts[hit.place], hit)
        answers = scene.nodes[held.place].role == "user" and scene.nodes[hit.place].role == "assistant"
        if answers and held.place not in laid and hit.score >= 0.5 * held.score:
            best[starts[hit.place]] = replace(hit, score=held.score)
    return list(best.values())


def _any_of(wanted: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(re.escape, wanted)), re.IGNORECASE) if wanted else None
