"""Each test of the contract runs over every engine in `ENGINES`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctxtree.store import Database, connect

ENGINES = ("file", "memory")
NOON = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)


@pytest.fixture(params=ENGINES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    url = ":memory:" if request.param == "memory" else str(tmp_path / "chats.db")
    with connect(url, clock=lambda: NOON) as opened:
        yield opened


@pytest.fixture
def file_database(tmp_path: Path) -> Iterator[Database]:
    with connect(tmp_path / "chats.db", clock=lambda: NOON) as opened:
        yield opened


@pytest.fixture
def tree(database: Database) -> int:
    return database.create_tree("talk").id
