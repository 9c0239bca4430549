from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import sqlalchemy

from ctxtree.errors import StoreError
from ctxtree.model import Message
from ctxtree.store import connect
from ctxtree.store.dialects import parse
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


def run(url: str, *statements: str) -> list[tuple[object, ...]]:
    """Runs statements beside the library; the rows of the last."""
    engine = sqlalchemy.create_engine(parse(url))
    rows: list[tuple[object, ...]] = []
    with engine.connect() as connection:
        for statement in statements:
            found = connection.exec_driver_sql(statement)
            rows = [tuple(row) for row in found] if found.returns_rows else []
        connection.commit()
    engine.dispose()
    return rows


def tables(url: str) -> dict[str, str]:
    """What the database says of each table and index, `meta` apart, which is older than the migrations."""
    find = COLUMNS if parse(url).get_backend_name() == "postgresql" else MASTER
    found = {
        str(name): re.sub(r"\s*([(),])\s*", r"\1", " ".join(str(sql).split())) for name, sql in run(url, find)
    }
    return {name: sql for name, sql in found.items() if name != "meta"}


MASTER = "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE '%%alembic%%' AND sql IS NOT NULL"
COLUMNS = """
SELECT table_name, string_agg(
    concat_ws(' ', column_name, data_type, character_maximum_length, is_nullable, column_default), ', ' ORDER BY ordinal_position
) FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name NOT LIKE '%%alembic%%' GROUP BY table_name
UNION ALL
SELECT indexname, replace(indexdef, quote_ident(schemaname) || '.', '') FROM pg_indexes
WHERE schemaname = current_schema() AND indexname NOT LIKE '%%alembic%%'
"""


def version_zero(url: str) -> None:
    """An empty store as a version before the first would have left it."""
    run(
        url,
        "CREATE TABLE meta (name VARCHAR(40) PRIMARY KEY, value VARCHAR(200) NOT NULL)",
        "INSERT INTO meta VALUES ('application', 'ctxtree'), ('schema', '0')",
    )


def test_what_was_stored_is_there_after_closing(shared_url: str) -> None:
    with connect(shared_url) as database:
        tree = database.create_tree("talk")
        made = database.append(tree.id, None, [Draft(Message.of("user", "hi"))], "main").nodes
    with connect(parse(shared_url).render_as_string(False), sync="full") as database:
        assert database.path(tree.id, made[0].id) == made
    with pytest.raises(StoreError, match="closed"):
        database.trees()


def test_a_closed_store_is_one_file(tmp_path: Path) -> None:
    with connect(tmp_path / "a.db") as database:
        database.create_tree("talk")
    assert os.listdir(tmp_path) == ["a.db"]


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


def test_a_newer_store_is_refused_with_both_versions(shared_url: str) -> None:
    connect(shared_url).close()
    run(shared_url, "UPDATE meta SET value = '999' WHERE name = 'schema'")
    with pytest.raises(StoreError, match=rf"999.*version {VERSION}"):
        connect(shared_url)
    assert run(shared_url, "SELECT value FROM meta WHERE name = 'schema'") == [("999",)]


def test_the_migrations_make_the_same_tables_as_a_new_store(shared_url: str, other_url: str) -> None:
    version_zero(shared_url)
    connect(shared_url).close()
    connect(other_url).close()
    assert tables(shared_url) == tables(other_url)
    assert len(tables(other_url)) > 20


def migrations(folder: Path, step: str) -> Path:
    (folder / "versions").mkdir(parents=True)
    (folder / "env.py").write_text((MIGRATIONS / "env.py").read_text())
    for held in (MIGRATIONS / "versions").glob("00*.py"):
        (folder / "versions" / held.name).write_text(held.read_text())
    (folder / "versions" / f"{NEXT:04d}_next.py").write_text(step)
    return folder


