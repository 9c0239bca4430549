"""aider's chat history: Markdown to which every session is added.

`# aider chat started at` begins a session, `#### ` is the user's, `> ` the program's own output, all else
the model's. Inside a fence of the model's those signs mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from ctxtree.errors import FormatError
from ctxtree.importers.base import Conversation, Draft, Format, Log, Sample, source_mark
from ctxtree.importers.files import Source
from ctxtree.importers.lines import BOM
from ctxtree.importers.moments import moment
from ctxtree.model import Message, Role

STARTED = "# aider chat started at "
USER, OUTPUT = "#### ", "> "
FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")


def fits(sample: Sample) -> bool:
    """The line that begins a session."""
    return not sample.records and any(line.startswith(STARTED) for line in sample.text.splitlines())


@dataclass(frozen=True, slots=True)
class _Session:
    offset: int
    line: int
    length: int
    started: str


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each session, named by the file and its time. `FormatError` if there is none with words."""
    found = 0
    for number, session in enumerate(_sessions(source), 1):
        log = Log(source.name, strict)
        last = _last(source, session)
        if last is None:
            continue
        found += 1
        yield Conversation(
            name=f"{source.stem} {session.started}".strip() if session.started else f"{source.stem}-{number}",
            title=None,
            source=source.name,
            drafts=_drafts(source, session, log),
            head=last,
            log=log,
        )
    if not found:
        raise FormatError(source.name, 0, "no session with words")


def _sessions(source: Source) -> Iterator[_Session]:
    """Where each session stands. Two that began in the same second are told apart by a number."""
    at = offset = line = 0
    first, started = 1, ""
    seen: dict[str, int] = {}
    with source.open() as stream:
        for raw in stream:
            line += 1
            text = raw.removeprefix(BOM).decode("utf-8", "replace")
            if text.startswith(STARTED):
                if offset > at:
                    yield _Session(at, first, offset - at, started)
                at, first = offset, line
                started = text[len(STARTED) :].strip()
                seen[started] = seen.get(started, 0) + 1
                started = started if seen[started] == 1 else f"{started} ({seen[started]})"
            offset += len(raw)
    if offset > at:
        yield _Session(at, first, offset - at, started)


@dataclass(frozen=True, slots=True)
class _Block:
    role: Role
    line: int
    text: str


def _blocks(source: Source, session: _Session, log: Log) -> Iterator[_Block]:
    """Lines of one speaker in a row. Empty lines belong to whoever spoke last."""
    held: list[str] = []
    role: Role = "assistant"
    first = session.line
    fence = ""
    for number, text in _texts(source, session, log):
        if text.startswith(STARTED):
            continue
        speaker, words = (role, text) if fence else _spoken(text, role)
        if speaker != role and held:
            yield from _block(role, first, held)
            held = []
        if not held:
            first = number
        role = speaker
        held.append(words)
        fence = _fenced(fence, text) if role == "assistant" else ""
    yield from _block(role, first, held)


def _texts(source: Source, session: _Session, log: Log) -> Iterator[tuple[int, str]]:
    with source.open() as stream:
        stream.seek(source.origin + session.offset)
        left, number = session.length, session.line
        while left > 0:
            raw = stream.readline()
            if not raw:
                return
            left -= len(raw)
            text = raw.removeprefix(BOM).decode("utf-8", "replace")
            if "\ufffd" in text and b"\xef\xbf\xbd" not in raw:
                log.add("bad_utf8", "bytes that are no UTF-8", "replaced by U+FFFD", number)
            yield number, text.rstrip("\r\n")
            number += 1


def _spoken(text: str, role: Role) -> tuple[Role, str]:
    if text.startswith(USER) or text == USER.rstrip():
        return "user", text[len(USER) :].rstrip()
    if text.startswith(OUTPUT) or text == OUTPUT.rstrip():
        return "note", text[len(OUTPUT) :].rstrip()
    return ("assistant", text) if text.strip() else (role, "")


def _fenced(fence: str, text: str) -> str:
    """The fence that is open after this line."""
    found = FENCE.match(text)
    if not found:
        return fence
    mark = found.group(1)
    if not fence:
        return mark
    return "" if mark.startswith(fence) and not text[found.end() :].strip() else fence


def _block(role: Role, line: int, held: list[str]) -> Iterator[_Block]:
    text = "\n".join(held).strip("\n")
    if text.strip():
        yield _Block(role, line, text)


def _last(source: Source, session: _Session) -> str | None:
    last = None
    for block in _blocks(source, session, Log(source.name)):
        last = f"line:{block.line}"
    return last


def _drafts(source: Source, session: _Session, log: Log) -> Iterator[Draft]:
    parent: str | None = None
    at: datetime | None = moment(session.started.split(" (")[0])
    for block in _blocks(source, session, log):
        name = f"line:{block.line}"
        hidden = (("hidden", True),) if block.role == "note" else ()
        marks = (*hidden, source_mark(name, block.line, {}))
        yield Draft(name, parent, Message.of(block.role, block.text), at, marks, block.line)
        at, parent = None, name


FORMAT = Format("aider chat history (Markdown)", fits, read)
