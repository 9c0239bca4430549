"""How results are shown: JSON if asked for, tables and trees on a terminal, plain text elsewhere."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ctxtree.drawing import Drawing, Line, visible


def data(value: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=_plain, sort_keys=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple | set | frozenset) else str(value)


def line(text: str) -> None:
    """A line on stdout; control characters of foreign text are made visible."""
    sys.stdout.write(visible(text, keep="\n\t") + "\n")


def text(made: str) -> None:
    """A document on stdout as it is: it was made to be looked at."""
    sys.stdout.write(made)


def drawing(drawn: Drawing) -> None:
    """The lines of a drawing on stdout, in colour on a terminal; what they leave out on stderr."""
    if sys.stdout.isatty():
        screen = Console(highlight=False, soft_wrap=True)
        for one in drawn.lines:
            screen.print(_coloured(one), no_wrap=True, overflow="ellipsis", crop=True)
    else:
        sys.stdout.write("".join(f"{visible(str(one))}\n" for one in drawn.lines))
    for words in filter(None, drawn.left_out.split("\n")):
        say(words)


_COLOURS = {"user": "blue", "assistant": "green", "system": "yellow", "failed": "red", "abandoned": "dim"}


def _coloured(one: Line) -> Text:
    if one.spot is None:
        return Text(visible(str(one)), style="dim")
    spot = one.spot
    role = spot.node.role
    words = visible(spot.told().removeprefix(f"{spot.id[:8]} {role}:"))
    return Text.assemble(
        (one.art, "dim"), (f"{spot.id[:8]} ", "yellow"), (f"{role}:", _COLOURS.get(role, "cyan")),
        (words, _COLOURS.get(spot.status, "")),
    )  # fmt: skip


def say(text: str) -> None:
    """A line of talk on stderr, whatever line breaks the text has."""
    sys.stderr.write(visible(" ".join(text.splitlines()), keep="\t") + "\n")


@contextmanager
def progress(name: str) -> Iterator[Callable[[str, int], None] | None]:
    """What to call with a tree's name and its messages so far: a moving line on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    with Console(stderr=True).status(f"{name}: reading") as status:
        yield lambda tree, messages: status.update(Text(f"{name}: {tree}: {messages:,} messages"))


def rows(names: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    """A table on a terminal, tab-separated lines when piped."""
    cells = [[_cell(cell) for cell in one] for one in lines]
    if not sys.stdout.isatty():
        for one in [list(names), *cells]:
            line("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in one))
        return
    table = Table(*names, box=None, header_style="bold")
    for one in cells:
        table.add_row(*(Text(cell) for cell in one))
    Console().print(table)


def _cell(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:.2f}"
    return "" if cell is None else str(cell)