def test_an_older_store_is_migrated_and_keeps_what_it_holds(shared_url: str, tmp_path: Path) -> None:
    with connect(shared_url) as database:
        tree = database.create_tree("talk").id
        made = database.append(tree, None, [Draft(Message.of("user", "hi"))], "main").nodes
    later = Target(NEXT, migrations(tmp_path / "steps", ADDED))
    for _ in range(2):
        with connect(shared_url, target=later) as database:
            assert database.path(tree, made[0].id) == made
    assert "colour" in tables(shared_url)["trees"]
    with pytest.raises(StoreError, match=f"version {NEXT}"):
        connect(shared_url)


def test_a_migration_that_fails_changes_nothing(shared_url: str, tmp_path: Path) -> None:
    connect(shared_url).close()
    before = tables(shared_url)
    broken = ADDED + '    op.execute("DELETE FROM nowhere")\n'
    with pytest.raises(StoreError):
        connect(shared_url, target=Target(NEXT, migrations(tmp_path / "steps", broken)))
    assert tables(shared_url) == before
    connect(shared_url).close()


@pytest.mark.parametrize("foreign", ["nodes (x integer)", "meta (name integer, value integer)"])
def test_a_foreign_database_is_refused_and_left_as_it_was(shared_url: str, foreign: str) -> None:
    run(shared_url, f"CREATE TABLE {foreign}")
    before = tables(shared_url)
    with pytest.raises(StoreError, match="not one of ctxtree"):
        connect(shared_url)
    assert tables(shared_url) == before


def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    words = b"this is no database, but long enough to look at" * 40
    (tmp_path / "text").write_bytes(words)
    with pytest.raises(StoreError, match="text"):
        connect(tmp_path / "text")
    assert (tmp_path / "text").read_bytes() == words


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


STOP = {
    "sqlite": ["CREATE TRIGGER stop BEFORE INSERT ON nodes BEGIN SELECT raise(ABORT, 'no more'); END"],
    "postgresql": [
        "CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no more'; END $$",
        "CREATE TRIGGER stop BEFORE INSERT ON nodes FOR EACH ROW EXECUTE FUNCTION stop()",
    ],
}


def test_a_store_that_takes_no_more_says_so_without_words_of_the_conversation(shared_url: str) -> None:
    with connect(shared_url) as database:
        tree = database.create_tree("talk").id
        run(shared_url, *STOP[parse(shared_url).get_backend_name()])
        with pytest.raises(StoreError) as caught:
            database.append(tree, None, [Draft(Message.of("user", "secret words"))], "main")
        shown = f"{caught.value}{caught.value.__cause__}"
        assert "no more" in shown
        assert "secret" not in shown
        assert caught.value.__suppress_context__


def test_many_threads_open_one_new_store(shared_url: str) -> None:
    failed: list[BaseException] = []

    def open_and_use() -> None:
        try:
            with connect(shared_url) as database:
                database.create_tree("talk")
        except StoreError as error:
            failed.append(error)

    threads = [threading.Thread(target=open_and_use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    with connect(shared_url) as database:
        assert len(database.trees()) == 1


def test_opening_imports_no_alembic(shared_url: str) -> None:
    code = (
        "import sys; from ctxtree.store import connect\n"
        "connect(sys.argv[1]).close(); connect(sys.argv[1]).close()\n"
        "sys.exit('alembic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, shared_url], check=False)
    assert done.returncode == 0


def test_two_stores_in_memory_share_nothing() -> None:
    with connect(":memory:") as one, connect(":memory:") as two:
        one.create_tree("talk")
        assert two.trees() == ()


def test_a_forked_child_uses_connections_of_its_own(shared_url: str) -> None:
    with connect(shared_url) as database:
        tree = database.create_tree("talk").id
        child = os.fork()
        if child == 0:
            database.append(tree, None, [Draft(Message.of("user", "child"))], "main")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        made = database.append(tree, None, [Draft(Message.of("user", "parent"))], "main")
        assert made.branch == "main.2"
        assert database.verify() == ()
