"""What only a server can do to a store: text that it refuses, connections that break, writers side by side."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import sqlalchemy

from ctxtree.errors import ConflictError, StoreError
from ctxtree.model import Message
from ctxtree.store import Database, connect, dialects
from ctxtree.store.records import Draft

from .conftest import schema
from .writers import open_and_name, processes


@pytest.fixture
def place(server: str) -> Iterator[str]:
    with schema(server) as url:
        yield url


@pytest.fixture
def held(place: str) -> Iterator[Database]:
    with connect(place) as database:
        yield database


def say(text: str) -> list[Draft]:
    return [Draft(Message.of("user", text))]


def break_connections(server: str, place: str) -> int:
    """Ends every other connection to the store, as a failover does; how many there were."""
    name = sqlalchemy.make_url(place).query["application_name"]
    engine = sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        ended = connection.exec_driver_sql(
            f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = '{name}'"
        ).scalar_one()
    engine.dispose()
    return int(ended)


def named(place: str, name: str) -> str:
    """The URL with connections that can be told from others."""
    return sqlalchemy.make_url(place).update_query_dict({"application_name": name}).render_as_string(False)


def test_many_workers_open_one_new_store_at_once(place: str) -> None:
    workers = [processes().Process(target=open_and_name, args=(place, number)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 8
    with connect(place) as database:
        assert {row.name for row in database.trees()} == {"all", *(f"own {number}" for number in range(8))}
        assert {row.id for row in database.trees()} == set(range(1, 10))


def test_a_writer_waits_for_no_writer_of_another_tree(held: Database, place: str) -> None:
    one, two = held.create_tree("one").id, held.create_tree("two").id
    with connect(place) as other:

        def beside() -> None:
            held.append(one, None, say("first"), "main")
            other.append(two, None, say("second"), "main")  # waits for ever if it needs the other's lock
            other.create_tree("three")

        held.together(beside, writing=True, tree=one)
    assert [row.nodes for row in held.trees()] == [1, 1, 0]
    assert held.verify() == ()


def test_numbers_of_trees_written_side_by_side_never_meet(held: Database) -> None:
    trees = [held.create_tree(name).id for name in "abcd"]

    def fill(tree: int) -> None:
        head = None
        for step in range(30):
            head = held.append(tree, head, say(f"{tree} {step}"), "main").nodes[0].id

    threads = [threading.Thread(target=fill, args=(tree,)) for tree in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row.nodes for row in held.trees()] == [30] * 4
    assert held.verify() == ()


def test_a_connection_that_broke_while_idle_is_replaced(server: str, place: str) -> None:
    with connect(named(place, "idle")) as database:
        tree = database.create_tree("talk").id
        assert break_connections(server, named(place, "idle")) > 0
        made = database.append(tree, None, say("still here"), "main").nodes
        assert break_connections(server, named(place, "idle")) > 0
        assert database.path(tree, made[0].id) == made


def test_a_connection_that_breaks_at_work_is_a_store_error_and_leaves_nothing(
    server: str, place: str
) -> None:
    with connect(named(place, "busy")) as database:
        tree = database.create_tree("talk").id

        def work() -> None:
            database.append(tree, None, say("half"), "main")
            assert break_connections(server, named(place, "busy")) > 0
            database.append(tree, None, say("other half"), "main")

        with pytest.raises(StoreError) as caught:
            database.together(work, writing=True, tree=tree)
        assert "half" not in str(caught.value)
        assert database.links(tree) == []
        database.append(tree, None, say("whole"), "main")
        assert len(database.links(tree)) == 1
        assert database.verify() == ()


def test_a_server_that_is_not_there_is_a_store_error_without_the_password() -> None:
    with pytest.raises(StoreError) as caught:
        connect("postgresql://me:hidden@127.0.0.1:1/none")
    assert "hidden" not in str(caught.value)


def test_a_writer_that_waits_too_long_is_a_store_error(
    held: Database, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = held.create_tree("talk").id
    monkeypatch.setattr("ctxtree.store.engine.PATIENCE", 0.3)
    monkeypatch.setattr(dialects, "BUSY_MS", 100)
    with connect(place) as other:

        def work() -> None:
            with pytest.raises(StoreError, match="lock timeout"):
                other.append(tree, None, say("late"), "main")

        held.together(work, writing=True, tree=tree)
        other.append(tree, None, say("in time"), "main")
    assert len(held.links(tree)) == 1


def test_of_two_that_move_one_branch_the_second_is_told(held: Database, place: str) -> None:
    tree = held.create_tree("talk").id
    root = held.append(tree, None, say("root"), "main").nodes[0].id
    with connect(place) as other:
        first = held.append(tree, root, say("first"), "main").nodes[0].id
        with pytest.raises(ConflictError):
            other.append(tree, root, say("second"), "main", if_moved="raise")
        with pytest.raises(ConflictError):
            other.move(tree, "main", expected=root, head=None)
        other.create_branch(tree, "side", root)
        with pytest.raises(ConflictError):
            held.create_branch(tree, "side", first)
        assert len(held.links(tree)) == 2
        assert [row.head for row in held.branches(tree)] == [first, root]


def test_erasing_leaves_the_other_tables_of_the_database_alone(held: Database, place: str) -> None:
    engine = sqlalchemy.create_engine(place, isolation_level="AUTOCOMMIT")
    tree = held.create_tree("talk").id
    node = held.append(tree, None, say("secret"), "main").nodes[0].id
    with engine.connect() as connection:

        def file_of(table: str) -> object:
            return connection.exec_driver_sql(f"SELECT pg_relation_filenode('{table}')").scalar_one()

        connection.exec_driver_sql("CREATE TABLE theirs (x integer)")
        before = {table: file_of(table) for table in ("theirs", "nodes", "turns")}
        held.purge(tree, node, "asked for")
        after = {table: file_of(table) for table in before}
    engine.dispose()
    assert {table for table in before if before[table] != after[table]} == {"nodes", "turns"}


@pytest.mark.parametrize(
    "text", ["a\0b", "\0", "half of a pair \ud83d and on", "\udc00\ud800", "é\u0301 名字 🙂"]
)
def test_any_text_comes_back_from_where_names_and_facts_are_kept(database: Database, text: str) -> None:
    tree = database.create_tree(text).id
    database.create_branch(tree, text, None)
    database.put_fact(tree, text, text)
    assert database.tree(text) is not None
    assert database.branch(tree, text) is not None
    assert [(fact.key, fact.text) for fact in database.facts(tree)] == [(text, text)]
