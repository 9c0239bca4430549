"""Codex rollout logs: Responses items, and events of which some say the same again.

An event that repeats the item next to it is dropped; where a log has only the events, they are read in
the items' place. Texts are never compared beyond that, so a real repetition stays. A rollback moves
back: what came after stays as a branch. A compaction is an annotation, and its replacement for the
history is not read, since the originals stand above it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxtree.errors import FormatError
from ctxtree.importers import codex_rows
from ctxtree.importers.base import Conversation, Draft, Format, Log, Sample
from ctxtree.importers.files import Source
from ctxtree.importers.lines import Record, load, records
from ctxtree.importers.lists import as_draft
from ctxtree.importers.moments import moment
from ctxtree.importers.wire import WIRE

NEAR = 4
"""An event and the item that it repeats stand at most this many records of the conversation apart."""

KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
QUIET = frozenset({"turn_context", "state", "world_state", "session_meta"})


def fits(sample: Sample) -> bool:
    """A record in Codex's wrapper, or the bare header and items of its first versions."""
    if any(
        record.get("type") in KINDS and isinstance(record.get("payload"), Mapping)
        for record in sample.records
    ):
        return True
    first = sample.records[0] if sample.records else {}
    return codex_rows.unwrapped(first)[0] == "session_meta" and "instructions" in first


@dataclass(frozen=True, slots=True)
class Step:
    """An item of the conversation: where it stands, and from which step it follows (-1: none)."""

    line: int
    offset: int
    length: int
    event: bool
    user: bool
    parent: int


@dataclass(slots=True)
class _Index:
    """What the first pass has found. `recent` are (step, words, is an event) of the newest items."""

    steps: list[Step] = field(default_factory=list)
    dropped: set[int] = field(default_factory=set)
    recent: list[tuple[int, tuple[str, str], bool]] = field(default_factory=list)
    notes: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)
    title: str | None = None
    left: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    at: int = -1


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """The one conversation of a log, named by the id in its first header. `FormatError` without an item."""
    log = Log(source.name, strict)
    index = _Index()
    with source.open() as stream:
        for record in records(stream, log, frozenset({"type", "payload"})):
            _take(record, index, log)
    if len(index.dropped) == len(index.steps):
        raise FormatError(source.name, 0, f"no message that can be read; {log.skipped} records left out")
    log.tally("spliced", "records that are no messages or repeat one", "left out", index.left)
    log.tally("unknown_type", "records of unknown types", "left out", index.unknown)
    runs = _runs(index)
    name = index.meta.get("id")
    yield Conversation(
        name=name if isinstance(name, str) and name else source.stem,
        title=index.title,
        source=source.name,
        drafts=_drafts(source, index, runs, log),
        head=_head(index, runs),
        log=log,
        meta=index.meta,
    )


def _take(record: Record, index: _Index, log: Log) -> None:
    kind, payload = codex_rows.unwrapped(record.data)
    if kind == "session_meta":
        if index.meta:
            index.left["session_meta"] += 1
        wanted = ("id", "cwd", "cli_version", "originator", "forked_from_id", "model_provider")
        index.meta = index.meta or {key: payload[key] for key in wanted if payload.get(key)}
    elif kind == "response_item":
        _item(record, payload, index)
    elif kind == "event_msg":
        _event(record, payload, index, log)
    elif kind == "compacted":
        summary = payload.get("message")
        note = {"kind": "compaction", "line": record.line}
        index.notes.setdefault(index.at, []).append({**note, "summary": summary} if summary else note)
        index.left["compacted"] += 1
    elif kind in QUIET:
        index.left[kind] += 1
    else:
        index.unknown[kind] += 1


def _item(record: Record, item: Mapping[str, Any], index: _Index) -> None:
    kind = str(item.get("type"))
    if kind in codex_rows.ASIDE:
        index.left[kind] += 1
        return
    if kind not in codex_rows.ITEMS and "role" not in item:
        # a new kind of item is still part of what was said
        index.unknown[kind] += 1
    said = codex_rows.speech(item)
    twin = _twin(said, index, event=True)
    if twin is not None:
        # the item knows more than the event did: it takes the event's place
        old = index.steps[twin]
        index.steps[twin] = Step(record.line, record.offset, record.length, False, old.user, old.parent)
        index.left["event that repeats an item"] += 1
        return
    _add(record, said, index, event=False, user=_is_user(item))


def _event(record: Record, event: Mapping[str, Any], index: _Index, log: Log) -> None:
    kind = str(event.get("type"))
    item = codex_rows.event_item(event)
    if item is not None:
        said = codex_rows.speech(item)
        if _twin(said, index, event=False) is not None:
            index.left["event that repeats an item"] += 1
        else:
            _add(record, said, index, event=True, user=_is_user(item))
        return
    index.left[f"event {kind}"] += 1
    name = event.get("thread_name")
    if kind == "thread_name_updated" and isinstance(name, str) and name:
        index.title = name
    if kind == "thread_rolled_back":
        _roll_back(event.get("num_turns"), record, index, log)


def _is_user(item: Mapping[str, Any]) -> bool:
    return item.get("role") == "user" and not codex_rows.is_context(item)


def _add(record: Record, said: tuple[str, str] | None, index: _Index, event: bool, user: bool) -> None:
    index.steps.append(Step(record.line, record.offset, record.length, event, user, index.at))
    index.at = len(index.steps) - 1
    if said is not None:
        index.recent = [*index.recent, (index.at, said, event)][-NEAR:]


def _twin(said: tuple[str, str] | None, index: _Index, event: bool) -> int | None:
    """The newest near step of the other kind with the same words; each is matched once."""
    for place in range(len(index.recent) - 1, -1, -1):
        step, words, is_event = index.recent[place]
        if is_event == event and words == said and said is not None:
            del index.recent[place]
            return step
    return None


def _roll_back(turns: Any, record: Record, index: _Index, log: Log) -> None:
    """Move to the step before the user's message that many turns ago."""
    left = turns if isinstance(turns, int) and turns > 0 else 1
    at = index.at
    while at >= 0 and left:
        left -= index.steps[at].user
        at = index.steps[at].parent
    if left:
        what = f"a rollback of {turns} turns goes past the beginning by {left}"
        log.add("bad_record", what, "moved to the beginning", record.line, record.offset)
    index.at = at
    index.recent = []


def _runs(index: _Index) -> list[list[int]]:
    """Steps that follow each other without a fork, in the order of the file."""
    children = Counter(step.parent for step in index.steps)
    runs: list[list[int]] = []
    for number, step in enumerate(index.steps):
        fresh = step.parent != number - 1 or children[step.parent] > 1 or not runs
        if fresh:
            runs.append([])
        runs[-1].append(number)
    return runs


def _head(index: _Index, runs: list[list[int]]) -> str | None:
    del runs
    return f"line:{index.steps[index.at].line}" if index.at >= 0 else None


def _drafts(source: Source, index: _Index, runs: list[list[int]], log: Log) -> Iterator[Draft]:
    """One draft a message; the items of one answer are one message, named by the line of its first item."""
    raise NotImplementedError


FORMAT = Format("Codex rollout log (JSON lines)", fits, read)
