"""Claude Code session logs: one JSON object a line, linked by `parentUuid`.

Two passes. The first keeps of each row its ids and its place; the second reads rows again as drafts
are taken. Only rows with a message are messages: hook progress, snapshots and system rows are spliced
through. A compaction cuts nothing: its summary becomes an annotation of the message before; attachments
become a mark of it, but for what a user typed while the model worked, which is a message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from ctxtree.errors import FormatError
from ctxtree.importers.base import Conversation, Draft, Format, Log, Marks, Sample, source_mark, without
from ctxtree.importers.claude_code_rows import (
    ASIDE,
    CHAIN,
    CONSTANT,
    HELD,
    TITLES,
    Row,
    is_generated,
    passing,
    row_of,
    spoken,
)
from ctxtree.importers.claude_code_turns import Turns, Unit, turns
from ctxtree.importers.files import Source
from ctxtree.importers.lines import Record, load, records
from ctxtree.importers.link import cut_circles, leaves, resolve, splice
from ctxtree.importers.moments import moment
from ctxtree.importers.wire.blocks import parse_one
from ctxtree.model import Message

RECOVER = frozenset({"type", "uuid"})


def fits(sample: Sample) -> bool:
    """A row with a message and the log's own ids."""
    return any(
        record.get("type") in ("user", "assistant", "system")
        and ("uuid" in record or "parentUuid" in record)
        and ("message" in record or "sessionId" in record)
        for record in sample.records
    )


@dataclass(slots=True)
class _Index:
    """What the first pass has found. `passed`: rows that say nothing, and the row that their children hang on."""

    rows: dict[str, Row] = field(default_factory=dict)
    passed: dict[str, str] = field(default_factory=dict)
    again: list[tuple[Row, Row]] = field(default_factory=list)
    spliced: Counter[str] = field(default_factory=Counter)
    repeated: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    titles: dict[str, str] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)
    last: str | None = None

    @property
    def title(self) -> str | None:
        return next((self.titles[form] for form, _ in TITLES if form in self.titles), None)


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """The one conversation of a log, named by its session. `FormatError` if it holds no message."""
    log = Log(source.name, strict)
    with source.open() as stream:
        index = _index(stream, log)
        _compare(index, stream, log)
    kept = {name: row for name, row in index.rows.items() if row.kind in ("user", "assistant", "results")}
    if not kept:
        raise FormatError(source.name, 0, f"no message that can be read; {log.skipped} records left out")
    late = index.passed
    rows = [
        replace(row, parent=late[row.parent]) if row.parent in late else row for row in index.rows.values()
    ]
    rows = _joined(rows, log)
    kept = {row.id: row for row in rows if row.id in kept}
    parents = resolve(rows, log)
    above = splice(parents, parents, kept)
    above = _uncross(list(kept.values()), above, log)
    made = turns(list(kept.values()), above)
    log.tally("spliced", "records that are no messages", "left out", index.spliced)
    log.tally("unknown_type", "records of unknown types", "left out", index.unknown)
    session, title, meta = index.meta.get("sessionId"), index.title, index.meta
    notes = _annotations(rows, above, made)
    # what only linking needed is let go before the rows are read again
    del index, kept, rows, parents, above, late
    made.ends.clear()
    yield Conversation(
        name=session if isinstance(session, str) and session else source.stem,
        title=title,
        source=source.name,
        drafts=_drafts(source, made, notes, meta),
        head=_head(made),
        log=log,
        meta=meta,
    )


def _index(stream: BinaryIO, log: Log) -> _Index:
    index = _Index()
    for record in records(stream, log, RECOVER):
        _note(record, index)
        if _passes(record, index):
            continue
        row = row_of(record, index.last)
        if row is None:
            _leave(record, index, log)
            continue
        row = _linked(row, index)
        if row.id in index.rows:
            index.again.append((index.rows[row.id], row))
            continue
        if row.id in index.passed:
            what = f"{row.id} stands in an earlier line with other content"
            log.add("duplicate_id", what, "the first holds", row.line, row.offset, skipped=1)
            continue
        if row.id.startswith("line:"):
            log.add("missing_id", "a message without uuid", f"named {row.id}", row.line, row.offset)
        if row.kind in ("splice", "compaction"):
            kind = str(record.data.get("type"))
            (index.spliced if kind in CHAIN else index.unknown)[kind] += 1
        index.rows[row.id] = row
        index.last = row.id
    return index


