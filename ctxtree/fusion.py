"""Two rankings as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

K = 20
"""How slowly a rank loses weight; 60 in the source, tuned on LoCoMo dialogues 26, 30 and 41."""
MEANING = 0.4
"""The weight of the ranking by meaning; tuned on the same dialogues."""


def fuse(words: Mapping[int, float], meaning: Mapping[int, float]) -> dict[int, float]:
    """Shares from 0 to 1 by unit, in the order of both rankings.

    The order is that of weighted reciprocal rank fusion (Cormack, Clarke and Büttcher, "Reciprocal Rank
    Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009). A rank tells nothing
    of how well something fits, so the place `i` of the new order, from 1, gets the i-th best share by
    words, and at least 1 / (1 + i): a few units come near in meaning alone. Ties: the later unit first.
    """
    fused: dict[int, float] = {}
    for weight, scores in ((1 - MEANING, words), (MEANING, meaning)):
        for rank, unit in enumerate(_ordered(scores), 1):
            fused[unit] = fused.get(unit, 0.0) + weight / (K + rank)
    shares = sorted(words.values(), reverse=True)
    shares += [0.0] * (len(fused) - len(shares))
    return {
        unit: max(share, 1 / (1 + place))
        for place, (unit, share) in enumerate(zip(_ordered(fused), shares, strict=False), 1)
    }


def _ordered(scores: Mapping[int, float]) -> Iterable[int]:
    return sorted((unit for unit, score in scores.items() if score > 0), key=lambda at: (-scores[at], -at))
