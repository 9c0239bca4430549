from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

import pytest

from ctxtree.errors import StoreError
from ctxtree.model import Message
from ctxtree.store import Database, connect, engine
from ctxtree.store.records import Draft

from . import team
from .kill import kill_writers
from .writers import append_many, processes, read_until


def test_four_processes_append_to_one_tree_and_lose_nothing(shared_url: str) -> None:
    path = shared_url
    with connect(path) as database:
        tree = database.create_tree("talk").id
    running = [processes().Process(target=append_many, args=(path, tree, writer, 100)) for writer in range(4)]
    running.append(processes().Process(target=read_until, args=(path, tree, 400)))
    for process in running:
        process.start()
    for process in running:
        process.join(60)
    assert [process.exitcode for process in running] == [0] * 5
    with connect(path) as database:
        made = list(database.all_nodes(tree))
        ids = {node.id for node in made}
        assert len(ids) == len(made) == 400
        assert {node.text for node in made} == {f"{w} says {s}" for w in range(4) for s in range(100)}
        assert all(node.parent is None or node.parent in ids for node in made)
        assert {row.head for row in database.branches(tree)} >= {node.id for node in made} - {
            n.parent for n in made
        }
        assert database.verify() == ()


def test_threads_share_one_store(database: Database, tree: int) -> None:
    failed: list[StoreError] = []

    def work(writer: int) -> None:
        head = None
        try:
            for step in range(40):
                message = Message.of("user", f"{writer} {step}")
                head = database.append(tree, head, [Draft(message)], None).nodes[0].id
                assert len(database.path(tree, head)) == step + 1
        except StoreError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(writer,)) for writer in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(database.links(tree)) == 800
    assert database.verify() == ()


def test_killed_writers_lose_nothing_that_was_acknowledged(shared_url: str) -> None:
    outcome = kill_writers(shared_url, times=10)
    assert outcome.acknowledged > 20
    assert (outcome.lost, outcome.problems) == (0, 0)


def test_eight_processes_append_fork_compile_and_retry_and_lose_nothing(shared_url: str) -> None:
    outcome = team.run(shared_url, seconds=1.5)
    assert (outcome.failed, outcome.lost, outcome.problems) == (0, 0, 0)
    assert outcome.acknowledged > 20
    assert {"append", "fork", "compile"} <= outcome.done.keys()


def test_a_writer_waits_for_another_that_takes_its_time(tmp_path: Path) -> None:
    with connect(tmp_path / "chats.db") as database:
        tree = database.create_tree("talk").id
        other = sqlite3.connect(tmp_path / "chats.db", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(0.5, lambda: other.execute("COMMIT"))
        timer.start()
        database.append(tree, None, [Draft(Message.of("user", "x"))], "main")
        timer.join()
        other.close()


def test_a_writer_that_waited_in_vain_raises_a_store_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PATIENCE", 0.3)
    with connect(tmp_path / "chats.db") as database:
        tree = database.create_tree("talk").id
        with database._engine.connect() as pooled:
            pooled.exec_driver_sql("PRAGMA busy_timeout=50")
        other = sqlite3.connect(tmp_path / "chats.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        with pytest.raises(StoreError, match="locked"):
            database.append(tree, None, [Draft(Message.of("user", "x"))], "main")
        assert time.monotonic() - began < 10
        assert len(database.trees()) == 1  # readers do not wait for writers
        other.close()
        database.append(tree, None, [Draft(Message.of("user", "x"))], "main")