def _passes(record: Record, index: _Index) -> bool:
    """True for a row of which only its place between two others need be known, and is: its parent came before."""
    found = passing(record.data)
    if found is None or found[0] in index.rows:
        return False
    name, parent = found
    if name in index.passed:
        index.repeated["progress"] += 1
        return True
    target = index.passed.get(parent) or (index.rows[parent].id if parent in index.rows else None)
    if target is None:
        return False
    index.passed[name] = target
    index.spliced["progress"] += 1
    return True


def _linked(row: Row, index: _Index) -> Row:
    """The row with its parent as it is known already: one string for each id, and none that is passed over."""
    if row.parent is None:
        return row
    known = index.passed.get(row.parent)
    if known is None and row.parent in index.rows:
        known = index.rows[row.parent].id
    return row if known is None or known is row.parent else replace(row, parent=known)


def _note(record: Record, index: _Index) -> None:
    """Titles, and the fields that every row repeats."""
    data = record.data
    for form, name in TITLES:
        if data.get("type") == form and isinstance(data.get(name), str) and data[name]:
            index.titles[form] = data[name]
    if data.get("type") in ("user", "assistant"):
        for name in CONSTANT:
            if data.get(name) is not None:
                index.meta.setdefault(name, data[name])


def _leave(record: Record, index: _Index, log: Log) -> None:
    kind = record.data.get("type")
    if kind in ("user", "assistant"):
        log.add("bad_record", f"{kind} without a message", "left out", record.line, record.offset, skipped=1)
    elif not isinstance(kind, str):
        index.unknown["(none)"] += 1
    else:
        (index.spliced if kind in ASIDE or kind in CHAIN else index.unknown)[kind] += 1


def _compare(index: _Index, stream: BinaryIO, log: Log) -> None:
    """Rows with an id that is taken: repeats are counted, differing ones reported. The first holds."""
    repeated = index.repeated
    for first, second in index.again:
        if _said(stream, first) == _said(stream, second):
            repeated[second.kind] += 1
            continue
        what = f"{second.id} stands in line {first.line} with other content"
        log.add("duplicate_id", what, "the first holds", second.line, second.offset, skipped=1)
    log.tally("repeated", "records stand in the file again", "read once", repeated)


def _said(stream: BinaryIO, row: Row) -> list[str]:
    message = spoken(load(stream, row.offset, row.length)).get("message")
    if not isinstance(message, Mapping):
        return []
    return [parsed.message.hash for parsed in parse_one({"role": "user", "content": message.get("content")})]


def _joined(rows: list[Row], log: Log) -> list[Row]:
    """The rows with a parent for those that cannot begin a conversation: answers and tool results.

    A log without a single parent was never linked: there each row follows the one before.
    """
    unlinked = len(rows) > 1 and all(row.parent is None for row in rows)
    if unlinked:
        log.add("missing_parent", f"none of {len(rows)} records names a parent", "read in the file's order")
    before: dict[str, str] = {}
    found: list[Row] = []
    for row in rows:
        above = before.get(row.lane)
        lost = row.parent is None and row.kind in ("assistant", "results") and above is not None
        if lost and not unlinked:
            what = f"{row.id} cannot begin a conversation and names no parent"
            log.add("missing_parent", what, f"attached to {above}", row.line, row.offset)
        found.append(replace(row, parent=above) if lost or unlinked else row)
        before[row.lane] = row.id
    return found


def _uncross(rows: Sequence[Row], above: dict[str, str | None], log: Log) -> dict[str, str | None]:
    """Take messages of the main line off a subagent's records, where its own thread can be found."""
    lanes = {row.id: row.lane for row in rows}
    before: str | None = None
    moved: set[str] = set()
    for row in rows:
        parent = above[row.id]
        if not row.lane and parent is not None and lanes[parent] and before is not None:
            what = f"{row.id} hangs on {parent} of a subagent"
            log.add("crossed_sidechain", what, f"attached to {before}", row.line, row.offset)
            above[row.id] = before
            moved.add(row.id)
        if not row.lane:
            before = row.id
    linked = {row.id: above[row.id] for row in rows}
    if moved:
        cut_circles(rows, linked, moved, log)
        above.update(linked)
    return above


def _head(made: Turns) -> str | None:
    """The leaf of the main line that stands latest in the file; hidden ones are passed over upwards.

    The rule of the official reader, with `logicalParentUuid` followed.
    """
    main = {name for name, unit in made.units.items() if not unit.lane} or set(made.units)
    seen = {name: made.parents[name] for name in made.units if name in main}
    ends = leaves(seen, seen)
    latest = max(ends, key=lambda name: made.units[name].rows[-1].line)
    at: str | None = latest
    while at is not None and made.units[at].rows[0].hidden:
        at = made.parents[at]
    return at or latest


