"""The utterances of `tests/data/backtrack`: those used for tuning, and those held out."""

from __future__ import annotations

import pytest

from benchmarks import backtrack


def test_the_sets_are_large_and_fair_enough() -> None:
    sets = {name: list(backtrack.cases(name)) for name in backtrack.SETS}
    assert len(sets["tuning"]) >= 160
    assert len(sets["held out"]) >= 70
    for name in ("tuning", "held out"):
        found = sets[name]
        assert len({case.tree for case in found}) >= 12
        assert sum(case.language == "zh" for case in found) >= len(found) // 2
        assert sum(not case.expected for case in found) >= len(found) * 0.29


def test_no_tree_of_the_held_out_set_alone_was_tuned_on() -> None:
    known = {case.tree for name in ("tuning", "added") for case in backtrack.cases(name)}
    assert len({case.tree for case in backtrack.cases("held out")} - known) >= 4


@pytest.mark.parametrize("name", list(backtrack.SETS))
def test_requests_lead_where_they_mean_and_nothing_else_moves(name: str) -> None:
    rows = backtrack.run([name])
    assert {row["language"] for row in rows} == {"en", "zh"}
    for row in rows:
        assert row["top-1"] >= 0.92
        assert row["wrong move"] <= 0.01
        assert row["false trigger"] <= 0.01
