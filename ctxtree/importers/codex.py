"""Codex rollout logs: Responses items, and events of which some say the same again.

An event that repeats the item next to it is dropped; where a log has only the events, they are read in
the items' place. Texts are never compared beyond that, so a real repetition stays. A rollback moves
back: what came after stays as a branch. A compaction is an annotation, and its replacement for the
history is not read, since the originals stand above it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ctxtree.errors import FormatError
from ctxtree.importers import codex_rows
from ctxtree.importers.base import Conversation, Draft, Format, Log, Sample
from ctxtree.importers.files import Source
from ctxtree.importers.lines import Record, load, records
from ctxtree.importers.lists import as_draft
from ctxtree.importers.moments import moment
from ctxtree.importers.wire import WIRE
from ctxtree.importers.wire.parts import string
from ctxtree.importers.wire.responses import Place, place_of
from ctxtree.model import Message

NEAR = 4
"""An event and the item that it repeats stand at most this many records of the conversation apart."""

KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
META = ("id", "cwd", "cli_version", "originator", "forked_from_id", "model_provider")
PASSING = frozenset({"internal_chat_message_metadata_passthrough", "metadata", "phase", "timestamp"})
"""Fields that only steer Codex itself."""

QUIET = frozenset({"turn_context", "state", "world_state", "session_meta"})


def fits(sample: Sample) -> bool:
    """A record in Codex's wrapper, or the bare header and items of its first versions."""
    if any(
        string(record.get("type")) in KINDS and isinstance(record.get("payload"), Mapping)
        for record in sample.records
    ):
        return True
    first = sample.records[0] if sample.records else {}
    return codex_rows.unwrapped(first)[0] == "session_meta" and "instructions" in first


@dataclass(frozen=True, slots=True)
class Step:
    """An item of the conversation: where it stands, what it is, and which step it follows (-1: none)."""

    line: int
    offset: int
    length: int
    parent: int
    place: Place
    event: bool = False
    user: bool = False
    reasoning: bool = False
    context: bool = False


@dataclass(slots=True)
class _Index:
    """What the first pass has found. `recent` are (step, words) of the newest steps with words."""

    steps: list[Step] = field(default_factory=list)
    recent: list[tuple[int, tuple[str, str]]] = field(default_factory=list)
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
    if not index.steps:
        raise FormatError(source.name, 0, f"no message that can be read; {log.skipped} records left out")
    _drop_repeated_reasoning(index)
    log.tally("spliced", "records that are no messages, or repeat one", "left out", index.left)
    log.tally("unknown_type", "records of unknown types", "left out", index.unknown)
    groups, owner = _groups(index.steps)
    name = index.meta.get("id")
    yield Conversation(
        name=name if isinstance(name, str) and name else source.stem,
        title=index.title,
        source=source.name,
        drafts=_drafts(source, index, groups, owner, log),
        head=_name(groups[owner[index.at]], index.steps) if index.at >= 0 else None,
        log=log,
        meta=index.meta,
    )


def _take(record: Record, index: _Index, log: Log) -> None:
    kind, payload = codex_rows.unwrapped(record.data)
    if kind == "session_meta":
        if index.meta:
            index.left["session_meta"] += 1
        index.meta = index.meta or {key: payload[key] for key in META if payload.get(key)}
    elif kind == "response_item":
        _item(record, payload, index)
    elif kind == "event_msg":
        _event(record, payload, index, log)
    elif kind == "compacted":
        summary = payload.get("message")
        note = {"kind": "compaction", "line": record.line}
        index.notes.setdefault(index.at, []).append({**note, "summary": summary} if summary else note)
        index.left["compacted"] += 1
    else:
        (index.left if kind in QUIET else index.unknown)[kind] += 1


def _item(record: Record, item: Mapping[str, Any], index: _Index) -> None:
    kind = str(item.get("type", "message"))
    if kind in codex_rows.ASIDE:
        index.left[kind] += 1
        return
    if kind not in codex_rows.ITEMS:
        # a new kind of item is still part of what was said: counted, and kept whole
        index.unknown[kind] += 1
    said = codex_rows.speech(item)
    twin = _twin(said, index, event=True)
    if twin is None:
        _add(_step(record, item, index.at), said, index)
        return
    # the item knows more than the event did: it takes the event's place
    index.steps[twin] = _step(record, item, index.steps[twin].parent)
    index.left["event that repeats an item"] += 1


