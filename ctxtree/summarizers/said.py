"""What one message of a user says: what holds from now on, and what it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxtree.plan import Entry, Line, LineKind
from ctxtree.summarizers.entries import OWN_CHARACTERS
from ctxtree.summarizers.kinds import ASKED, Found, Kind, classify, heading, reminder
from ctxtree.summarizers.sentences import Sentence, both_ends, flat, sentences, shorten

ASK_CHARACTERS = 240
SHORT_ANSWER = 60


@dataclass(frozen=True, slots=True)
class Said:
    """The lines of a message, and the words that asked for something, if any did."""

    lines: tuple[Line, ...] = ()
    ask: str = ""
    question: bool = False
    objects: bool = False


def said(user: Entry, asked: str = "") -> Said:
    """What a message says; `asked` is the question that it answers, so that a bare "8080" keeps its meaning."""
    pieces = sentences(both_ends(user.text, OWN_CHARACTERS))
    kinds = _kinds(pieces)
    told = [(piece.text, found) for piece, found in zip(pieces, kinds, strict=True) if found is not None]
    asks = [text for text, found in told if found.kind in ("request", "question")]
    stated = [(text, found) for text, found in told if found.kind not in ("request", "question")]
    lines = [_line(text, found, user.node) for text, found in stated if found.kind != "talk" or _tells(text)]
    if not asks and all(found.kind == "talk" for _, found in told):
        asks = [text for text, _ in told]
        lines = [line for line in lines if line.text not in shorten(" ".join(asks), ASK_CHARACTERS)]
    if asked and told and len(user.text) <= SHORT_ANSWER and all(line.weight <= 1.0 for line in lines):
        answer = f'asked "{shorten(asked, 100)}" the user said "{flat(user.text)}"'
        lines = [Line("fact", answer, (user.node,), 1.0)]
    return Said(
        lines=tuple(lines),
        ask=shorten(" ".join(asks), ASK_CHARACTERS),
        question=any(found.kind == "question" for _, found in told),
        objects=any(found.kind == "feedback" for _, found in told),
    )


def _tells(text: str) -> bool:
    """False for greetings and thanks: three words, or six Chinese characters, tell nothing by themselves."""
    return len(text.split()) > 3 or (not text.isascii() and len(text) > 6)


def _line(text: str, found: Found, node: str) -> Line:
    kind = _line_kind(found.kind)
    return Line(kind, f'"{text}"' if kind == "open" else text, (node,), found.weight)


def _line_kind(kind: Kind) -> LineKind:
    return "fact" if kind == "talk" or kind == "request" or kind == "question" else kind


def _kinds(pieces: Sequence[Sentence]) -> list[Found | None]:
    """The kind of each sentence; None for bare reminders.

    What a heading ("Rules:") or a reminder ("remember this") says goes to the list or the sentence that it means.
    """
    kinds: list[Found | None] = []
    under: Found | None = None
    for place, piece in enumerate(pieces):
        where = reminder(piece.text)
        if where == "before" and kinds and kinds[-1] is not None:
            kinds[-1] = _heavier(kinds[-1], Found("fact", ASKED))
            kinds.append(None)
            continue
        head = Found("fact", ASKED) if where else heading(piece.text)
        if head is not None and place + 1 < len(pieces):
            under = head
            kinds.append(None)
            continue
        own = classify(piece.text)
        kinds.append(own if under is None else _heavier(own, under))
        if not (piece.listed and place + 1 < len(pieces) and pieces[place + 1].listed):
            under = None
    return kinds


def _heavier(own: Found, lent: Found) -> Found:
    """A sentence under a heading: its own kind if that says something, with the greater weight."""
    plain = own.kind in ("talk", "request", "question") or own.weight < 1.0
    return Found(lent.kind if plain else own.kind, max(own.weight, lent.weight))
