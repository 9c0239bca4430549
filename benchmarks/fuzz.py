"""Generated trees, budgets and targets: every promise of the report and of the providers' rules, held or not."""

from __future__ import annotations

from typing import Any

from tests.test_fuzz import outcomes_of


def run(cases: int = 2_000, first: int = 1_000_000) -> dict[str, Any]:
    """Outcomes of the cases; a fault is an invalid request, one over budget, or a report that does not add up."""
    outcomes, _ = outcomes_of(first, cases)
    return {"cases": cases, **dict(sorted(outcomes.items())), "faults": outcomes["fault"]}
