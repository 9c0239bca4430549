"""SQLite databases of other programs, opened without a byte of them changed."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ctxtree.errors import FormatError
from ctxtree.importers.files import Source

MAGIC = b"SQLite format 3\0"


@contextmanager
def opened(source: Source) -> Iterator[sqlite3.Connection]:
    """A copy of the database with the journal that lies beside it, open. `FormatError` if it is damaged.

    Opening the original could write to it, and without its journal what was said last would be missing.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy.db")
        with source.open() as stream, copy.open("wb") as out:
            shutil.copyfileobj(stream, out)
        beside = Path(f"{source.where}-wal") if isinstance(source.where, Path) else None
        if beside is not None and source.member is None and beside.exists():
            shutil.copyfile(beside, f"{copy}-wal")
        with closing(sqlite3.connect(copy)) as database:
            database.row_factory = sqlite3.Row
            try:
                yield database
            except sqlite3.DatabaseError as problem:
                raise FormatError(source.name, 0, f"a damaged database: {problem}") from None


def names_in(database: sqlite3.Connection) -> tuple[str, ...]:
    """The names of its tables, sorted."""
    rows = database.execute("select name from sqlite_master where type = 'table' order by name")
    return tuple(row[0] for row in rows)


def table_names(source: Source) -> tuple[str, ...]:
    """The tables of a database, or nothing if the source is none."""
    with source.open() as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            return ()
    with opened(source) as database:
        return names_in(database)
