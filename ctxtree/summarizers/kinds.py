"""What a sentence is for: a constraint, a fact, a decision; by its words, in English and Chinese.

The tables hold words, not grammar: a sentence that binds is kept word for word, so a wrong guess
costs a line of room and never changes a meaning. Phrases that only look binding ("don't worry", "特别")
are taken out before the sentence is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ctxtree.cues import asked, lasting
from ctxtree.plan import LineKind
from ctxtree.summarizers import tables

Kind = LineKind | Literal["request", "question", "talk"]

ASKED = 3.0
"""The weight of what the user asked to be remembered."""


@dataclass(frozen=True, slots=True)
class Found:
    kind: Kind
    weight: float = 1.0


HEADED = {
    "rules": Found("constraint"),
    "preferences": Found("preference"),
    "facts": Found("fact", 1.2),
    "decisions": Found("decision"),
    "open": Found("open"),
}
"""What stands in a list under a heading of `tables.HEADS`."""


def plain(sentence: str) -> str:
    """Small letters and straight apostrophes, for matching only."""
    return sentence.casefold().replace("’", "'")


def words_of(low: str) -> frozenset[str]:
    return frozenset(tables.WORD.findall(low))


def classify(sentence: str) -> Found:
    """What a user's sentence is, and how much it weighs (1 is ordinary, `ASKED` is asked to be remembered).

    `request` and `question` are told with their outcome; `talk` is all that has no mark of its own.
    """
    low = plain(sentence)
    words = words_of(low)
    question = tables.ASKS.search(low) is not None
    weight = binds(low, words)
    if not question and _remembered(low, words):
        return Found("constraint" if weight == 1.0 else "fact", ASKED)
    if question and not (weight == 1.0 and tables.POLITE.found(low, words)):
        return Found("open") if tables.OPEN.found(low, words) else Found("question")
    if weight:
        return Found("constraint", weight)
    if tables.CODE.search(sentence):
        return Found("talk", 0.2)
    return _stated(sentence, low, words)


def binds(low: str, words: frozenset[str]) -> float:
    """1.0 for a plain constraint or its relaxation, 0.6 for a soft one, 0.0 for none; of `plain` text."""
    if low.isascii() and words.isdisjoint(tables.BINDS_WORDS):
        return 0.0
    bare = tables.DESCRIBED.sub(" ", low)
    if tables.STRONG.found(bare, words) or relaxes(low, words):
        return 1.0
    return 0.6 if tables.WEAK.found(bare, words) else 0.0


def relaxes(low: str, words: frozenset[str]) -> bool:
    """True for a permission that names what it permits."""
    return tables.RELAXES.found(low, words) and (len(words) > 4 or len(tables.HAN.findall(low)) > 5)


def modal(sentence: str) -> bool:
    """True if a sentence would tell its reader to do or to leave something."""
    return tables.MODAL.found(plain(sentence), frozenset())


def decides(low: str, words: frozenset[str]) -> bool:
    """True for a decision told by an assistant; "I'll use grep" is a step and no decision."""
    return tables.STEP.match(low) is None and tables.DECIDES.found(low, words)


def leaves_open(low: str, words: frozenset[str]) -> bool:
    return tables.OPEN.found(low, words)


def heading(sentence: str) -> Found | None:
    """What the list under a line that ends in a colon holds, if the line says so."""
    if not sentence.endswith((":", "：")) or len(sentence) > 120:
        return None
    low = plain(sentence)
    words = words_of(low)
    if tables.REMEMBER.found(low, words):
        return Found("fact", ASKED)
    return next((found for name, found in HEADED.items() if tables.HEADS[name].found(low, words)), None)


def reminder(sentence: str) -> Literal["", "before", "after"]:
    """Where what a bare "remember this" means stands: in the sentence before it, or after it."""
    if len(sentence) > 60 or tables.ALONE.match(plain(sentence)) is None:
        return ""
    ahead = any(word in sentence for word in ("following", "以下", "下面"))
    return "after" if ahead or sentence.endswith((":", "：")) else "before"


def _remembered(low: str, words: frozenset[str]) -> bool:
    if tables.RECALLS.found(low, words):
        return False
    return tables.REMEMBER.found(low, words) or asked(low)


def _stated(sentence: str, low: str, words: frozenset[str]) -> Found:
    """The kind of a sentence that neither binds nor asks."""
    if tables.OBJECTS.found(low, words):
        return Found("feedback")
    if tables.OPEN.found(low, words):
        return Found("open")
    if tables.PREFERS.found(low, words):
        return Found("preference")
    if tables.MOVED.found(low, words) or tables.TOLD.search(low):
        return Found("fact", 1.2)
    lead = tables.LEAD.sub("", low)
    first = tables.WORD.match(lead)
    if first and first[0] in tables.IMPERATIVES:
        return Found("request")
    if tables.DECIDES.found(low, words):
        return Found("decision")
    if tables.WANTS.found(lead, words):
        return Found("request")
    if tables.NAMED.found(low, words):
        return Found("fact", 1.2)
    if tables.CODED.search(sentence) or lasting(low):
        return Found("fact", 1.0)
    marked = tables.MARKED.search(sentence) or tables.NAMES.search(sentence)
    return Found("fact", 0.6) if marked else Found("talk", 0.2)
