"""What is wrong with a log, told to its owner: what and where, what it does to a model, what was done about it.

    print(examine("session.jsonl").text)

The log is read as an import reads it, into a store in memory; not a byte of it changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from ctxtree.api import Store, connect
from ctxtree.errors import BudgetError, TargetError
from ctxtree.importers import CODES
from ctxtree.importers.base import HARMLESS, Issue
from ctxtree.importers.effects import EFFECTS
from ctxtree.importing import Progress
from ctxtree.policy import Budget, Policy
from ctxtree.render.phrases import REPAIRS
from ctxtree.results import Imported, ImportReport

FEW = 20
"""So many conversations of a file are tried as requests, the others are only read."""
SHOWN = 5
"""So many places of one defect are told one by one."""
WIDE = Budget(window=1_000_000_000)
"""A window that nothing fills: what changes in a request then has another cause than its size."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a defect is (line 0: the conversation as a whole), what was found there, and what was done."""

    line: int
    byte: int
    what: str
    done: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of defect in one conversation, and all its places. `harmless`: only worth knowing."""

    code: str
    meaning: str
    effect: str
    harmless: bool
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Examined:
    """One conversation: its figures, its defects, and what a request made of it has to mend (code, meaning)."""

    tree: str
    title: str | None
    messages: int
    branches: int
    skipped: int
    findings: tuple[Finding, ...]
    request: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All conversations of a file, and the report of the import that told of them."""

    path: str
    format: str
    conversations: tuple[Examined, ...]
    report: ImportReport

    @property
    def skipped(self) -> int:
        return sum(one.skipped for one in self.conversations)

    @property
    def text(self) -> str:
        """For a person, without markup."""
        return "\n".join(_told(self))


def examine(path: str | Path | BinaryIO, format: str = "auto", progress: Progress | None = None) -> Diagnosis:
    """Read a log and say what is wrong with it. Raises `FormatError` for a file that is none."""
    with connect(":memory:") as store:
        report = store.import_file(path, format, progress=progress)
        few = len(report.conversations) <= FEW
        found = tuple(_examined(store, one, few) for one in report.conversations)
    return Diagnosis(report.path, report.format, found, report)


def _examined(store: Store, one: Imported, tried: bool) -> Examined:
    request = tuple(_mended(store, one.tree)) if tried and one.messages else ()
    return Examined(
        one.tree, one.title, one.messages, one.branches, one.skipped, tuple(_findings(one.found)), request
    )


def _findings(issues: Sequence[Issue]) -> Iterator[Finding]:
    """Issues by code, the worst first: what cost something, then by number."""
    ranked = sorted(
        issues, key=lambda issue: (issue.code in HARMLESS, list(CODES).index(issue.code), issue.line)
    )
    for code, group in groupby(ranked, key=lambda issue: issue.code):
        places = tuple(Place(one.line, one.offset, one.message, one.action) for one in group)
        yield Finding(code, CODES[code], EFFECTS[code], code in HARMLESS, places)


def _mended(store: Store, name: str) -> Iterator[tuple[str, str]]:
    """What a request of the active branch needs that the log does not have, by code."""
    try:
        made = store.tree(name).compile(budget=WIDE, policy=Policy.trim(), record=False)
    except (TargetError, BudgetError) as problem:
        yield getattr(problem, "code", "budget"), str(problem)
        return
    counted: dict[str, int] = {}
    for signal in made.report.repairs:
        counted[signal.code] = counted.get(signal.code, 0) + max(1, len(signal.nodes))
    for code, count in counted.items():
        yield code, f"{REPAIRS.get(code, code)} ({count} places)" if count > 1 else REPAIRS.get(code, code)


def _told(diagnosis: Diagnosis) -> Iterator[str]:
    count = len(diagnosis.conversations)
    yield f"{diagnosis.path}: {diagnosis.format}, {_count(count, 'conversation')}"
    sound = 0
    for one in diagnosis.conversations:
        defects = sum(len(finding.places) for finding in one.findings if not finding.harmless)
        if not one.findings and not one.request and count > 1:
            sound += 1
            continue
        yield ""
        figures = (
            _count(one.messages, "message"),
            _count(one.branches, "branch", "es"),
            _count(defects, "defect"),
        )
        yield f"{one.tree}: {', '.join(figures)}, {_count(one.skipped, 'record')} left out"
        for finding in one.findings:
            yield from _finding(finding)
        if one.request:
            yield "  in a request of its active branch"
            yield from (f"    {code}: {meaning}" for code, meaning in one.request)
        if not one.findings and not one.request:
            yield "  nothing is wrong with it"
    if sound:
        yield ""
        yield f"{sound} conversation{'s have' if sound > 1 else ' has'} nothing wrong."
    yield ""
    yield "Not a byte of the file was changed. `import` reads it in the same way, `import --strict` refuses it."


def _count(number: int, what: str, plural: str = "s") -> str:
    return f"{number} {what}{'' if number == 1 else plural}"


def _finding(finding: Finding) -> Iterator[str]:
    """The defect in words, its places, and what comes of it."""
    yield f"  {finding.code}: {finding.meaning}"
    for place in finding.places[:SHOWN]:
        where = f"line {place.line} (byte {place.byte})" if place.line else "as a whole"
        yield f"    {where}: {place.what}"
        yield f"      done: {place.done}"
    more = finding.places[SHOWN:]
    if more:
        lines = ", ".join(str(place.line) for place in more[:50])
        yield f"    and in {len(more)} more: lines {lines}{', …' if len(more) > 50 else ''}"
    yield f"    to a model: {finding.effect}"
