"""How near each selection comes to the bound that no selection could pass: value / bound, where the budget binds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import ctxtree
from ctxtree import Budget, BudgetError, CtxtreeError, Policy, TargetError

BUDGETS = (2_000, 4_000, 8_000, 16_000, 40_000)
EVERY = 10
"""Steps between two compiles of a log."""


def run(logs: Sequence[Path], budgets: Sequence[int] = BUDGETS) -> dict[str, Any]:
    """Over all compactions of the logs; a selection that had nothing to choose (value = bound) does not count."""
    ratios: list[float] = []
    for log in logs:
        for budget in budgets:
            ratios += _ratios(log, budget)
    whole = ratios or [1.0]
    return {"logs": len(logs), "selections": len(ratios), "mean": mean(whole), "least": min(whole)}


def _ratios(log: Path, budget: int) -> list[float]:
    found: list[float] = []
    with ctxtree.connect(":memory:") as store:
        try:
            conversations = store.import_file(log).conversations
        except CtxtreeError:
            return []
        for one in conversations[:5]:
            tree = store.tree(one.tree)
            for node in tree.path()[EVERY::EVERY]:
                try:
                    report = tree.compile(
                        at=node, budget=Budget(budget), policy=Policy.agent(), record=False
                    ).report
                except (BudgetError, TargetError):
                    continue
                value, bound = report.selection.value, report.selection.bound
                if bound > 0 and value < bound:
                    found.append(value / bound)
    return found
