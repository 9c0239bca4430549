"""Score: how much each exchange and message of the history is worth keeping, and why.

The score is the weighted mean of six parts, each from 0 to 1:

    recency     halves every 8 turns; 4 steps inside one long turn age like a turn
    kind        tool result 1, the user's instruction .8, other user words .4, other answers .3
    reference   paths, identifiers, numbers, names and quotes first said here that later items use
    asked       the user asked for it to be remembered
    importance  the user's own mark, put there by whoever gathered the items
    relevance   to what is asked now: given, or BM25 over the items of the plan
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctxtree.bm25 import Index, relevance, smooth
from ctxtree.cues import REACH, asked, lasting
from ctxtree.model import Message, texts
from ctxtree.plan import Item, Plan
from ctxtree.policy import Weights
from ctxtree.words import Words

HALF_LIFE = 8.0
"""Turns after which recency is halved."""
STEPS_PER_TURN = 4
SHORT = 6
"""A request to remember with no more terms than this points at what was said before it."""

RESULT, INSTRUCTION, USER, ANSWER = 1.0, 0.8, 0.4, 0.3

_NAME = re.compile(r"[\w./\\:@-]+")
_QUOTED = re.compile(r"[\"`“「『《](?=\S)([^\"`“”「」『』《》\n]{3,60})[\"`”」』》]")
_CAPITALISED = re.compile(r"[A-Z][a-z]{2,}\b")


@dataclass(frozen=True, slots=True)
class Score:
    """Give exchanges and messages their score and its parts.

    Other items, and parts of other names, stay as they are.

    `relevance` maps item indexes to shares from 0 to 1; without it `plan.query` is searched for.
    `read` remembers the telling terms of each item by its nodes.
    The cost is linear in the text read (at most 4,000 characters of a message), once an item.
    """

    weights: Weights = field(default_factory=Weights)
    relevance: Mapping[int, float] | None = None
    read: dict[tuple[str, ...], tuple[str, ...]] | None = field(default=None, repr=False, compare=False)

    def __call__(self, plan: Plan) -> Plan:
        places = [place for place, item in enumerate(plan.items) if _scored(item)]
        items = [plan.items[place] for place in places]
        ages = _ages(items)
        fame = _references([self._terms(item) for item in items])
        asks = _asks(items)
        found = self._relevance(plan.query, places, items)
        first = next((at for at, item in enumerate(items) if _user(item) and item.turn <= 0), -1)
        changed = list(plan.items)
        for at, (place, item) in enumerate(zip(places, items, strict=True)):
            parts = {
                "recency": 0.5 ** (ages[at] / HALF_LIFE),
                "kind": _kind(item, at == first),
                "reference": fame[at],
                "asked": asks[at],
                "importance": _share(item.parts.get("importance", 0.0)),
                "relevance": _share(found.get(at, 0.0)),
            }
            changed[place] = replace(item, score=weighted(parts, self.weights), parts={**item.parts, **parts})
        return plan.with_items(changed)

    def _terms(self, item: Item) -> tuple[str, ...]:
        known = self.read.get(item.nodes) if self.read is not None else None
        if known is None:
            known = tuple(dict.fromkeys(telling(_whole(item))))
            if self.read is not None:
                self.read[item.nodes] = known
        return known

    def _relevance(self, query: str, places: Sequence[int], items: Sequence[Item]) -> dict[int, float]:
        if self.relevance is not None:
            return {at: self.relevance.get(place, 0.0) for at, place in enumerate(places)}
        if not query or not self.weights.relevance:
            return {}
        words = Words()
        index = Index(words.terms(_whole(item)) for item in items)
        asked = words.terms(query, reach=REACH)
        return relevance(smooth(index.scores(asked), len(index)), index.ideal(asked))


def weighted(parts: Mapping[str, float], weights: Weights) -> float:
    """The weighted mean of the parts, 0 to 1; 0 if all weights are 0."""
    shares: dict[str, float] = dict(weights)
    total = sum(shares.values())
    return sum(share * parts.get(name, 0.0) for name, share in shares.items()) / total if total else 0.0


def _scored(item: Item) -> bool:
    return item.kind in ("exchange", "message") and bool(item.forms)


def _user(item: Item) -> bool:
    return any(message.role == "user" for message in item.forms[0].messages)


def _words(item: Item) -> str:
    return "\n".join(message.text for message in item.forms[0].messages if message.role == "user")


def _ends(text: str) -> str:
    return text if len(text) <= 2 * REACH else f"{text[:REACH]}\n{text[-REACH:]}"


def _whole(item: Item) -> str:
    return "\n".join(map(_read, item.forms[0].messages))


def _read(message: Message) -> str:
    """What a message says and what its calls ask for, both ends of it."""
    said = list(texts(message))
    for call in message.calls:
        given = call.arguments
        said.append(
            f"{call.name} {given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)}"
        )
    return _ends(said[0] if len(said) == 1 else "\n".join(_ends(text) for text in said))


def _ages(items: Sequence[Item]) -> list[float]:
    """Turns since each item; a turn of -1 counts as the one before the first."""
    newest = max((item.turn for item in items), default=0)
    last = len(items) - 1
    return [max(newest - item.turn, (last - at) / STEPS_PER_TURN) for at, item in enumerate(items)]


def _kind(item: Item, first: bool) -> float:
    if any(message.results for message in item.forms[0].messages):
        return RESULT
    if not _user(item):
        return ANSWER
    return INSTRUCTION if first or lasting(_words(item)) else USER


def _asks(items: Sequence[Item]) -> list[float]:
    """1 where the user asked; a bare "remember this" also lends .6 to the item before it."""
    asks = [1.0 if _user(item) and asked(_words(item)) else 0.0 for item in items]
    words = Words()
    for at in range(1, len(items)):
        if asks[at] == 1.0 and not asks[at - 1] and len(words.terms(_words(items[at]), reach=200)) <= SHORT:
            asks[at - 1] = 0.6
    return asks


def _references(reads: Sequence[Sequence[str]]) -> list[float]:
    """How much of what each item says first is used later: x / (x + 2), repeats counting ever less."""
    owner: dict[str, int] = {}
    uses: dict[str, int] = {}
    weight = [0.0] * len(reads)
    for at, read in enumerate(reads):
        for term in read:
            if term not in owner:
                owner[term] = at
                uses[term] = 0
            else:
                uses[term] += 1
                weight[owner[term]] += 1 / uses[term]
    return [held / (held + 2) for held in weight]


def telling(text: str) -> Iterator[str]:
    """Paths, identifiers, numbers of two digits and more, capitalised names inside a sentence, quotes."""
    for token in _NAME.findall(text):
        if len(token) > 1 and not (token.isalpha() and (token.islower() or token.istitle())):
            bare = token.strip("./\\:-")
            if len(bare) > 1 and not (bare.isalpha() and not _mixed(bare)):
                yield bare.lower()
    for match in _CAPITALISED.finditer(text):
        before = text[max(match.start() - 2, 0) : match.start()]
        if len(before) == 2 and before[1] == " " and (before[0].islower() or before[0] in ",;"):
            yield match.group().lower()
    for quoted in _QUOTED.findall(text):
        yield quoted.lower()


def _mixed(word: str) -> bool:
    """True for camelCase and for capitals: words that someone coined."""
    return word.isascii() and len(word) > 2 and not word.islower() and not word.istitle()


def _share(figure: float) -> float:
    return min(max(float(figure), 0.0), 1.0) if math.isfinite(figure) else 0.0
