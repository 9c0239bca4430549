"""What differs between SQLite and PostgreSQL, and nothing else."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from ctxtree.errors import StoreError

Sync = Literal["normal", "full"]
BUSY_MS = 30_000
WAL_LIMIT = 16 * 1024 * 1024
_LOCK = 0x637478  # names our advisory lock on PostgreSQL


def parse(url: str) -> URL:
    """The URL of a path, of ":memory:", or of a SQLAlchemy URL.

    A path is data: `?` and `%` mean nothing in it.
    """
    if "://" not in url:
        if not url or "\0" in url:
            raise StoreError("the path of a store is empty or holds a NUL character")
        return URL.create("sqlite", database=url)
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise StoreError("the store's URL cannot be read; expected a form like sqlite:///chats.db") from None
    if parsed.drivername == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    return parsed


def is_memory(url: URL) -> bool:
    return url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")


def make_engine(url: URL, sync: Sync) -> Engine:
    """An engine whose transactions begin as we say. Raises StoreError for an unknown or missing driver."""
    if sync not in ("normal", "full"):
        raise StoreError(f"sync is {sync!r}; it must be 'normal' or 'full'")
    options: dict[str, Any] = {"hide_parameters": True}
    if is_memory(url):
        options |= {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
    try:
        engine = create_engine(url, **options)
    except (ImportError, NoSuchModuleError):
        hint = "; pip install 'ctxtree[postgres]'" if url.get_backend_name() == "postgresql" else ""
        raise StoreError(f"no driver for {url.drivername} is installed{hint}") from None
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _sqlite_connect(sync))
    return engine


def _sqlite_connect(sync: Sync) -> Any:
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # no hidden BEGIN: ours say which kind
        connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={sync.upper()}")
        connection.execute(f"PRAGMA journal_size_limit={WAL_LIMIT}")

    return prepare


def begin(connection: Connection, writing: bool) -> None:
    """Opens a transaction: one snapshot for reading, or the one writer's turn.

    A read transaction that becomes a writer later fails at once in SQLite whatever the timeout, so a
    writer says so first. PostgreSQL gets the same order of writers from an advisory lock.
    """
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
    elif writing:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
    else:
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


def is_busy(cause: BaseException | None) -> bool:
    """True if another connection holds what we need, so that trying again makes sense."""
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return getattr(cause, "sqlstate", None) in ("40001", "40P01", "55P03")


def cause_of(error: BaseException | None) -> str:
    """The database's own words, without the statement and the values in it."""
    diagnosis = getattr(error, "diag", None)
    primary = getattr(diagnosis, "message_primary", None)
    return str(primary or error).splitlines()[0]


def tables(connection: Connection) -> int:
    """How many tables there are."""
    if connection.dialect.name == "sqlite":
        found = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master WHERE type = 'table'")
    else:
        found = connection.exec_driver_sql(
            "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
        )
    return int(found.scalar_one())


def check_file(connection: Connection) -> list[str]:
    """What the database says about its own pages; empty if all is well."""
    if connection.dialect.name != "sqlite":
        return []
    found = connection.exec_driver_sql("PRAGMA integrity_check(20)").scalars().all()
    return [str(line) for line in found if line != "ok"]


def shrink(engine: Engine) -> bool:
    """Rewrites the file without what was deleted; False if a reader still holds the old log.

    Costs a copy of the whole store, in time and, for as long as it takes, in space.
    """
    with engine.connect() as connection:
        if connection.dialect.name != "sqlite":
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("VACUUM FULL")
            return True
        connection.exec_driver_sql("PRAGMA secure_delete=ON")
        connection.exec_driver_sql("VACUUM")
        busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar_one()
        connection.exec_driver_sql("PRAGMA secure_delete=OFF")
        return not busy


def missing_folder(url: URL) -> str:
    """Why the file of `url` cannot be there, if its folder is the reason."""
    folder = Path(url.database or "").parent
    return "" if folder.is_dir() else f"; there is no folder {str(folder)!r}"
