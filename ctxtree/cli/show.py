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
    sys.stdout.write(_visible(text) + "\n")


def _visible(text: str) -> str:
    return "".join(char if char.isprintable() or char in "\n\t" else "·" for char in text)


def say(text: str) -> None:
    """A line of talk on stderr, whatever line breaks the text has."""
    sys.stderr.write(_visible(" ".join(text.splitlines())) + "\n")


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
