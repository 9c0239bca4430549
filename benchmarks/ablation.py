"""What each part of the score does: evidence recall on the tuning dialogues with the part taken out.

The score ranks what stays when a compaction has to choose, so it is measured where nothing is called back:
policy `stable` without recall, a compile with the question as input.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.recall import TUNING
from benchmarks.recall import run as recall
from ctxtree import Policy, Weights

PARTS = tuple(Weights.model_fields)


def run(data: Path, budget: int = 4_000, names: Sequence[str] = TUNING[:1]) -> dict[str, Any]:
    """Recall with all parts, and without each."""
    found = {"all": _recall(data, names, budget, Weights())}
    for part in PARTS:
        found[f"without {part}"] = _recall(data, names, budget, Weights(**{part: 0.0}))
    return {"dialogues": list(names), "budget": budget, "recall": found}


def _recall(data: Path, names: Sequence[str], budget: int, weights: Weights) -> float:
    policy = Policy.stable(recall=False, weights=weights)
    shares: dict[int, float] = recall(data, names, (budget,), policy)["recall"]
    return shares[budget]
