"""Which facts are one."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from ctxtree.alike import Reading, Verdict, compare, read

ROWS = [
    line.split("\t")
    for line in (Path(__file__).parent / "data/facts/pairs.tsv").read_text(encoding="utf-8").splitlines()
]


def score(part: str) -> tuple[int, int, list[tuple[str, ...]]]:
    """Right ones, all, and what was wrongly taken for one."""
    right, wrong = 0, []
    rows = [row for row in ROWS if row[0] == part]
    for _, verdict, earlier, later in rows:
        found = compare(read(earlier), read(later))
        right += found == verdict
        if verdict == "other" and found != "other":
            wrong.append((earlier, later))
    return right, len(rows), wrong


def test_most_pairs_are_judged_right_and_none_is_wrongly_taken_for_one() -> None:
    assert {part: score(part) for part in ("tune", "held")} == {"tune": (65, 66, []), "held": (36, 40, [])}


def test_both_languages_have_their_half() -> None:
    han = sum(not row[2].isascii() for row in ROWS)
    assert 0.4 < han / len(ROWS) < 0.6


@pytest.mark.parametrize(
    ("earlier", "later", "verdict"),
    [
        ("Prefers dark theme", "prefers  DARK theme!!", "same"),
        ("prefers dark theme", "preferes dark themes", "same"),
        ("ｐｏｒｔ is ５４３２", "port is 5432", "same"),
        ("The port is 5432", "The port is not 5432", "newer"),
        ("not 不 🔥", "🔥", "other"),
        ("", "", "same"),
        ("🔥", "💧", "other"),
        ("部署已完成", "部署尚未完成", "newer"),
    ],
)
def test_odd_texts(earlier: str, later: str, verdict: Verdict) -> None:
    assert compare(read(earlier), read(later)) == verdict


def test_facts_about_different_things_are_never_one() -> None:
    """Every fact of the file against every one of another row: only those that share subject and kind are one."""
    readings: list[tuple[int, str, Reading]] = [
        (row, text, read(text)) for row, held in enumerate(ROWS) for text in held[2:]
    ]
    found = {
        frozenset((one, other))
        for (row, one, first), (elsewhere, other, second) in combinations(readings, 2)
        if row != elsewhere and compare(first, second) != "other"
    }
    about = ("theme", "mode", "prod", "tabs", "deadline", "主题", "生产环境", "migrations", "colour", "color")
    assert len(found) > 20
    assert all(
        any(all(word in text.lower() for text in pair) for word in about) or _mixed(pair) for pair in found
    )


def _mixed(pair: frozenset[str]) -> bool:
    """Two names of one thing."""
    text = " ".join(pair).lower()
    return any(
        one in text and other in text
        for one, other in (("theme", "mode"), ("tabs", "spaces"), ("colour", "color"))
    )
