"""LangChain messages in their three spellings, and LangGraph states and state histories.

A list of messages is a path. A history is many states of one thread, each with its whole path: they are
woven into one tree, oldest first, messages known by id and words. A `RemoveMessage` takes nothing out of
the tree: what it names is kept and hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ctxtree.errors import FormatError
from ctxtree.importers.base import Conversation, Draft, Format, Log, Sample
from ctxtree.importers.files import Source
from ctxtree.importers.langchain_messages import REMOVE_ALL, TYPES, Raw, parsed_of, unwrapped
from ctxtree.importers.lines import Record, load
from ctxtree.importers.lists import Shape, objects, read_lists
from ctxtree.importers.moments import moment
from ctxtree.importers.weave import Said, Weave
from ctxtree.importers.wire.parsed import Parsed
from ctxtree.importers.wire.parts import string


def fits(sample: Sample) -> bool:
    """A message in one of the three spellings, by itself, in a list, or in the values of a state."""
    return any(
        _is_message(record) or any(map(_is_message, _list_in(record) or ())) for record in sample.records
    )


def _is_message(record: Any) -> bool:
    if not isinstance(record, Mapping):
        return False
    kind, held = unwrapped(record)
    own = "data" in record or "lc" in record or "additional_kwargs" in record or "response_metadata" in record
    return kind in TYPES and (own or kind in ("human", "ai")) and "content" in held


def _list_in(record: Raw) -> list[Any] | None:
    """The messages of a state, of its values, or of an object around a list."""
    values = record.get("values")
    for holder in (values if isinstance(values, Mapping) else {}, record):
        held = holder.get("messages")
        if isinstance(held, list):
            return held
    return None


def _is_state(record: Raw) -> bool:
    return isinstance(record.get("values"), Mapping) and _list_in(record) is not None


def parse(items: Iterable[Raw]) -> Iterator[tuple[int, Parsed]]:
    """A message for each item; those that a later `RemoveMessage` names are hidden."""
    listed = list(items)
    yield from _parsed(listed, _removed(listed))


def _parsed(items: Iterable[Raw], removed: Mapping[Any, int]) -> Iterator[tuple[int, Parsed]]:
    for index, item in enumerate(items):
        kind, held = unwrapped(item)
        if kind != "remove":
            parsed = parsed_of(kind, held)
            gone = max(removed.get(string(held.get("id")) or "", 0), removed.get(None, 0))
            yield index, _hidden(parsed) if index < gone else parsed


def _removed(items: Iterable[Raw]) -> dict[Any, int]:
    """Where each id is removed last; under None where all are."""
    found: dict[Any, int] = {}
    for index, item in enumerate(items):
        kind, held = unwrapped(item)
        if kind == "remove":
            name = string(held.get("id"))
            found[None if name == REMOVE_ALL else name or ""] = index
    return found


def _hidden(parsed: Parsed) -> Parsed:
    marks = [mark for mark in parsed.marks if mark[0] != "hidden"]
    fields = {**(parsed.fields or {}), "removed": True}
    return replace(parsed, marks=(*marks, ("hidden", True)), fields=fields)


SHAPE = Shape(keys=("messages",), reader=parse)


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """One conversation for a list, a state or a history; one for each record that holds a list.

    Memory: the largest message, object or state of the file, and the places of a history's states.
    """
    with source.open() as stream:
        found = objects(stream, Log(source.name))
        first = next(found, None)
        removed = _removed(record.data for record in found) if first and _is_message(first.data) else {}
    if first is None or not _is_state(first.data):
        alone = first is not None and _is_message(first.data)
        # the first message was looked at apart, so the others are counted from 0
        later = partial(_parsed, removed={name: at + 1 for name, at in removed.items()})
        yield from read_lists(source, strict, replace(SHAPE, reader=later) if alone else SHAPE)
        return
    log = Log(source.name, strict)
    states = _states(source, log)
    _note_links(states, log)
    name = next((state.thread for state in states if state.thread), None)
    weave = Weave()
    yield Conversation(
        name=name or source.stem,
        title=None,
        source=source.name,
        drafts=_drafts(source, states, weave, log),
        head=_head(source, states),
        log=log,
    )


@dataclass(frozen=True, slots=True)
class _State:
    """A state's place, when it was, which checkpoint it is and which it follows."""

    line: int
    offset: int
    length: int
    at: float
    thread: str | None
    checkpoint: str | None
    parent: str | None


def _states(source: Source, log: Log) -> list[_State]:
    """The states of a history, oldest first: as their times say, else against the order of the file."""
    found: list[_State] = []
    with source.open() as stream:
        for record in objects(stream, log):
            if _is_state(record.data):
                found.append(_state(record))
            else:
                place = (record.line, record.offset)
                log.add("no_conversation", "a record without values.messages", "left out", *place, skipped=1)
    if not found:
        raise FormatError(source.name, 0, f"no state that can be read; {log.skipped} left out")
    found.reverse()
    return sorted(found, key=lambda state: state.at)


def _state(record: Record) -> _State:
    data = record.data
    at = moment(data.get("created_at"))
    own, above = (
        _checkpoint(data, "config", "checkpoint"),
        _checkpoint(data, "parent_config", "parent_checkpoint"),
    )
    return _State(
        record.line, record.offset, record.length, at.timestamp() if at else 0.0,
        string(own.get("thread_id")), string(own.get("checkpoint_id")), string(above.get("checkpoint_id")),
    )  # fmt: skip


def _checkpoint(data: Raw, config: str, plain: str) -> Raw:
    """Thread and checkpoint: in Python's configuration, or flat as the API gives them."""
    held = data.get(config)
    inner = held.get("configurable") if isinstance(held, Mapping) else None
    if isinstance(inner, Mapping):
        return inner
    flat = data.get(plain)
    return flat if isinstance(flat, Mapping) else {}


def _note_links(states: list[_State], log: Log) -> None:
    known = {state.checkpoint for state in states}
    for state in states:
        if state.parent is not None and state.parent not in known:
            what = f"checkpoint {state.checkpoint} follows {state.parent}, which is not in the file"
            log.add("dangling_parent", what, "its own messages are its path", state.line, state.offset)


def _said(data: Raw, line: int, log: Log) -> Iterator[Said]:
    for number, item in enumerate(_list_in(data) or (), 1):
        if not isinstance(item, Mapping):
            what = f"message {number} is a {type(item).__name__}"
            log.add("bad_record", what, "left out", line, skipped=1)
            continue
        kind, held = unwrapped(item)
        name = held.get("id")
        if kind != "remove":
            yield Said(name if isinstance(name, str) and name else None, parsed_of(kind, held), line)


def _drafts(source: Source, states: list[_State], weave: Weave, log: Log) -> Iterator[Draft]:
    with source.open() as stream:
        for state in states:
            data = load(stream, state.offset, state.length)
            at = moment(data.get("created_at"))
            for draft in weave.add(_said(data, state.line, log)):
                fault = dict(draft.marks).get("hidden") and draft.message.role == "note"
                if fault:
                    log.add("unknown_role", f"message {draft.source}", "kept as a hidden note", draft.line)
                yield replace(draft, created_at=draft.created_at or at)


def _head(source: Source, states: list[_State]) -> str | None:
    """The last message of the newest state, by the name that weaving gives it."""
    weave = Weave()
    quiet = Log(source.name)
    with source.open() as stream:
        for state in states:
            data = load(stream, state.offset, state.length)
            for _ in weave.add(_said(data, state.line, quiet)):
                pass
    return weave.at


FORMAT = Format("LangChain messages, LangGraph states and state histories", fits, read)
