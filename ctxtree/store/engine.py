"""Transactions: one for every call, tried again while others write, raising our errors."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ctxtree.errors import StoreError
from ctxtree.store import dialects, migrate
from ctxtree.store.codec import Codec
from ctxtree.store.dialects import STORE
from ctxtree.store.hot import Compiled, Hot

T = TypeVar("T")
PATIENCE = 60.0  # seconds that a call waits for other writers
CHUNK = 500  # values in one IN list; SQLite allows 999 parameters in its older builds


def now() -> datetime:
    return datetime.now(UTC)


class Transactions:
    """The base of `Database`: how its methods reach the tables.

    Threads may share it: each transaction takes its own connection from the pool. Writers of this
    process queue at a lock, which is fairer than SQLite's waiting in growing steps; on PostgreSQL at
    one for each tree, so that those who wait hold no connection. A store in memory has
    one connection, so there its readers queue too.
    """

    def __init__(self, url: str, sync: dialects.Sync, clock: Callable[[], datetime]) -> None:
        self.url = dialects.parse(url)
        self.clock = clock
        self._codec = Codec()
        self._engine = dialects.make_engine(self.url, sync)
        self._memory = dialects.is_memory(self.url)
        self._locks = self._new_locks()
        self._joined = threading.local()
        self._pid = os.getpid()
        self._compiled: dict[str, Compiled] = {}
        self._closed = False

    def prepare(self, target: migrate.Target) -> None:
        """Creates or migrates the tables where that is needed."""
        self._patiently(lambda: migrate.prepare(self._engine, self.place, target))

    def together(self, work: Callable[[], T], writing: bool, tree: int = STORE) -> T:
        """What `work` returns; every call of this thread inside it is a part of one transaction.

        `tree` is the one that it writes to. Nothing of it is kept if it raises. It may be run again if
        others hold the database.
        """
        self._check_process()

        def joined(connection: Connection) -> T:
            self._joined.connection, self._joined.tree = connection, tree
            try:
                return work()
            finally:
                self._joined.connection = None

        return self._write(joined, tree) if writing else self._read(joined)

    def _read(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns, from one snapshot."""
        current = getattr(self._joined, "connection", None)
        if current is not None:
            return work(current)
        self._check_process()
        gate: AbstractContextManager[Any] = self._locks[0] if self._memory else nullcontext()
        with gate:
            return self._run(work, dialects.begin_reading)

    def _write(self, work: Callable[[Connection], T], tree: int) -> T:
        """What `work` returns, once it is durable; an exception in it leaves nothing behind.

        No one else writes to `tree` meanwhile; STORE stands for what all trees share.
        """
        current = getattr(self._joined, "connection", None)
        if current is not None:
            if tree != self._joined.tree:
                self._join(current, tree)
            return work(current)
        self._check_process()
        with self._locks[tree % len(self._locks)]:
            return self._run(work, partial(dialects.begin_writing, tree=tree))

    def _join(self, connection: Connection, tree: int) -> None:
        """Keeps others from writing there too, until the transaction ends."""
        dialects.join(connection, tree)

    def _alone(self, work: Callable[[], T]) -> T:
        """What `work` returns, run outside any transaction while no call of this process writes."""
        self._check_process()
        with self._locks[0]:
            return self._patiently(work)

    def _run(self, work: Callable[[Connection], T], begin: Callable[[Connection], None]) -> T:
        def once() -> T:
            with self._begun(begin) as connection:
                result = work(connection)
                connection.commit()
                return result

        return self._patiently(once)

    def _begun(self, begin: Callable[[Connection], None]) -> Connection:
        """A connection with an open transaction; one that broke while it lay idle is replaced, once."""
        try:
            return self._opened(begin)
        except DBAPIError as error:
            if not dialects.is_lost(error.orig):
                raise
        self._engine.dispose()
        return self._opened(begin)

    def _opened(self, begin: Callable[[Connection], None]) -> Connection:
        connection = self._engine.connect()
        try:
            begin(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _patiently(self, once: Callable[[], T]) -> T:
        """Tries again while others hold the database, for a minute; other failures become StoreError."""
        driver_error = self._engine.dialect.loaded_dbapi.Error  # the hot path meets it undressed
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                return once()
            except (DBAPIError, driver_error) as error:
                cause = error.orig if isinstance(error, DBAPIError) else error
                if not dialects.is_busy(cause) or time.monotonic() > give_up:
                    raise self._translated(cause) from None
                time.sleep(0.005)
            except SQLAlchemyError as error:
                raise StoreError(f"{self.place}: {type(error).__name__}") from None

    def _new_locks(self) -> tuple[threading.Lock, ...]:
        return tuple(threading.Lock() for _ in range(dialects.gates(self.url)))

    def _hot(self, connection: Connection) -> Hot:
        return Hot(connection, self._compiled)

    def _check_process(self) -> None:
        if self._closed:
            raise StoreError("the store is closed")
        if self._pid != os.getpid():
            # A forked child must not use its parent's connections: SQLite's locks belong to a process.
            if self._memory:
                raise StoreError("a store in memory belongs to the process that opened it")
            self._engine.dispose(close=False)
            self._locks = self._new_locks()
            self._pid = os.getpid()

    def _translated(self, error: BaseException | None) -> StoreError:
        cause = dialects.cause_of(error)
        if "unable to open" in cause:
            cause += dialects.missing_folder(self.url)
        if "not a database" in cause:
            cause += "; is this the path of another kind of file?"
        return StoreError(f"{self.place}: {cause}")

    @property
    def place(self) -> str:
        """Where the store is, without a password."""
        if self.url.get_backend_name() == "sqlite":
            return self.url.database or ":memory:"
        return self.url.render_as_string(hide_password=True)

    def close(self) -> None:
        """Gives the connections back; the last one out folds SQLite's log into the file."""
        self._closed = True
        if self._pid == os.getpid():
            self._engine.dispose()


def chunks(values: list[T], size: int = CHUNK) -> list[list[T]]:
    """The values in lists short enough for one IN."""
    return [values[start : start + size] for start in range(0, len(values), size)]
