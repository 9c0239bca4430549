"""The reference pages name everything that there is, and nothing else."""

import re
from pathlib import Path

from ctxtree.exporting import FORMATS as EXPORTS
from ctxtree.importers import ALIASES, CODES, FORMATS
from ctxtree.importers.effects import EFFECTS
from ctxtree.passes import squeeze
from ctxtree.render.phrases import LOSSES, REPAIRS

ROOT = Path(__file__).parent.parent
TABLE = re.compile(r"^\| `([^`]+)` \| ([^|]+) \|", re.M)
CODE = re.compile(r"Signal\(\s*code=\"(\w+)\"|_shortened\(plan, \w+, \"(\w+)\"\)|TargetError\(\s*\"(\w+)\"")


def listed(page: str) -> list[tuple[str, str]]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return list(TABLE.findall(text))


def in_source() -> set[str]:
    files = (ROOT / "ctxtree").rglob("*.py")
    found = [group for path in files for group in CODE.findall(path.read_text(encoding="utf-8"))]
    return {name for group in found for name in group if name}


def test_every_signal_is_listed_with_its_meaning() -> None:
    signals = listed("signals.md")
    left_out = {f"{kind}_left_out" for kind in (*squeeze.SPARE, "exchange", "summary")}
    assert {"no_progress", "results_condensed", "no_user_turn"} <= in_source()
    assert {code for code, _ in signals} == in_source() | left_out | {*REPAIRS, *LOSSES, *CODES}
    for table in (REPAIRS, LOSSES, CODES):
        assert set(table.items()) <= set(signals)


def test_every_format_is_listed_with_its_other_names() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    reading, _, writing = page.partition("## Export")
    formats = dict(TABLE.findall(reading))
    assert list(formats) == list(FORMATS)
    assert {name for names in formats.values() for name in re.findall("`([^`]+)`", names)} == set(ALIASES)
    rows = "\n".join(line for line in writing.splitlines() if line.startswith("| `"))
    assert {
        name for line in rows.splitlines() for name in re.findall("`([^`]+)`", line.split("|")[1])
    } == set(EXPORTS)


def test_every_defect_says_what_it_does_to_a_model() -> None:
    assert list(EFFECTS) == list(CODES)
