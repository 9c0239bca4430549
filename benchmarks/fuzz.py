"""Generated trees, budgets and targets: every promise of the report and of the providers' rules, held or not."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ctxtree import BudgetError
from tests.test_fuzz import one


def run(cases: int = 2_000, first: int = 1_000_000) -> dict[str, Any]:
    """Outcomes of the cases; a fault is an invalid request, one over budget, or a report that does not add up."""
    outcomes: Counter[str] = Counter()
    for seed in range(first, first + cases):
        try:
            outcomes[one(seed)[0]] += 1
        except (AssertionError, BudgetError):
            outcomes["fault"] += 1
    return {"cases": cases, **dict(sorted(outcomes.items())), "faults": outcomes["fault"]}
