"""A large store: what loading and using it costs, and a fork in a long tree, on SQLite or PostgreSQL."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from sqlalchemy import Column, Connection, Table, insert, select

import ctxtree
from ctxtree import Budget, Message, Store
from ctxtree.model import Node
from ctxtree.store import dialects
from ctxtree.store.schema import branches, moves
from ctxtree.store.schema import nodes as nodes_table
from ctxtree.store.schema import trees as trees_table

BLOCK = 100  # trees that are loaded one by one
SAMPLE = 40  # trees in which each thing is done once
WORDS = [
    "the",
    "a",
    "plan",
    "cache",
    "index",
    "error",
    "test",
    "build",
    "deploy",
    "table",
    "query",
    "branch",
    "merge",
    "user",
    "file",
    "line",
    "fails",
    "works",
    "because",
    "after",
    "before",
    "should",
    "could",
    "read",
    "write",
    "store",
    "token",
    "model",
    "request",
    "answer",
    "server",
    "client",
    "time",
]


def run(nodes: int = 1_000_000, trees: int = 10_000, url: str = "") -> dict[str, Any]:
    """Nodes a second, bytes a node, and milliseconds (medians of first calls of new handles).

    The first hundred trees are loaded as an import loads them; the others are their rows again, under
    other numbers. Ten further trees show what loading costs once the store is full.
    """
    each = nodes // trees
    with _store(url) as (store, size):
        first = _rate(store, range(min(trees, BLOCK)), each)
        start = perf_counter()
        for block in range(BLOCK, trees, BLOCK):
            _repeat(store, block, each)
        copied = perf_counter() - start
        bytes_ = size()
        last = _rate(store, range(trees, trees + 10), each)
        chosen = random.Random(5).sample(range(trees), min(SAMPLE, trees))
        names = [f"tree {number}" for number in chosen]
        store.tree(names[0]).compile(budget=Budget(2_000))  # loads what counts tokens
        return {
            "engine": store._database._engine.dialect.name,
            "nodes": nodes,
            "trees": trees,
            "loaded a second": first,
            "in the full store": last,
            "copying s": copied,
            "bytes a node": bytes_ / nodes,
            "open tree": _times(names, lambda name: store.tree(name).head),
            "append": _times(names, lambda name: store.tree(name).user("one more")),
            "compile": _times(names, lambda name: store.tree(name).compile(budget=Budget(2_000))),
            "branches": _times(names, lambda name: store.tree(name).branches()),
            "find": _times(names, lambda name: store.tree(name).find("go back to the cache plan")),
            "list trees": _times([""], lambda _: store.trees()),
        }


def deep(nodes: int = 100_000, forks: int = 100, url: str = "") -> dict[str, Any]:
    """One tree, one path: milliseconds and bytes of a fork at its tip and in its middle."""
    with _store(url) as (store, size):
        load(store, "deep", nodes, 1)
        tree = store.tree("deep")
        tip = tree.path()[-1]
        middle = tree.path()[nodes // 2]
        figures: dict[str, Any] = {"engine": store._database._engine.dialect.name, "nodes": nodes}
        for name, at in (("tip", tip), ("middle", middle)):
            before = size()
            figures[f"fork at {name}"] = _times(
                [f"{name} {number}" for number in range(forks)], lambda fork, at=at: tree.fork(fork, at=at)
            )
            figures[f"bytes, {name}"] = (size() - before) / forks
        return figures


def load(store: Store, name: str, nodes: int, seed: int) -> None:
    """A tree of one branch, stored in one transaction as an import stores it."""
    database = store._database

    def work() -> None:
        tree = database.create_tree(name).id
        made = list(_chain(nodes, seed))
        database.insert(tree, made)
        database.move(tree, "main", None, made[-1].id)

    database.together(work, writing=True)


def _rate(store: Store, numbers: range, each: int) -> float:
    """Loads these trees; nodes a second."""
    start = perf_counter()
    for number in numbers:
        load(store, f"tree {number}", each, number)
    return each * len(numbers) / (perf_counter() - start)


def _repeat(store: Store, by: int, each: int) -> None:
    """Adds the first `BLOCK` trees once more, as trees numbered higher `by` that."""
    database = store._database

    def work(connection: Connection) -> None:
        first, _ = dialects.room(connection, 1)
        beyond, _ = dialects.room(connection, 1 + by)
        seqs = beyond - first or by * each
        for table in (nodes_table, branches, moves):
            columns = [_moved(table, column, by, seqs) for column in table.c]
            old = select(*columns).where(table.c.tree <= BLOCK)
            connection.execute(insert(table).from_select([column.name for column in table.c], old))
        rows = [
            {"id": by + number, "name": f"tree {by + number - 1}".encode(), "active": b"main", "created": 0}
            for number in range(1, BLOCK + 1)
        ]
        connection.execute(insert(trees_table), rows)

    database._write(work, dialects.STORE)


def _moved(table: Table, column: Column[Any], trees: int, seqs: int) -> Any:
    if column.name == "tree":
        return column + trees
    numbers = {"seq", "parent", "same"} if table is nodes_table else {"head", "fork", "old", "new"}
    return column + seqs if column.name in numbers else column


def _chain(nodes: int, seed: int) -> Iterator[Node]:
    """Messages of about 200 characters, user and assistant in turn."""
    chance = random.Random(seed)
    above: tuple[str, ...] = ()
    for number in range(nodes):
        words = " ".join(chance.choices(WORDS, k=36))
        message = Message.of("assistant" if number % 2 else "user", f"{number} {words}")
        node = Node.make(message, above, 0, None)
        above = (node.id,)
        yield node


def _times(names: list[str], work: Callable[[str], Any]) -> float:
    """The median of milliseconds."""
    taken = []
    for name in names:
        start = perf_counter()
        work(name)
        taken.append(perf_counter() - start)
    return 1_000 * median(taken)


@contextmanager
def _store(url: str) -> Iterator[tuple[Store, Callable[[], int]]]:
    """An empty store and what tells its bytes: a file, or the database at `url`, which must be empty."""
    with tempfile.TemporaryDirectory() as folder, ctxtree.connect(url or Path(folder) / "s.db") as store:
        yield store, lambda: _size(store)


def _size(store: Store) -> int:
    """Bytes of the database; SQLite's log is folded in first."""
    with store._database._engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            return Path(str(store._database.url.database)).stat().st_size
        size = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
        ours = f"{size} AND relnamespace = current_schema()::regnamespace"
        return int(connection.exec_driver_sql(ours).scalar_one())
