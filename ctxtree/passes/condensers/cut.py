"""Keep some spans of a text, in order, and say how much stands between them.

Every condenser proposes spans, the most telling first; `keep` takes what fits. Spans are
offsets into the text, so that what is kept is the text's own wording.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from ctxtree.passes.condensers.graphemes import border_after, border_before

Span = tuple[int, int]
Shortener = Callable[[int], str]
"""Room in characters in, shortened text out. The text is read once, when the shortener is made."""

MARK = "…"
GAP = 16
"""Characters that one gap marker is expected to cost."""

_MISSES = 24
_TRIFLE = 3  # a blank line or a lone bracket is not worth a marker
_BRIDGED = 20  # a hole that is no longer than its marker would be
_BRIEF = 80
_TINY = 40
_SENTENCE = re.compile(r"[.!?](?=\s)|[。！？；][\"”』」）)]*|\n")


def keep(text: str, candidates: Iterable[Span], room: int, unit: str = "lines", total: int = 0) -> str:
    """The candidates that fit into about `room` characters, in the order of the text.

    `unit` names what a line is ("lines", "rows"); with `total` a gap reads "… 290 of 300 rows …".
    May pass `room` by the length of a few markers; the caller measures. Cost grows with `room`.
    """
    spans = [] if room < _TINY else _merged(_chosen(candidates, room, len(text)))
    if not spans:
        return ends(text, room)
    spans = _topped_up(text, spans, room)
    pieces: list[str] = []
    at = 0
    for start, stop in [*spans, (len(text), len(text))]:
        if start > at:
            pieces.append(_gap(text, at, start, unit if room >= _BRIEF else "", total))
        pieces.append(text[start:stop])
        at = stop
    return "".join(pieces).rstrip("\n")


def ends(text: str, room: int, head: float = 0.5) -> str:
    """The first and the last of `text` around a mark, at most `room` characters (at least the mark)."""
    if len(text) <= room:
        return text
    inside = max(0, room - len(MARK))
    first = border_before(text, int(inside * head + 0.5))
    last = border_after(text, len(text) - (inside - first))
    if first:
        first = _word_before(text, first)
    return f"{text[:first]}{MARK}{text[_word_after(text, last) :]}"


def clip(text: str, room: int) -> str:
    """The beginning of `text`, at most `room` characters with the mark."""
    if len(text) <= room:
        return text
    return text[: _word_before(text, border_before(text, max(0, room - len(MARK))))].rstrip() + MARK


def first_sentences(text: str, room: int) -> str:
    """The first sentences that fit into `room` characters; empty if they fill less than a third of it."""
    last = max((match.end() for match in _SENTENCE.finditer(text, 0, room)), default=0)
    return text[:last].rstrip() if last > room // 3 else ""


def from_ends(text: str, cap: int) -> Iterator[Span]:
    """Lines from both ends towards the middle, the last one first; longer lines in pieces of `cap`."""
    head, tail = 0, len(text)
    while head < tail:
        start = max(text.rfind("\n", head, tail - 1) + 1, head)
        if tail - start > cap:
            start = min(border_after(text, tail - cap), tail)
            start = start if start < tail else head
        yield start, tail
        tail = start
        if head >= tail:
            return
        stop = text.find("\n", head, tail) + 1 or tail
        if stop - head > cap:
            stop = border_before(text, head + cap)
            stop = stop if stop > head else tail
        yield head, stop
        head = stop


def sentences_from_ends(text: str, cap: int) -> Iterator[Span]:
    """Sentences from both ends towards the middle, the last one first; longer ones in pieces of `cap`."""
    head, tail = 0, len(text)
    while head < tail:
        start = _sentence_start(text, head, tail, cap)
        yield start, tail
        tail = start
        if head >= tail:
            return
        stop = _sentence_stop(text, head, tail, cap)
        yield head, stop
        head = stop


def line_around(text: str, at: int, cap: int) -> Span:
    """The line that holds offset `at`, with its line break; of one longer than `cap` a window around `at`."""
    start = text.rfind("\n", 0, at) + 1
    stop = text.find("\n", at) + 1 or len(text)
    return (start, stop) if stop - start <= cap else _window(text, at, start, stop, cap)


def sentence_around(text: str, at: int, cap: int) -> Span:
    """The sentence that holds offset `at`; of one longer than `cap` a window around `at`."""
    low, high = max(0, at - cap), min(len(text), at + cap)
    start = max((match.end() for match in _SENTENCE.finditer(text, low, at)), default=low)
    match = _SENTENCE.search(text, at, high)
    stop = match.end() if match else high
    return (start, stop) if stop - start <= cap else _window(text, at, start, stop, cap)


def alternate(first: Iterable[Span], second: Iterable[Span]) -> Iterator[Span]:
    """One of each in turn until both are used up."""
    turn, other = iter(first), iter(second)
    while True:
        span = next(turn, None)
        if span is None:
            yield from other
            return
        yield span
        turn, other = other, turn


def _window(text: str, at: int, start: int, stop: int, cap: int) -> Span:
    low = max(start, at - cap // 4)
    return border_after(text, low), border_before(text, min(stop, low + cap))


def _sentence_start(text: str, head: int, tail: int, cap: int) -> int:
    low = max(head, tail - cap)
    start = max((match.end() for match in _SENTENCE.finditer(text, low, tail - 1)), default=low)
    start = border_after(text, start)
    return start if start < tail else head


def _sentence_stop(text: str, head: int, tail: int, cap: int) -> int:
    match = _SENTENCE.search(text, head, min(head + cap, tail))
    stop = border_before(text, match.end() if match else min(head + cap, tail))
    return stop if stop > head else tail


def _chosen(candidates: Iterable[Span], room: int, size: int) -> list[Span]:
    """Greedy: a candidate costs its length, and a gap when it touches nothing that is kept."""
    chosen: list[Span] = []
    starts, stops = {size}, {0}  # the text's own ends need no marker
    misses = 0
    for start, stop in candidates:
        if stop <= start or start in starts or stop in stops:
            continue
        gaps = 1 - (start in stops) - (stop in starts)
        if gaps > 0 and stop - start <= _TRIFLE:
            continue
        cost = stop - start + GAP * gaps
        if cost <= room:
            chosen.append((start, stop))
            starts.add(start)
            stops.add(stop)
            room -= cost
            continue
        misses += 1
        if misses > _MISSES:
            break
    return chosen


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, stop in sorted(spans):
        if merged and start <= merged[-1][1] + _BRIDGED:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _topped_up(text: str, spans: list[Span], room: int) -> list[Span]:
    """A first or last span that is made longer when a good part of the room is still free (long lines)."""
    left = room - sum(stop - start for start, stop in spans) - GAP * len(spans)
    if left < room // 5:
        return spans
    start, stop = spans[0]
    if start == 0:
        limit = spans[1][0] if len(spans) > 1 else len(text)
        return [(0, border_before(text, min(stop + left, limit))), *spans[1:]]
    return [(border_after(text, max(0, start - left)), stop), *spans[1:]]


def _gap(text: str, start: int, stop: int, unit: str, total: int) -> str:
    """What stands for `text[start:stop]`: on a line of its own when whole lines are missing."""
    lines = text.count("\n", start, stop) + (stop == len(text) and text[stop - 1] != "\n" and start != stop)
    if not unit:
        return MARK
    if lines <= 1 and "\n" not in text[start:stop]:
        return MARK if stop - start < 1000 else f"{MARK}[{stop - start:,} characters]{MARK}"
    count = f"{lines:,} of {total:,}" if total else f"{lines:,}"
    before = "" if start == 0 or text[start - 1] == "\n" else MARK + "\n"
    after = "\n" if stop == len(text) or text[stop - 1] == "\n" else "\n" + MARK
    return f"{before}{MARK} {count} {unit if lines != 1 else unit[:-1]} {MARK}{after}"


def _word_before(text: str, at: int) -> int:
    """A blank a little before `at`, if there is one, so that no word is cut."""
    if at >= len(text) or text[at].isspace():
        return at
    blank = max(text.rfind(" ", max(0, at - 12), at), text.rfind("\n", max(0, at - 12), at))
    return blank if blank > at // 2 else at


def _word_after(text: str, at: int) -> int:
    if at <= 0 or at >= len(text) or text[at - 1].isspace():
        return at
    blank = text.find(" ", at, at + 12)
    return blank + 1 if 0 <= blank < at + (len(text) - at) // 2 else at
