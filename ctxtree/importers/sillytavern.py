"""SillyTavern chats: a header line, then a line for each message, with its alternatives inside.

Every alternative (`swipes`) is a sibling; what follows hangs on the one that was chosen. A line that the
user took out of the prompt (`is_system`) is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ctxtree.errors import FormatError
from ctxtree.importers.base import Conversation, Draft, Format, Log, Marks, Sample, source_mark, without
from ctxtree.importers.files import Source
from ctxtree.importers.lines import Record, records
from ctxtree.importers.moments import moment
from ctxtree.model import Message, Role, Text

HELD = frozenset({"mes", "swipes", "swipe_id", "swipe_info", "is_user", "is_system", "send_date"})
WRITTEN = ("%B %d, %Y %I:%M%p", "%b %d, %Y %I:%M%p")
"""How older versions write times, in the user's own zone, which they do not name."""
STAMP = re.compile(r"(\d+)-(\d+)-(\d+) ?@ ?(\d+)h ?(\d+)m ?(\d+)s(?: ?(\d+)ms)?")


def fits(sample: Sample) -> bool:
    """A line of a chat, or its header."""
    return any(
        ("mes" in record and "is_user" in record) or ("user_name" in record and "character_name" in record)
        for record in sample.records
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """A message of the chat: its place, its parent, and its alternatives, of which one was chosen."""

    name: str
    parent: str | None
    record: Record
    texts: tuple[str, ...]
    chosen: int

    def named(self, place: int) -> str:
        return self.name if place == self.chosen else f"{self.name}.swipe:{place + 1}"


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """The one chat of a file, named by the file. `FormatError` if it holds no message."""
    log, quiet = Log(source.name, strict), Log(source.name)
    header: dict[str, Any] = {}
    head = None
    with source.open() as stream:
        for number, record in enumerate(records(stream, quiet)):
            if number == 0 and "mes" not in record.data:
                header = record.data
            elif isinstance(record.data.get("mes"), str):
                head = f"line:{record.line}"
    if head is None:
        raise FormatError(source.name, 0, f"no message that can be read; {quiet.skipped} records left out")
    told = header.get("chat_metadata")
    metadata: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    meta = {key: header[key] for key in ("user_name", "character_name", "create_date") if header.get(key)}
    yield Conversation(
        name=source.stem,
        title=None,
        source=source.name,
        drafts=_drafts(source, log),
        head=head,
        log=log,
        meta={**meta, **({"fork_of": metadata["main_chat"]} if metadata.get("main_chat") else {})},
    )


def _lines(source: Source, log: Log) -> Iterator[_Line]:
    parent: str | None = None
    with source.open() as stream:
        for number, record in enumerate(records(stream, log)):
            if number == 0 and "mes" not in record.data:
                continue
            if not isinstance(record.data.get("mes"), str):
                place = (record.line, record.offset)
                log.add("bad_record", "a line without a message", "left out", *place, skipped=1)
                continue
            line = _line(record, parent, log)
            yield line
            parent = line.name


def _line(record: Record, parent: str | None, log: Log) -> _Line:
    """The alternatives; the message itself stands for the chosen one, whose text may be out of date."""
    data = record.data
    given = data.get("swipes")
    texts = [text for text in given if isinstance(text, str)] if isinstance(given, list) else []
    told = data.get("swipe_id")
    chosen = told if isinstance(told, int) and not isinstance(told, bool) else -1
    if texts and not 0 <= chosen < len(texts):
        chosen = texts.index(data["mes"]) if data["mes"] in texts else len(texts)
        what = f"swipe_id is {told!r}, and there are {len(texts)} swipes"
        log.add("dangling_head", what, "the message itself is taken", record.line, record.offset)
        texts += [data["mes"]] if chosen == len(texts) else []
    if not texts:
        texts, chosen = [data["mes"]], 0
    texts[chosen] = data["mes"]
    return _Line(f"line:{record.line}", parent, record, tuple(texts), chosen)


def _drafts(source: Source, log: Log) -> Iterator[Draft]:
    for line in _lines(source, log):
        data = line.record.data
        role: Role = "user" if data.get("is_user") else "assistant"
        infos = data.get("swipe_info")
        for place, text in enumerate(line.texts):
            told = infos[place] if isinstance(infos, list) and place < len(infos) else None
            info: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
            at = _at(info.get("send_date")) if place != line.chosen else None
            name = line.named(place)
            yield Draft(
                name, line.parent, Message(role=role, parts=(Text(text=text),)), at or _at(data.get("send_date")),
                _marks(line, place, info), line.record.line,
            )  # fmt: skip


def _marks(line: _Line, place: int, info: Mapping[str, Any]) -> Marks:
    data = line.record.data
    extra = data.get("extra") if place == line.chosen else info.get("extra")
    model = extra.get("model") if isinstance(extra, Mapping) else None
    given = (("model", model), ("hidden", bool(data.get("is_system"))))
    fields = without(data, HELD) if place == line.chosen else dict(info)
    mark = source_mark(line.named(place), line.record.line, fields)
    return (*((name, value) for name, value in given if value), mark)


def _at(value: Any) -> datetime | None:
    """The time in any of the ways in which it has been written; without a zone it is taken as UTC."""
    found = moment(value)
    if found is not None or not isinstance(value, str):
        return found
    stamp = STAMP.fullmatch(value.strip())
    if stamp:
        year, month, day, hour, minute, second, part = (int(figure or 0) for figure in stamp.groups())
        try:
            return datetime(year, month, day, hour, minute, second, part * 1000, UTC)
        except ValueError:
            return None
    for form in WRITTEN:
        try:
            return datetime.strptime(value.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


FORMAT = Format("SillyTavern chat (JSON lines), alternatives as siblings", fits, read)
