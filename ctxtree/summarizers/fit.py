"""The lines that a summary has room for."""

from __future__ import annotations

import re
from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxtree.plan import Counter, Line, LineKind
from ctxtree.summarizers.frame import SECTIONS, brief, headed
from ctxtree.summarizers.kinds import ASKED, classify, reminder
from ctxtree.summarizers.sentences import clauses, shorten

KIND_WEIGHT: dict[LineKind, float] = {
    "constraint": 10.0,
    "goal": 9.0,
    "fact": 8.0,
    "decision": 6.5,
    "preference": 6.5,
    "failed": 5.5,
    "feedback": 5.5,
    "open": 5.0,
    "file": 4.0,
    "result": 4.0,
    "done": 3.0,
}
"""What a line is worth by its kind; its own weight multiplies it."""

BRIEF_BELOW = 90
"""Rooms of fewer tokens get the short frame."""

_NAMES: dict[LineKind, str] = {
    "done": "finished request",
    "result": "result",
    "failed": "failure",
    "file": "file",
}
_LEFT = re.compile(r"^left out here: (.+)$")
_COUNT = re.compile(r"(\d+) earlier ([a-z ]+)")
_MISSES = 12
NOTE_ROOM = 30
"""Tokens kept for the line that counts what was left out, in rooms of twice as many and more."""

_HEADINGS = {kind: title for title, kinds in SECTIONS for kind in kinds}


@dataclass(frozen=True, slots=True)
class Fitted:
    """`lines` as they stand in `text`; `lost` are those given that do not stand there whole."""

    lines: tuple[Line, ...]
    text: str
    tokens: int
    lost: tuple[Line, ...]


def fit(lines: Sequence[Line], limit: int, key: str, count: int, counter: Counter) -> Fitted:
    """As much as fits into `limit` tokens, fence included: by worth, then by recency.

    Constraints and remembered facts go in whole, or as their binding clause where there is no room; other long
    lines are cut at a clause. What is left out is counted in one line. Nothing if not even a fence and one line fit.
    """
    lines, left = _counted(lines)
    short = limit < BRIEF_BELOW
    chosen, lost = _choose(lines, limit, key, count, counter, short)
    if (lost or left) and limit >= 2 * NOTE_ROOM:
        chosen, lost = _choose(lines, limit - NOTE_ROOM, key, count, counter, short)
    while chosen:
        shown = [chosen[place] for place in sorted(chosen)]
        note = _left_out([lines[place] for place in lost if place not in chosen], left)
        for final in ([*note, *shown], shown) if note else (shown,):
            text = brief(final, key) if short else headed(final, key, count)
            tokens = counter(text)
            if tokens <= limit:
                return Fitted(tuple(final), text, tokens, tuple(lines[place] for place in sorted(lost)))
        worst = min(chosen, key=lambda place: (worth(chosen[place]), place))
        del chosen[worst]
        lost.add(worst)
    return Fitted((), "", 0, tuple(lines))


def worth(line: Line) -> float:
    return KIND_WEIGHT[line.kind] * line.weight


def matters(line: Line) -> bool:
    """True for what is worth more than a small summary: constraints, plain facts, decisions, preferences, failures."""
    return line.kind != "goal" and worth(line) >= KIND_WEIGHT["failed"]


def protected(line: Line) -> bool:
    """True for what keeps its wording: constraints, and what the user asked to be remembered."""
    return line.kind == "constraint" or line.weight >= ASKED


def lesson(line: Line) -> bool:
    """True for what a path is told of attempts that left it: a model's summary may not lose it either."""
    return line.kind == "failed" and line.text.startswith(
        ("[dead end", "[still in effect", "[an earlier attempt")
    )


def _choose(
    lines: Sequence[Line], limit: int, key: str, count: int, counter: Counter, short: bool
) -> tuple[dict[int, Line], set[int]]:
    """The lines to show, by their place, and the places of those that are cut or left out."""
    room = limit - counter(brief((), key) if short else headed((), key, count))
    chosen: dict[int, Line] = {}
    titles: set[str] = set()
    lost = set(range(len(lines)))
    misses = 0
    for place in sorted(lost, key=lambda place: (-worth(lines[place]), -place)):
        line = lines[place]
        heading = 0 if short or _HEADINGS[line.kind] in titles else counter(f"{_HEADINGS[line.kind]}:\n")
        shown = _within(line, room - heading, counter)
        if shown is None:
            misses += 1
            if misses > _MISSES:
                break
            continue
        room -= heading + _cost(shown, counter)
        titles.add(_HEADINGS[line.kind])
        chosen[place] = shown
        if shown is line:
            lost.discard(place)
    return chosen, lost


def _cost(line: Line, counter: Counter) -> int:
    return counter(f"- {line.text}\n")


def _within(line: Line, room: int, counter: Counter) -> Line | None:
    """The line, or what of it fits; None if that says too little."""
    if room < 3:
        return None
    cost = _cost(line, counter)
    if cost <= room:
        return line
    if protected(line):
        core = _core(line.text)
        shorter = replace(line, text=core)
        return shorter if core and _cost(shorter, counter) <= room else None
    text = shorten(line.text, int(len(line.text) * (room - 3) / cost))
    if len(text) < 24 or (line.text.startswith('"') and "→" not in text):
        return None
    shorter = replace(line, text=text)
    return shorter if _cost(shorter, counter) <= room else None


def _core(text: str) -> str:
    """The weightiest clause of a sentence, word for word; "" if it has only one."""
    pieces = clauses(text)
    if len(pieces) < 2:
        return ""
    order = {"constraint": 2.0, "fact": 1.0}
    found = [(classify(piece), piece) for piece in pieces if not reminder(piece.rstrip(",;:，；：、 "))]
    if not found:
        return ""
    best = max(found, key=lambda pair: order.get(pair[0].kind, 0.0) + min(pair[0].weight, 1.0))[1]
    return best.rstrip(",;:，；：、—- ")


def _counted(lines: Sequence[Line]) -> tuple[list[Line], Tally[str]]:
    """The lines without the line of counts that an earlier summary left, and those counts."""
    left: Tally[str] = Tally()
    kept: list[Line] = []
    for line in lines:
        found = _LEFT.match(line.text) if line.kind == "done" else None
        if found is None:
            kept.append(line)
        else:
            left.update({name.removesuffix("s"): int(number) for number, name in _COUNT.findall(found[1])})
    return kept, left


def _left_out(dropped: Sequence[Line], before: Tally[str]) -> list[Line]:
    tally = Tally(before)
    tally.update(_NAMES.get(line.kind, "statement") for line in dropped)
    names = [name for name in (*_NAMES.values(), "statement") if tally[name]]
    if not names:
        return []
    told = ", ".join(f"{tally[name]} earlier {name}{'s' if tally[name] > 1 else ''}" for name in names)
    return [Line("done", f"left out here: {told}", (), 0.1)]
