"""What an importer gives: conversations of drafts, and what was found wrong on the way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ctxtree.errors import FormatError
from ctxtree.importers.files import Source
from ctxtree.model import Message

Marks = tuple[tuple[str, Any], ...]

CODES: Mapping[str, str] = {
    "bad_line": "a line that is no JSON and from which nothing could be recovered",
    "truncated_line": "the last line or element stops in the middle",
    "fused_lines": "a record was cut and another continues on the same line; what was whole is recovered",
    "nul_bytes": "NUL bytes, as a crash leaves them; removed around a record",
    "bad_utf8": "bytes that are no UTF-8; each replaced by U+FFFD",
    "surrogate": "unpaired UTF-16 surrogates; each replaced by U+FFFD",
    "too_deep": "JSON nested deeper than 200 levels; left out",
    "bad_record": "JSON, but not of the shape that the format asks for; left out",
    "no_conversation": "an entry that holds no conversation (a folder, an empty export); left out",
    "missing_id": "a message without an id; it gets one from its line",
    "duplicate_id": "an id used twice with different content; the first holds",
    "missing_parent": "an answer or a tool result that names no parent, or a log in which nothing does",
    "dangling_parent": "a parent that is not in the file",
    "cycle": "parents that lead in a circle; cut at the earliest record",
    "self_parent": "a record that is its own parent; it starts a path of its own",
    "crossed_sidechain": "a message of the main line that hangs on a subagent's record",
    "parent_disagrees": "children lists that contradict the parents; the parents hold",
    "dangling_head": "the pointer to the active leaf names no message; the newest leaf is taken",
    "missing_role": "nothing says who speaks; read as the user and the model in turn",
    "unknown_role": "a role that is not known; kept as a hidden note",
    "orphan_result": "a tool result without a call before it; kept",
    "unknown_type": "records of types that are not known, counted; left out",
    "spliced": "records that are no messages, counted; their children hang on what is before them",
    "repeated": "records that stand in the file more than once, counted; read once",
    "bom": "the file begins with a byte order mark",
    "crlf": "lines end in CR LF",
}  # fmt: skip
"""Every code an `Issue` may have, and what it means."""

HARMLESS = frozenset({"bom", "crlf", "unknown_type", "spliced", "repeated"})
"""Codes that are only worth knowing: strict reading does not stop at them."""

FIELD_LIMIT = 2_000
"""Characters of JSON that one field of a record may take in its source mark; longer ones are only named."""


@dataclass(frozen=True, slots=True)
class Issue:
    """Something found in a log: where, what, and what was done about it. Never words of the conversation.

    `line` is 1-based and 0 if it concerns the whole; `offset` is in bytes from the start of `source`.
    """

    code: str
    line: int
    offset: int
    source: str
    message: str
    action: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A message on its way into a tree. `parent` is the source id of a draft that came before."""

    source: str
    parent: str | None
    message: Message
    created_at: datetime | None = None
    marks: Marks = ()
    line: int = 0


@dataclass(slots=True)
class Log:
    """What has been found so far; it grows while a file is read. Raises at the first defect if `strict`."""

    source: str
    strict: bool = False
    issues: list[Issue] = field(default_factory=list)
    skipped: int = 0

    def add(
        self, code: str, message: str, action: str, line: int = 0, offset: int = 0, skipped: int = 0
    ) -> None:
        """Note an issue and how many records it costs. `FormatError` if strict and not harmless."""
        if self.strict and code not in HARMLESS:
            raise FormatError(self.source, line, f"{code}: {message} (byte {offset})")
        self.issues.append(Issue(code, line, offset, self.source, message, action))
        self.skipped += skipped

    def once(self, code: str, message: str, action: str, line: int = 0, offset: int = 0) -> None:
        """Note an issue unless one of the same code is there."""
        if all(issue.code != code for issue in self.issues):
            self.add(code, message, action, line, offset)

    def tally(self, code: str, what: str, action: str, counts: Mapping[str, int]) -> None:
        """One issue for many records of a kind: the kinds and their numbers, by name."""
        if counts:
            kinds = ", ".join(f"{name} {counts[name]}" for name in sorted(counts))
            self.add(code, f"{sum(counts.values())} {what}: {kinds}", action)


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a file. Take its drafts once, in order; then `issues` and `skipped` are complete.

    `name` is stable and unique in the file (an id, or the file's name); `head` is the source id of the
    active leaf; `labels` are (text, source id); `instructions` what the user told the model in general;
    `meta` what the file says about the whole (tools, working folder).
    """

    name: str
    title: str | None
    source: str
    drafts: Iterator[Draft]
    head: str | None
    log: Log
    labels: tuple[tuple[str, str], ...] = ()
    instructions: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def issues(self) -> list[Issue]:
        return self.log.issues

    @property
    def skipped(self) -> int:
        """Records that were lost: unreadable, or of no use as a message."""
        return self.log.skipped


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file: its first whole records, its text, or the names in an archive."""

    records: tuple[Mapping[str, Any], ...]
    text: str = ""
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """One format: what it is, whether a sample fits, and how a file of it is read."""

    about: str
    fits: Callable[[Sample], bool]
    read: Callable[[Source, bool], Iterator[Conversation]]


def source_mark(identity: str, line: int, fields: Mapping[str, Any], **more: Any) -> tuple[str, Any]:
    """The mark that tells where a message came from and what its record held beyond the message.

    Fields longer than `FIELD_LIMIT` (most repeat the message) are listed under `left_out` with their
    length; the record itself can be found again by file and line.
    """
    kept: dict[str, Any] = {}
    left_out: dict[str, int] = {}
    for name, value in fields.items():
        length = _length(value)
        if length > FIELD_LIMIT:
            left_out[name] = length
        else:
            kept[name] = value
    value = {"id": identity, "line": line, "fields": kept, "left_out": left_out, **more}
    return "source", {name: held for name, held in value.items() if held or name in ("id", "line")}


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return len(json.dumps(value, ensure_ascii=False)) if isinstance(value, dict | list) else 0


def without(record: Mapping[str, Any], names: Sequence[str] | frozenset[str]) -> dict[str, Any]:
    """The fields of a record that say something and are not among `names`."""
    return {name: value for name, value in record.items() if name not in names and value is not None}