def _event(record: Record, event: Mapping[str, Any], index: _Index, log: Log) -> None:
    kind = str(event.get("type"))
    item = codex_rows.event_item(event)
    if item is None:
        index.left[f"event {kind}"] += 1
        name = event.get("thread_name")
        if kind == "thread_name_updated" and isinstance(name, str) and name:
            index.title = name
        if kind == "thread_rolled_back":
            _roll_back(event.get("num_turns"), record, index, log)
        return
    said = codex_rows.speech(item)
    if _twin(said, index, event=False) is None:
        _add(replace(_step(record, item, index.at), event=True), said, index)
    else:
        index.left["event that repeats an item"] += 1


def _step(record: Record, item: Mapping[str, Any], parent: int) -> Step:
    context = codex_rows.is_context(item)
    return Step(
        line=record.line,
        offset=record.offset,
        length=record.length,
        parent=parent,
        place=place_of(item),
        user=item.get("role") == "user" and not context,
        reasoning=item.get("type") == "reasoning",
        context=context,
    )


def _add(step: Step, said: tuple[str, str] | None, index: _Index) -> None:
    index.steps.append(step)
    index.at = len(index.steps) - 1
    if said is not None:
        index.recent = [*index.recent, (index.at, said)][-NEAR:]


def _twin(said: tuple[str, str] | None, index: _Index, event: bool) -> int | None:
    """The newest near step with the same words from the other kind of record; each is matched once."""
    for place in range(len(index.recent) - 1, -1, -1):
        step, words = index.recent[place]
        if said is not None and words == said and index.steps[step].event == event:
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
        what = f"a rollback of {turns} turns goes {left} past the beginning"
        log.add("dangling_head", what, "moved to the beginning", record.line, record.offset)
    index.at = at
    index.recent = []


def _drop_repeated_reasoning(index: _Index) -> None:
    """Where items hold the reasoning, the events of it are left out: they come in other pieces."""
    steps = index.steps
    if not any(step.reasoning and not step.event for step in steps):
        return
    gone = {number for number, step in enumerate(steps) if step.reasoning and step.event}
    index.left["event agent_reasoning"] += len(gone)
    kept = [number for number in range(len(steps)) if number not in gone]
    fresh = {number: place for place, number in enumerate(kept)}

    def moved(at: int) -> int:
        while at in gone:
            at = steps[at].parent
        return fresh.get(at, -1)

    index.at = moved(index.at)
    index.notes = {moved(at): held for at, held in sorted(index.notes.items())}
    index.steps = [replace(steps[number], parent=moved(steps[number].parent)) for number in kept]
    index.left += Counter()


def _groups(steps: Sequence[Step]) -> tuple[list[list[int]], list[int]]:
    """The steps of each message, and for each step its group: the items of one answer are one message."""
    children = Counter(step.parent for step in steps)
    groups: list[list[int]] = []
    owner: list[int] = []
    spoke = False
    for number, step in enumerate(steps):
        follows = bool(groups) and step.parent == number - 1 and children[step.parent] == 1
        joins = follows and step.place != "other" and steps[number - 1].place != "other"
        if not joins or (step.place == "speech" and spoke):
            groups.append([])
            spoke = False
        spoke = spoke or step.place == "speech"
        groups[-1].append(number)
        owner.append(len(groups) - 1)
    return groups, owner


def _name(group: Sequence[int], steps: Sequence[Step]) -> str:
    return f"line:{steps[group[0]].line}"


def _drafts(
    source: Source, index: _Index, groups: Sequence[list[int]], owner: Sequence[int], log: Log
) -> Iterator[Draft]:
    """One draft a message, named by the line of its first item."""
    steps = index.steps
    with source.open() as stream:
        for group in groups:
            first = steps[group[0]]
            held = [load(stream, steps[number].offset, steps[number].length) for number in group]
            above = first.parent
            parent = _name(groups[owner[above]], steps) if above >= 0 else None
            notes = [note for number in group for note in index.notes.get(number, ())]
            for _, parsed in WIRE["openai.responses"]([_as_item(data) for data in held]):
                draft = as_draft(_name(group, steps), parent, parsed, first.line)
                if parsed.fault:
                    log.add(
                        parsed.fault,
                        f"item {draft.source}",
                        "kept as a hidden note",
                        first.line,
                        first.offset,
                    )
                message = draft.message
                marks = (*draft.marks, *(("annotation", note) for note in notes))
                if first.context:
                    message = Message(role="developer", parts=message.parts)
                    marks = (*marks, ("hidden", True))
                at = moment(held[0].get("timestamp"))
                yield replace(draft, message=message, created_at=at, marks=marks)


def _as_item(data: Mapping[str, Any]) -> Mapping[str, Any]:
    kind, payload = codex_rows.unwrapped(data)
    item = codex_rows.event_item(payload) if kind == "event_msg" else None
    return item or {key: value for key, value in payload.items() if key not in PASSING}


FORMAT = Format("Codex rollout log (JSON lines)", fits, read)
