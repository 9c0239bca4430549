"""Running text: both ends by sentences, and the sentences that tell of failures, rules and figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from ctxtree.passes.condensers.cut import (
    Shortener,
    Span,
    alternate,
    keep,
    sentence_around,
    sentences_from_ends,
)
from ctxtree.passes.condensers.telling import failures, rules

_FIGURE = re.compile(r"\d[\d.,:%]*")
_FIGURES = 40


def plain(text: str) -> Shortener:
    """A shortener for prose. Two thirds of the room go to the ends, the rest to what must not be missed."""
    failed, ruled = failures(text)[:_FIGURES], rules(text)[:_FIGURES]
    figures = [match.start() for match in islice(_FIGURE.finditer(text), _FIGURES)]

    def shorten(room: int) -> str:
        cap = max(16, room // 4)
        told = (sentence_around(text, at, cap) for at in chain(_mixed(ruled, failed), figures))
        return keep(text, _candidates(text, cap, told), room)

    return shorten


def _candidates(text: str, cap: int, told: Iterator[Span]) -> Iterator[Span]:
    outer = sentences_from_ends(text, cap)
    while True:
        pair = tuple(islice(outer, 2))
        yield from pair
        span = next(told, None)
        if span is not None:
            yield span
        elif not pair:
            return


def _mixed(first: list[int], second: list[int]) -> Iterator[int]:
    return (at for at, _ in alternate(((at, at) for at in first), ((at, at) for at in second)))
