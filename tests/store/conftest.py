"""Each test of the contract runs over every engine in `ENGINES`.

PostgreSQL is one of them when `CTXTREE_TEST_POSTGRES` holds the URL of a database in which schemas may be made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctxtree.store import Database, connect

POSTGRES = os.environ.get("CTXTREE_TEST_POSTGRES", "")
ENGINES = ("file", "memory", "postgres") if POSTGRES else ("file", "memory")
NOON = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)


@contextmanager
def schema(name: str) -> Iterator[str]:
    """The URL of an empty schema in the PostgreSQL database, dropped at the end."""
    import sqlalchemy

    engine = sqlalchemy.create_engine(POSTGRES, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    try:
        yield str(sqlalchemy.make_url(POSTGRES).update_query_dict({"options": f"-csearch_path={name}"}))
    finally:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP SCHEMA {name} CASCADE")
        engine.dispose()


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    match request.param:
        case "postgres":
            with schema(f"test_{os.getpid()}") as made:
                yield made
        case "memory":
            yield ":memory:"
        case _:
            yield str(tmp_path / "chats.db")


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    with connect(url, clock=lambda: NOON) as opened:
        yield opened


@pytest.fixture
def file_database(tmp_path: Path) -> Iterator[Database]:
    with connect(tmp_path / "chats.db", clock=lambda: NOON) as opened:
        yield opened


@pytest.fixture
def tree(database: Database) -> int:
    return database.create_tree("talk").id