def _annotations(rows: Sequence[Row], above: Mapping[str, str | None], made: Turns) -> dict[str, list[Row]]:
    """The compactions and attachments that stand after each unit; attachments before all go to the first."""
    found: dict[str, list[Row]] = {}
    first = next(iter(made.units))
    for row in rows:
        name = above[row.id]
        if row.kind in ("compaction", "attachment") and name is not None:
            found.setdefault(made.ends[name], []).append(row)
        elif row.kind == "attachment":
            found.setdefault(first, []).append(row)
    return found


def _drafts(
    source: Source, made: Turns, notes: Mapping[str, list[Row]], meta: Mapping[str, Any]
) -> Iterator[Draft]:
    apart = any(not unit.lane for unit in made.units.values())
    with source.open() as stream:
        for name in made.ordered:
            unit = made.units[name]
            held = [spoken(load(stream, row.offset, row.length)) for row in unit.rows]
            message = _message(unit, held)
            marks = _marks(unit, held, meta)
            if apart and unit.lane.startswith("side:"):
                marks = (*marks, ("sidechain", True))
            beside = [(row, load(stream, row.offset, row.length)) for row in notes.get(name, ())]
            attached = [_attachment(data, row) for row, data in beside if row.kind == "attachment"]
            marks = (*marks, ("attachments", attached)) if attached else marks
            for row, data in beside:
                if row.kind == "compaction":
                    marks = (*marks, ("annotation", _annotation(data, row)))
            at = moment(held[0].get("timestamp"))
            yield Draft(name, made.parents[name], message, at, marks, unit.rows[0].line)


def _message(unit: Unit, held: Sequence[Mapping[str, Any]]) -> Message:
    role = unit.rows[0].kind if unit.rows[0].kind == "assistant" else "user"
    parsed = list(parse_one({"role": role, "content": _blocks(held)}))
    if unit.part == "words":
        return parsed[-1].message
    return parsed[0].message if unit.part == "results" or len(parsed) == 1 else parsed[-1].message


def _blocks(held: Sequence[Mapping[str, Any]]) -> Any:
    """The content of rows of one message, in order; a call that is repeated stands once."""
    contents = [row["message"].get("content") for row in held]
    if len(contents) == 1:
        return contents[0]
    blocks: list[Any] = []
    calls: set[str] = set()
    for content in contents:
        for block in content if isinstance(content, list) else [] if content is None else [content]:
            call = block.get("id") if isinstance(block, Mapping) and block.get("type") == "tool_use" else None
            if isinstance(call, str) and call in calls:
                continue
            if isinstance(call, str):
                calls.add(call)
            blocks.append(block)
    return blocks


def _marks(unit: Unit, held: Sequence[Mapping[str, Any]], meta: Mapping[str, Any]) -> Marks:
    """Usage and stop reason are the last row's: only it has the final figures."""
    row, last = held[0], held[-1]["message"]
    stop = "error" if held[-1].get("isApiErrorMessage") else last.get("stop_reason")
    given = (
        ("model", last.get("model")),
        ("stop", stop),
        ("usage", last.get("usage")),
        ("incomplete", any(bool(each.get("isAbortedMidStream")) for each in held)),
        ("hidden", unit.rows[0].hidden),
    )
    fields = {key: value for key, value in without(row, HELD).items() if value != meta.get(key)}
    more: dict[str, Any] = {"message_id": last.get("id")}
    if len(unit.rows) > 1:
        more["rows"] = [each.id for each in unit.rows]
    if unit.rows[0].kind == "user" and is_generated(row["message"].get("content")):
        more["generated"] = True
    if unit.part == "words":
        fields = {}
    mark = source_mark(unit.rows[0].id, unit.rows[0].line, fields, **more)
    return (*((name, value) for name, value in given if value), mark)


def _annotation(data: Mapping[str, Any], row: Row) -> dict[str, Any]:
    """A compaction: its summary, or the figures of its boundary."""
    message = data.get("message")
    value: dict[str, Any] = {"kind": "compaction", "id": row.id, "line": row.line}
    if isinstance(message, Mapping):
        texts = [
            parsed.message.text for parsed in parse_one({"role": "user", "content": message.get("content")})
        ]
        value["summary"] = "\n".join(texts)
    elif isinstance(data.get("compactMetadata"), Mapping):
        value["metadata"] = dict(data["compactMetadata"])
    return value


def _attachment(data: Mapping[str, Any], row: Row) -> dict[str, Any]:
    """What was put before the model beside the words: a file, a selection, a reminder, whole."""
    held = data["attachment"]
    return {**held, "id": row.id, "line": row.line}


FORMAT = Format("Claude Code session log (JSON lines)", fits, read)
