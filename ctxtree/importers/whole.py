"""ctxtree's own export of a tree, read as messages.

`Store.import_file` does not come here: it takes a tree back whole, with marks, branches, facts and turns.
This reader is for those who want its messages without a store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from ctxtree.errors import FormatError
from ctxtree.importers.base import Conversation, Draft, Format, Log, Sample, source_mark
from ctxtree.importers.files import Source
from ctxtree.importers.moments import moment
from ctxtree.importers.sections import sections
from ctxtree.model import Message, Opaque, clean

NAME = "ctxtree"


def fits(sample: Sample) -> bool:
    """An object that says that it is one, or the beginning of one that is longer than the sample."""
    begun = (
        sample.text.lstrip("\ufeff \t\r\n").startswith("{") and '"format": "ctxtree"' in sample.text[:1000]
    )
    return any(record.get("format") == NAME and "version" in record for record in sample.records) or begun


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """The one tree of a file. Memory: the ids of its nodes, and its marks."""
    log = Log(source.name, strict)
    head: dict[str, Any] = {}
    heads: dict[str, str | None] = {}
    marks: dict[str, list[tuple[str, Any]]] = {}
    for name, _, value in _fields(source, log):
        if name == "branches" and isinstance(value, Mapping):
            heads[str(value.get("name"))] = value.get("head")
        elif name == "marks" and isinstance(value, Mapping):
            marks.setdefault(str(value.get("node")), []).append((str(value.get("name")), value.get("value")))
        elif name in ("format", "name", "active", "version"):
            head[name] = value
    if head.get("format") != NAME:
        raise FormatError(source.name, 0, "no tree of ctxtree")
    yield Conversation(
        name=str(head.get("name") or source.stem),
        title=None,
        source=source.name,
        drafts=_drafts(source, marks, Log(source.name), log),
        head=heads.get(str(head.get("active"))),
        log=log,
    )


def _fields(source: Source, log: Log) -> Iterator[tuple[str, int, Any]]:
    with source.open() as stream:
        try:
            yield from sections(stream, exact=True)
        except ValueError as problem:
            log.add("truncated_line", str(problem), "what is whole is kept", skipped=1)


def _drafts(
    source: Source, marks: Mapping[str, list[tuple[str, Any]]], quiet: Log, log: Log
) -> Iterator[Draft]:
    for name, line, record in _fields(source, quiet):
        if name != "nodes":
            continue
        try:
            yield _draft(record, line, marks)
        except (ValidationError, ValueError, KeyError, TypeError, AttributeError):
            log.add("bad_record", "a node that cannot be read", "left out", line, skipped=1)


def _draft(record: Mapping[str, Any], line: int, marks: Mapping[str, list[tuple[str, Any]]]) -> Draft:
    name, parents = str(record["id"]), record["parents"]
    if "erased" in record:
        message = Message(role=record["role"], parts=(Opaque(origin=NAME, kind="erased"),))
    else:
        message = Message.model_validate(clean(record["message"])[0])
    at: datetime | None = moment(record.get("created_at"))
    held = tuple(marks.get(name, ()))
    return Draft(
        name, parents[0] if parents else None, message, at, (*held, source_mark(name, line, {})), line
    )


FORMAT = Format("a whole tree as ctxtree writes it", fits, read)
