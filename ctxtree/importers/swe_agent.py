"""SWE-agent trajectories: one object with `trajectory` and `history`.

The history is the conversation; the steps beside it repeat it and are read only where it is missing. An
agent that tries again has `attempts`, each with a history: they become branches of one tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxtree.importers.base import Conversation, Draft, Format, Log, Sample
from ctxtree.importers.entries import entries
from ctxtree.importers.files import Source
from ctxtree.importers.lines import Record
from ctxtree.importers.weave import Said, Weave
from ctxtree.importers.wire import chat
from ctxtree.importers.wire.parsed import Parsed
from ctxtree.importers.wire.parts import parts_of, string
from ctxtree.model import Message

BESIDE = (
    "agent", "message_type", "is_demo", "thought", "action", "tags", "cache_control", "tool_call_ids",
    "thinking_blocks", "state", "execution_time", "extra_info",
)  # fmt: skip
"""Fields of an item that its message does not need; where they say something new they stay with it."""


def fits(sample: Sample) -> bool:
    """Steps with an action, beside a history or alone."""
    begun = '"trajectory"' in sample.text and '"observation"' in sample.text
    return any(_holds(record) for record in sample.records) or (not sample.records and begun)


def _holds(record: Mapping[str, Any]) -> bool:
    return bool(_histories(record))


def _histories(record: Mapping[str, Any]) -> list[list[Any]]:
    """The history of each attempt, else the one of the whole, else what its steps say."""
    attempts = record.get("attempts")
    holders = [one for one in attempts if isinstance(one, Mapping)] if isinstance(attempts, list) else []
    found = [held for one in holders for held in _histories(one)]
    if found:
        return found
    history, steps = record.get("history"), record.get("trajectory")
    if isinstance(steps, list) and isinstance(history, list) and history:
        return [history]
    if isinstance(steps, list) and any(isinstance(one, Mapping) and "action" in one for one in steps):
        return [_stepped(steps)]
    return []


def _stepped(steps: list[Any]) -> list[Any]:
    """What the steps of a trajectory without a history say: response and observation in turn."""
    found: list[Any] = []
    for step in steps:
        if not isinstance(step, Mapping):
            found.append(step)
            continue
        first = {key: step[key] for key in ("thought", "action", "state") if key in step}
        found.append(
            {"role": "assistant", "content": step.get("response") or step.get("thought") or "", **first}
        )
        if step.get("observation") is not None:
            found.append({"role": "user", "content": step["observation"]})
    return found


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each trajectory, named by its file. Memory: the largest, twice."""
    return entries(source, strict, _holds, _trajectory)


def _trajectory(source: Source, number: int, record: Record, log: Log) -> Conversation:
    info = record.data.get("info")
    told: Mapping[str, Any] = info if isinstance(info, Mapping) else {}
    meta = {key: told[key] for key in ("exit_status", "model_stats", "submission") if told.get(key)}
    environment = string(record.data.get("environment"))
    histories = _histories(record.data)
    return Conversation(
        name=source.stem if number == 1 else f"{source.stem}-{number}",
        title=None,
        source=source.name,
        drafts=_drafts(histories, record, log),
        head=_head(histories, record),
        log=log,
        meta={**meta, **({"environment": environment} if environment else {})},
    )


def _head(histories: list[list[Any]], record: Record) -> str | None:
    """Where the last attempt ends, by the name that weaving gives it."""
    weave, quiet = Weave(), Log("")
    for history in histories:
        for _ in weave.add(_said(history, record, quiet)):
            pass
    return weave.at


def _drafts(histories: list[list[Any]], record: Record, log: Log) -> Iterator[Draft]:
    weave = Weave()
    for history in histories:
        yield from weave.add(_said(history, record, log))


def _said(history: list[Any], record: Record, log: Log) -> Iterator[Said]:
    for number, item in enumerate(history, 1):
        if not isinstance(item, Mapping):
            what = f"item {number} is a {type(item).__name__}"
            log.add("bad_record", what, "left out", record.line, record.offset, skipped=1)
            continue
        for parsed in parsed_of(item):
            if parsed.fault:
                log.add(parsed.fault, f"item {number}", "kept as a hidden note", record.line, record.offset)
            yield Said(None, parsed, record.line)


def parsed_of(item: Mapping[str, Any]) -> Iterator[Parsed]:
    """The messages of an item of a history; what it says beyond them stays as fields."""
    plain = {key: value for key, value in item.items() if key not in BESIDE and value is not None}
    ids = item.get("tool_call_ids")
    if item.get("role") == "tool" and isinstance(ids, list) and ids and "tool_call_id" not in plain:
        plain["tool_call_id"] = ids[0]
    thinking = item.get("thinking_blocks")
    blocks = [block for block in thinking if isinstance(block, Mapping)] if isinstance(thinking, list) else []
    kept = {
        key: item[key] for key in BESIDE if item.get(key) and key not in ("tool_call_ids", "thinking_blocks")
    }
    for parsed in chat.parse_one(plain):
        words = parsed.message.text
        fields = {key: value for key, value in kept.items() if value != words}
        message = parsed.message
        if blocks:
            reasoning = parts_of(blocks, "anthropic")
            message = Message(role=message.role, parts=(*reasoning, *message.parts), name=message.name)
        yield replace(parsed, message=message, fields={**(parsed.fields or {}), **fields})


FORMAT = Format("SWE-agent trajectory (.traj)", fits, read)
