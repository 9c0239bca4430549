"""What differs between SQLite and PostgreSQL, and nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from ctxtree.errors import StoreError

Sync = Literal["normal", "full"]
BUSY_MS = 30_000
WAL_LIMIT = 16 * 1024 * 1024
STORE = 0  # stands for the whole store where a tree's number would stand
_TABLES = -1  # the lock that guards the tables themselves
_TREE_BITS = 32  # of a number on PostgreSQL: the lower ones count within a tree


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
    if url.get_backend_name() == "postgresql":
        # What a writer reads after it has waited for its lock must not be older than the lock.
        options |= {"isolation_level": "READ COMMITTED", "pool_timeout": BUSY_MS / 1000}
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


def begin_reading(connection: Connection) -> None:
    """Opens a transaction that sees one snapshot."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN")
    else:
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


def begin_writing(connection: Connection, tree: int) -> None:
    """Opens the transaction of a tree's one writer, or of the one that writes what all trees share.

    A read transaction that becomes a writer later fails at once in SQLite whatever the timeout, so a
    writer says so first; SQLite has one writer for the whole file. On PostgreSQL an advisory lock is
    held until the end, and writers of different trees do not wait for each other.
    """
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        tables = f"pg_advisory_xact_lock_shared({_SPACE}, {_TABLES})"
        connection.exec_driver_sql(f"SELECT {_patience()}, {tables}, {_lock(tree)}")


def begin_building(connection: Connection) -> None:
    """Opens a transaction that may change the tables: no one else writes."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.exec_driver_sql(f"SELECT {_patience()}, {_lock(_TABLES)}")


def join(connection: Connection, tree: int) -> None:
    """Takes a further lock in a transaction that writes. The store's comes after those of trees."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(f"SELECT {_lock(tree)}")


# One database may hold several stores, each in a schema of its own.
_SPACE = "hashtext('ctxtree ' || current_schema())"


def _patience() -> str:
    return f"set_config('lock_timeout', '{BUSY_MS}', true)"


def _lock(tree: int) -> str:
    return f"pg_advisory_xact_lock({_SPACE}, {tree})"


def plan_each(connection: Connection) -> None:
    """Has each statement of the transaction planned for its own values.

    PostgreSQL knows nothing yet of a table that the transaction fills. The plan that it would keep for
    many ids at once reads the whole tree, and compares each row with each id.
    """
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("SET LOCAL plan_cache_mode = force_custom_plan")


def room(connection: Connection, tree: int) -> tuple[int, int]:
    """The bounds, both excluded, between which a tree's new nodes and marks get their numbers.

    In SQLite all trees share one counter. On PostgreSQL each has its own, above the numbers that
    the store gave before it had them, so that no writer looks at another's.
    """
    if connection.dialect.name == "sqlite":
        return 0, 2**63 - 1
    return tree << _TREE_BITS, (tree + 1) << _TREE_BITS


def gates(url: URL) -> int:
    """How many writers of one process may reach for the database at once."""
    return 1 if url.get_backend_name() == "sqlite" else 64


def is_busy(cause: BaseException | None) -> bool:
    """True if another connection holds what we need, so that trying again makes sense."""
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return getattr(cause, "sqlstate", None) in ("40001", "40P01", "55P03")


def is_lost(cause: BaseException | None) -> bool:
    """True if the connection to a server broke, or its server went away."""
    if isinstance(cause, sqlite3.Error):
        return False
    state = getattr(cause, "sqlstate", None)
    return type(cause).__name__ in ("OperationalError", "AdminShutdown") and (
        state is None or state[:2] in ("08", "57")
    )


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


def shrink(engine: Engine, tables: Iterable[str]) -> bool:
    """Rewrites the tables without what was deleted; False if a reader still holds SQLite's old log.

    Costs a copy of the tables, in SQLite of the whole file, in time and, for as long as it takes, in space.
    PostgreSQL's own log holds the words until it is recycled.
    """
    with engine.connect() as connection:
        if connection.dialect.name != "sqlite":
            connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.exec_driver_sql(f"SET lock_timeout = {BUSY_MS}")
            connection.exec_driver_sql(f"VACUUM FULL {', '.join(tables)}")
            connection.exec_driver_sql("RESET lock_timeout")
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
