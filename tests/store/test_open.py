from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ctxtree.errors import StoreError
from ctxtree.model import Message
from ctxtree.store import Database, connect
from ctxtree.store.migrate import MIGRATIONS, Target
from ctxtree.store.records import Draft
from ctxtree.store.schema import VERSION

NEXT = VERSION + 1
ADDED = f"""
import sqlalchemy as sa
from alembic import op

revision = "{NEXT:04d}"
down_revision = "{VERSION:04d}"


def upgrade():
    op.add_column("trees", sa.Column("colour", sa.String()))
"""


def run(path: Path, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute(statement).fetchall()
        connection.commit()
        return rows
    finally:
        connection.close()


def tables(path: Path) -> dict[object, str]:
    rows = run(
        path, "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE '%alembic%' AND sql IS NOT NULL"
    )
    return {name: re.sub(r"\s*([(),])\s*", r"\1", " ".join(str(sql).split())) for name, sql in rows}


def version_zero(path: Path) -> None:
    """An empty store as a version before the first would have left it."""
    run(path, "CREATE TABLE meta (name VARCHAR(40) PRIMARY KEY, value VARCHAR(200))")
    run(path, "INSERT INTO meta VALUES ('application', 'ctxtree'), ('schema', '0')")


def test_what_was_stored_is_there_after_closing(tmp_path: Path) -> None:
    with connect(tmp_path / "a.db") as database:
        tree = database.create_tree("talk")
        made = database.append(tree.id, None, [Draft(Message.of("user", "hi"))], "main").nodes
    with connect(f"sqlite:///{tmp_path / 'a.db'}", sync="full") as database:
        assert database.path(tree.id, made[0].id) == made
    with pytest.raises(StoreError, match="closed"):
        database.trees()
    assert sorted(os.listdir(tmp_path)) == ["a.db"]


@pytest.mark.parametrize("name", ["a?mode=ro#x.db", "100%.db", "名字.db", "with space.db"])
def test_a_path_is_taken_letter_for_letter(tmp_path: Path, name: str) -> None:
    with connect(tmp_path / name) as database:
        database.create_tree("x")
    assert os.listdir(tmp_path) == [name]


def test_the_journal_is_written_ahead_and_synced_as_asked(tmp_path: Path) -> None:
    for sync, level in (("normal", 1), ("full", 2)):
        with connect(tmp_path / "a.db", sync=sync) as database, database._engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == level
            assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000


def test_a_newer_store_is_refused_with_both_versions(tmp_path: Path) -> None:
    connect(tmp_path / "a.db").close()
    run(tmp_path / "a.db", "UPDATE meta SET value = '999' WHERE name = 'schema'")
    with pytest.raises(StoreError, match=rf"999.*version {VERSION}"):
        connect(tmp_path / "a.db")
    assert run(tmp_path / "a.db", "SELECT value FROM meta WHERE name = 'schema'") == [("999",)]


def test_the_migrations_make_the_same_tables_as_a_new_store(tmp_path: Path) -> None:
    version_zero(tmp_path / "old.db")
    connect(tmp_path / "old.db").close()
    connect(tmp_path / "new.db").close()
    old, new = tables(tmp_path / "old.db"), tables(tmp_path / "new.db")
    assert {**old, "meta": ""} == {**new, "meta": ""}
    assert len(new) > 20


def migrations(folder: Path, step: str) -> Path:
    (folder / "versions").mkdir(parents=True)
    (folder / "env.py").write_text((MIGRATIONS / "env.py").read_text())
    for held in (MIGRATIONS / "versions").glob("00*.py"):
        (folder / "versions" / held.name).write_text(held.read_text())
    (folder / "versions" / f"{NEXT:04d}_next.py").write_text(step)
    return folder


def test_an_older_store_is_migrated_and_keeps_what_it_holds(tmp_path: Path) -> None:
    with connect(tmp_path / "a.db") as database:
        tree = database.create_tree("talk").id
        made = database.append(tree, None, [Draft(Message.of("user", "hi"))], "main").nodes
    later = Target(NEXT, migrations(tmp_path / "steps", ADDED))
    for _ in range(2):
        with connect(tmp_path / "a.db", target=later) as database:
            assert database.path(tree, made[0].id) == made
    assert "colour" in tables(tmp_path / "a.db")["trees"]
    with pytest.raises(StoreError, match=f"version {NEXT}"):
        connect(tmp_path / "a.db")


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    connect(tmp_path / "a.db").close()
    before = tables(tmp_path / "a.db")
    broken = ADDED + '    op.execute("DELETE FROM nowhere")\n'
    with pytest.raises(StoreError):
        connect(tmp_path / "a.db", target=Target(NEXT, migrations(tmp_path / "steps", broken)))
    assert tables(tmp_path / "a.db") == before
    connect(tmp_path / "a.db").close()


def test_what_is_no_store_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"this is no database, but long enough to look at" * 40)
    run(tmp_path / "foreign", "CREATE TABLE nodes (x)")
    run(tmp_path / "meta", "CREATE TABLE meta (name, value)")
    for name in ("text", "foreign", "meta"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(StoreError, match=name):
            connect(tmp_path / name)
        if name == "text":
            assert (tmp_path / name).read_bytes() == before
        else:
            assert len(tables(tmp_path / name)) == 1


def test_places_that_cannot_be_opened_are_store_errors(tmp_path: Path) -> None:
    for url in (
        str(tmp_path),
        str(tmp_path / "no" / "a.db"),
        "",
        "a\0b",
        "nonsense://x",
        "postgresql+none://h/d",
        "://",
    ):
        with pytest.raises(StoreError):
            connect(url)
    with pytest.raises(StoreError, match="sync"):
        connect(tmp_path / "a.db", sync="never")  # type: ignore[arg-type]


def test_a_read_only_store_says_so_without_words_of_the_conversation(tmp_path: Path) -> None:
    with connect(tmp_path / "a.db") as database:
        tree = database.create_tree("talk").id
        run(
            tmp_path / "a.db",
            "CREATE TRIGGER stop BEFORE INSERT ON nodes BEGIN SELECT raise(ABORT, 'no more'); END",
        )
        with pytest.raises(StoreError) as caught:
            database.append(tree, None, [Draft(Message.of("user", "secret words"))], "main")
        shown = f"{caught.value}{caught.value.__cause__}"
        assert "no more" in shown
        assert "secret" not in shown
        assert caught.value.__suppress_context__


def test_many_threads_open_one_new_store(tmp_path: Path) -> None:
    failed: list[BaseException] = []

    def open_and_use() -> None:
        try:
            with connect(tmp_path / "a.db") as database:
                database.create_tree("talk")
        except StoreError as error:
            failed.append(error)

    threads = [threading.Thread(target=open_and_use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    with connect(tmp_path / "a.db") as database:
        assert len(database.trees()) == 1


def test_opening_imports_no_alembic(tmp_path: Path) -> None:
    code = (
        "import sys; from ctxtree.store import connect\n"
        "connect(sys.argv[1]).close(); connect(sys.argv[1]).close()\n"
        "sys.exit('alembic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.db")], check=False)
    assert done.returncode == 0


def test_two_stores_in_memory_share_nothing() -> None:
    with connect(":memory:") as one, connect(":memory:") as two:
        one.create_tree("talk")
        assert two.trees() == ()


def test_a_forked_child_uses_connections_of_its_own(file_database: Database) -> None:
    tree = file_database.create_tree("talk").id
    child = os.fork()
    if child == 0:
        file_database.append(tree, None, [Draft(Message.of("user", "child"))], "main")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    made = file_database.append(tree, None, [Draft(Message.of("user", "parent"))], "main")
    assert made.branch == "main.2"
    assert file_database.verify() == ()
