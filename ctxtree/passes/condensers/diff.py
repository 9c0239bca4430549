"""Unified diffs: which files, how much, hunk headers, changed lines; context last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from ctxtree.passes.condensers.cut import Shortener, Span, from_ends, keep
from ctxtree.passes.condensers.graphemes import border_before

_CHANGES = 4000


@dataclass(slots=True)
class _File:
    """Spans of one file of a diff; filled while the text is read."""

    names: list[Span] = field(default_factory=list)
    hunks: list[Span] = field(default_factory=list)
    changes: list[Span] = field(default_factory=list)
    added: int = 0
    removed: int = 0


def diff(text: str) -> Shortener:
    """A shortener for diffs: a line of totals, the files' names, then changes of all files in turn."""
    files = _files(text)
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    heading = f"{len(files):,} file{'s' * (len(files) != 1)} changed, +{added:,} -{removed:,}\n"

    def shorten(room: int) -> str:
        cap = max(24, room // 4)
        spans = (
            _cut(text, span, cap) for span in chain(_by_weight(files, room // 90 + 1), from_ends(text, cap))
        )
        return heading + keep(text, spans, max(1, room - len(heading)))

    return shorten


def _files(text: str) -> list[_File]:
    files: list[_File] = []
    start = 0
    while start < len(text):
        stop = text.find("\n", start) + 1 or len(text)
        _read(files, text, (start, stop))
        start = stop
    return files


def _read(files: list[_File], text: str, span: Span) -> None:
    start = span[0]
    opens = text.startswith(("diff --git ", "Index: "), start)
    renames = text.startswith("--- ", start) and "\n+++ " in text[start : start + 600]
    if opens or not files or (renames and files[-1].hunks):
        files.append(_File())
    file = files[-1]
    if opens or renames or text.startswith("+++ ", start):
        # The name is told once, by the shortest line that has it: "+++ b/name", unless the file is gone.
        if not file.names or not text.startswith(("--- ", "+++ /dev/null"), start):
            file.names = [span]
    elif text.startswith("@@", start):
        file.hunks.append(span)
    elif text[start] in "+-":
        file.added += text[start] == "+"
        file.removed += text[start] == "-"
        if len(file.changes) < _CHANGES:
            file.changes.append(span)


def _by_weight(files: list[_File], first: int) -> Iterator[Span]:
    """The names of the `first` files and what changed there, then the others."""
    names = [span for file in files for span in file.names]
    yield from names[:first]
    yield from _in_turn([file.hunks[:1] + file.changes for file in files[:first]])
    yield from names[first:]
    yield from _in_turn([file.hunks + file.changes for file in files])


def _in_turn(lists: list[list[Span]]) -> Iterator[Span]:
    for index in range(max(map(len, lists), default=0)):
        yield from (spans[index] for spans in lists if index < len(spans))


def _cut(text: str, span: Span, cap: int) -> Span:
    return span if span[1] - span[0] <= cap else (span[0], border_before(text, span[0] + cap))
