"""Each test of the contract runs over every engine in `ENGINES`.

The PostgreSQL server comes from a package; it starts with the first test that needs it and ends with the session.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy

from ctxtree.store import Database, connect

from .server import running

ENGINES = ("file", "memory", "postgres")
NOON = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)
_numbers = itertools.count()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server that lives as long as the session."""
    with running(tmp_path_factory.mktemp("server") / "data") as url:
        yield url


@contextmanager
def schema(server: str) -> Iterator[str]:
    """The URL of an empty schema in the PostgreSQL database, dropped at the end."""
    name = f"test_{next(_numbers)}"
    engine = sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    try:
        url = sqlalchemy.make_url(server).update_query_dict({"options": f"-csearch_path={name}"})
        yield url.render_as_string(False)
    finally:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"DROP SCHEMA {name} CASCADE")
        engine.dispose()


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    match request.param:
        case "postgres":
            with schema(request.getfixturevalue("server")) as made:
                yield made
        case "memory":
            yield ":memory:"
        case _:
            yield str(tmp_path / "chats.db")


@pytest.fixture(params=("file", "postgres"))
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A store that several processes can open."""
    if request.param == "file":
        yield str(tmp_path / "chats.db")
    else:
        with schema(request.getfixturevalue("server")) as made:
            yield made


@pytest.fixture
def other_url(shared_url: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A second store on the engine of `shared_url`."""
    if not shared_url.startswith("postgresql"):
        yield str(tmp_path / "other.db")
    else:
        with schema(request.getfixturevalue("server")) as made:
            yield made


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
