"""Rows of a Claude Code log put together into messages that follow each other as they were said.

An answer is written one row a content block, with the same message id, and each tool result hangs on
the row of its call. Read row by row that is a tangle of forks; here an answer is one unit, and the
results of its calls stand in one line below it, with all that follows below the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ctxtree.importers.claude_code_rows import Row
from ctxtree.importers.link import in_order


@dataclass(frozen=True, slots=True)
class Unit:
    """One message: the rows that it comes from, and which part of them (`results` before `words`)."""

    id: str
    rows: tuple[Row, ...]
    part: Literal["all", "results", "words"] = "all"

    @property
    def lane(self) -> str:
        return self.rows[0].lane

    @property
    def rank(self) -> tuple[float, str]:
        """Equal siblings are told apart by time, then by id."""
        return self.rows[0].at, self.id


@dataclass(frozen=True, slots=True)
class Turns:
    """Units by id in the order of the file, the parent of each, and for each row the unit that ends it."""

    units: dict[str, Unit]
    parents: dict[str, str | None]
    ends: dict[str, str]

    @property
    def ordered(self) -> list[str]:
        return in_order(list(self.units), self.parents, key=lambda name: self.units[name].rank)


@dataclass(slots=True)
class _Answer:
    """An assistant's message in the making: its rows, and the result rows of its calls."""

    rows: list[Row]
    above: str | None
    results: list[Row] = field(default_factory=list)
    answered: tuple[str, ...] = ()


def turns(rows: Sequence[Row], above: Mapping[str, str | None]) -> Turns:
    """The units of the message rows. `above` gives for each the message row that it hangs on."""
    by_id = {row.id: row for row in rows}
    answers = _answers(rows, above, by_id)
    for row in rows:
        if row.kind == "results":
            _chain(row, above, by_id, answers)
    return _units(rows, above, answers)


def _answers(
    rows: Sequence[Row], above: Mapping[str, str | None], by_id: Mapping[str, Row]
) -> dict[str, _Answer]:
    """The answer that each assistant row belongs to. Rows join by message id where they hang together."""
    found: dict[str, _Answer] = {}
    newest: dict[tuple[str, str], _Answer] = {}
    for name in in_order([row.id for row in rows], above, key=lambda name: by_id[name].offset):
        row = by_id[name]
        if row.kind != "assistant":
            continue
        key = (row.lane, row.message_id or "")
        before = _before_results(above[name], above, by_id)
        joined = found.get(before) if before else None
        if joined is None or not row.message_id or joined.rows[0].message_id != row.message_id:
            joined = newest.get(key) if row.message_id else None
            if joined is not None and joined.above != above[name]:
                joined = None
        if joined is None:
            joined = _Answer([], above[name])
            newest[key] = joined
        joined.rows.append(row)
        found[name] = joined
    for answer in newest.values():
        answer.rows.sort(key=lambda row: row.offset)
    return found


def _before_results(
    name: str | None, above: Mapping[str, str | None], by_id: Mapping[str, Row]
) -> str | None:
    while name is not None and by_id[name].kind == "results":
        name = above[name]
    return name


def _chain(
    row: Row, above: Mapping[str, str | None], by_id: Mapping[str, Row], answers: Mapping[str, _Answer]
) -> None:
    """Put a result row in line below its answer, unless it answers a call a second time: that is a fork."""
    before = _before_results(above[row.id], above, by_id)
    answer = answers.get(before) if before else None
    if answer is None or not set(answer.answered).isdisjoint(row.answers):
        return
    answer.answered += row.answers
    answer.results.append(row)


def _units(rows: Sequence[Row], above: Mapping[str, str | None], answers: Mapping[str, _Answer]) -> Turns:
    made = Turns({}, {}, {})
    chained: dict[str, _Answer] = {
        result.id: answer for answer in answers.values() for result in answer.results
    }
    tails: dict[str, str] = {}
    for row in rows:
        answer = answers.get(row.id)
        if answer is not None:
            if answer.rows[0] is row:
                _lay(answer, made, tails)
        elif row.id not in chained:
            _lay_row(row, made)
    for name, unit in list(made.units.items()):
        if made.parents[name] is None:
            made.parents[name] = _parent(above[unit.rows[0].id], answers, chained, tails, made)
    return made


def _lay(answer: _Answer, made: Turns, tails: dict[str, str]) -> None:
    """An answer, its results in line, then the words that came with the results."""
    first = answer.rows[0].id
    line = [Unit(first, tuple(answer.rows))]
    line += [Unit(row.id, (row,), "results" if row.words else "all") for row in answer.results]
    line += [Unit(f"{row.id}.2", (row,), "words") for row in answer.results if row.words]
    before: str | None = None
    for unit in line:
        made.units[unit.id] = unit
        made.parents[unit.id] = before
        before = unit.id
    tails[first] = line[-1].id
    made.ends.update((row.id, line[-1].id) for row in (*answer.rows, *answer.results))


def _lay_row(row: Row, made: Turns) -> None:
    mixed = row.kind == "results" and row.words
    made.units[row.id] = Unit(row.id, (row,), "results" if mixed else "all")
    made.parents[row.id] = None
    made.ends[row.id] = row.id
    if mixed:
        name = f"{row.id}.2"
        made.units[name] = Unit(name, (row,), "words")
        made.parents[name] = row.id
        made.ends[row.id] = name


def _parent(
    name: str | None,
    answers: Mapping[str, _Answer],
    chained: Mapping[str, _Answer],
    tails: Mapping[str, str],
    made: Turns,
) -> str | None:
    if name is None:
        return None
    answer = answers.get(name) or chained.get(name)
    return tails[answer.rows[0].id] if answer is not None else made.ends[name]
