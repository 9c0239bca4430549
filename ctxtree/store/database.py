"""`connect`, and the `Database` that it gives."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from os import PathLike, fspath
from types import TracebackType
from typing import Self

from ctxtree.store import dialects, migrate
from ctxtree.store.append import Appends
from ctxtree.store.bulk import Inserts
from ctxtree.store.derived import Derived
from ctxtree.store.engine import now
from ctxtree.store.facts import Facts
from ctxtree.store.marks import Marks
from ctxtree.store.nodes import Reads
from ctxtree.store.purge import Purges
from ctxtree.store.refs import Refs
from ctxtree.store.segments import Segments
from ctxtree.store.turns import Turns
from ctxtree.store.verify import Verifies


class Database(Appends, Inserts, Reads, Marks, Refs, Facts, Derived, Segments, Turns, Verifies, Purges):
    """An open store. Safe to share between threads; every method is one transaction.

    Ids are 64 hex digits, trees are numbers (`TreeRow.id`), names are any strings. All methods raise
    StoreError when the database refuses.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def connect(
    url: str | PathLike[str],
    sync: dialects.Sync = "normal",
    clock: Callable[[], datetime] = now,
    target: migrate.Target | None = None,
) -> Database:
    """Opens or creates a store: a path, ":memory:", or a SQLAlchemy URL.

    `sync="full"` survives power loss too; "normal" survives the death of the process. `clock` dates
    what comes without a time of its own. `target` is for tests of migrations. Raises StoreError for a
    file that is no store of ours, and for one that a newer version wrote.
    """
    database = Database(fspath(url), sync, clock)
    try:
        database.prepare(target or migrate.Target())
    except BaseException:
        database.close()
        raise
    return database
