"""Inspect evaluation logs: one JSON object with `samples`, or an `.eval` archive with a file for each.

Each sample is a conversation. Its messages are the path that was kept; the requests of its model events,
where they differ, are branches of the same tree: messages are known by id and words. Sub-agents and
branched trajectories stand there as what they are, paths of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxtree.errors import FormatError
from ctxtree.importers.base import Conversation, Draft, Format, Log, Sample, without
from ctxtree.importers.files import Source
from ctxtree.importers.inspect_messages import parsed_of, resolved
from ctxtree.importers.sections import sections
from ctxtree.importers.weave import Said, Weave
from ctxtree.importers.wire.parts import string
from ctxtree.model import clean, sendable

SAMPLE = "samples/"


def fits(sample: Sample) -> bool:
    """An archive of samples, or the beginning of a log: its task and its samples."""
    if "header.json" in sample.members and any(name.startswith(SAMPLE) for name in sample.members):
        return True
    begun = '"eval"' in sample.text and '"samples"' in sample.text and '"task"' in sample.text
    return any(_is_log(record) or _is_sample(record) for record in sample.records) or (
        not sample.records and begun
    )


def _is_log(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("eval"), Mapping) and isinstance(record.get("samples"), list)


def _is_sample(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("messages"), list) and "epoch" in record and "input" in record


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each sample, named by task, id and epoch. Memory: the largest sample, twice.

    `FormatError` if there is no sample with messages, or the object is cut before its first.
    """
    log = Log(source.name, strict)
    held: Conversation | None = None
    for line, task, sample in _samples(source, log):
        if not isinstance(sample, Mapping) or not isinstance(sample.get("messages"), list):
            log.add("no_conversation", "a sample without messages", "left out", line, skipped=1)
            continue
        if held is not None:
            yield held
            log = Log(source.name, strict)
        held = _sample(source, sample, task, line, log)
    if held is None:
        raise FormatError(source.name, 0, f"no sample that can be read; {log.skipped} left out")
    yield held


def _samples(source: Source, log: Log) -> Iterator[tuple[int, str, Any]]:
    """Line, task and data of each sample; a log that is cut ends with what is whole."""
    names = [name for name in source.members() if name.startswith(SAMPLE) and name.endswith(".json")]
    if names:
        task = _task(_json(source.within("header.json"), log))
        for name in names:
            yield 1, task, _json(source.within(name), log)
        return
    task = ""
    fields: dict[str, Any] = {}
    with source.open() as stream:
        try:
            for name, line, value in sections(stream):
                if name == "samples":
                    yield line, task, clean(value)[0]
                elif name == "eval":
                    task = _task({"eval": value})
                else:
                    fields[name] = value if name in ("messages", "input") else None
        except ValueError as problem:
            log.add("truncated_line", str(problem), "what is whole is kept", skipped=1)
    if "messages" in fields and "input" in fields:
        yield 1, task, _json(source, log)


def _json(source: Source, log: Log) -> Any:
    with source.open() as stream:
        try:
            return sendable(stream.read().decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            log.add("bad_line", f"{source.name} is no JSON that can be read", "left out", 1, skipped=1)
            return None


def _task(header: Any) -> str:
    held = header.get("eval") if isinstance(header, Mapping) else None
    return str(held.get("task") or "") if isinstance(held, Mapping) else ""


def _sample(source: Source, data: Mapping[str, Any], task: str, line: int, log: Log) -> Conversation:
    name = " ".join(
        str(part) for part in (task or source.stem, data.get("id"), data.get("epoch")) if part is not None
    )
    return Conversation(
        name=name,
        title=None,
        source=source.name,
        drafts=_drafts(data, line, log),
        head=_head(data, line),
        log=log,
        meta={key: data[key] for key in ("target", "scores", "metadata") if data.get(key)},
    )


def _paths(data: Mapping[str, Any]) -> Iterator[list[Any]]:
    """The paths of a sample, in the order of time: of each model event its request and answer; then the end."""
    held = data.get("events_data")
    pooled = held.get("messages") if isinstance(held, Mapping) else None
    pool: list[Any] = pooled if isinstance(pooled, list) else []
    events = data.get("events")
    for event in events if isinstance(events, list) else ():
        if not isinstance(event, Mapping) or event.get("event") != "model":
            continue
        asked = event.get("input")
        path = list(asked) if isinstance(asked, list) else []
        refs = event.get("input_refs")
        for run in refs if isinstance(refs, list) else ():
            if isinstance(run, list) and len(run) == 2 and all(isinstance(end, int) for end in run):
                path += pool[run[0] : run[1]]
        output = event.get("output")
        choices = output.get("choices") if isinstance(output, Mapping) else None
        first = choices[0] if isinstance(choices, list) and choices else None
        answer = first.get("message") if isinstance(first, Mapping) else None
        if path:
            yield [*path, *([answer] if answer else [])]
    yield data["messages"]


def _said(path: list[Any], data: Mapping[str, Any], line: int, log: Log) -> Iterator[Said]:
    attachments = data.get("attachments")
    texts: Mapping[str, Any] = attachments if isinstance(attachments, Mapping) else {}
    for number, raw in enumerate(path, 1):
        if not isinstance(raw, Mapping):
            what = f"message {number} is a {type(raw).__name__}"
            log.add("bad_record", what, "left out", line, skipped=1)
            continue
        parsed = parsed_of(resolved(raw, texts))
        if parsed.fault:
            log.once(parsed.fault, f"message {number}", "kept as a hidden note", line)
        yield Said(string(raw.get("id")), parsed, line)


def _drafts(data: Mapping[str, Any], line: int, log: Log) -> Iterator[Draft]:
    weave = Weave()
    used = _usage(data)
    for path in _paths(data):
        for draft in weave.add(_said(path, data, line, log)):
            usage = used.get(draft.source)
            yield replace(draft, marks=(*draft.marks, ("usage", usage))) if usage else draft


def _usage(data: Mapping[str, Any]) -> dict[str, Any]:
    """What each answer was billed, by the id of its message."""
    found: dict[str, Any] = {}
    events = data.get("events")
    for event in events if isinstance(events, list) else ():
        output = event.get("output") if isinstance(event, Mapping) and event.get("event") == "model" else None
        if not isinstance(output, Mapping) or not isinstance(output.get("usage"), Mapping):
            continue
        choices = output.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            message = choice.get("message") if isinstance(choice, Mapping) else None
            if isinstance(message, Mapping) and string(message.get("id")):
                found[message["id"]] = without(output["usage"], ())
    return found


def _head(data: Mapping[str, Any], line: int) -> str | None:
    weave, quiet = Weave(), Log("")
    for path in _paths(data):
        for _ in weave.add(_said(path, data, line, quiet)):
            pass
    return weave.at


FORMAT = Format("Inspect evaluation log: JSON, or an .eval archive", fits, read)
