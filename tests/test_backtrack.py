"""The utterances of `tests/data/backtrack`, tuning and held out apart."""

from __future__ import annotations

from benchmarks import backtrack


def test_the_set_is_large_and_fair_enough() -> None:
    found = list(backtrack.cases())
    assert len(found) >= 160
    assert len({case.tree for case in found}) >= 12
    assert sum(case.language == "zh" for case in found) >= len(found) // 2
    assert sum(case.held_out for case in found) == len(found) // 3


def test_most_requests_of_the_tuning_set_lead_where_they_mean() -> None:
    rows = [row for row in backtrack.run() if row["set"] == "tuning"]
    assert {row["language"] for row in rows} == {"en", "zh"}
    for row in rows:
        assert row["top-1"] >= 0.7
        assert row["wrong move"] <= 0.08
        assert row["false trigger"] <= 0.01
