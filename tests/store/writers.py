"""What the other processes of the tests do; each function is the whole of one process."""

from __future__ import annotations

import multiprocessing
import sys
import warnings
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.synchronize import Barrier

import ctxtree
from ctxtree.model import Message
from ctxtree.store import connect
from ctxtree.store.records import Draft


def processes() -> ForkServerContext:
    """Starts processes that share nothing, from one that has imported the library already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ctxtree.store", "tests.store.warmed"])
    return context


def append_many(path: str, tree: int, writer: int, count: int) -> None:
    """Appends on a branch of its own from wherever it stands; every tenth time from where `main` stands now."""
    with connect(path) as database:
        head, branch = None, "main"
        for step in range(count):
            if step % 10 == 0:
                row = database.branch(tree, "main")
                head, branch = row.head if row else None, "main"
            made = database.append(tree, head, [Draft(Message.of("user", f"{writer} says {step}"))], branch)
            head, branch = made.nodes[-1].id, made.branch


def read_until(path: str, tree: int, wanted: int) -> None:
    """Reads paths until there are `wanted` nodes; exits with 1 if a path is ever broken."""
    with connect(path) as database:
        while True:
            for row in database.branches(tree):
                if row.head is not None:
                    path_read = database.path(tree, row.head)
                    if [node.parent for node in path_read] != [None, *[node.id for node in path_read[:-1]]]:
                        sys.exit(1)
            if len(database.links(tree)) >= wanted:
                return


def append_until_killed(path: str, tree: int, writer: int, acknowledged: Connection) -> None:
    """Appends for ever and sends each id after the call that stored it has returned."""
    with connect(path) as database:
        head, step = None, 0
        while True:
            drafts = [Draft(Message.of("user", f"{writer} {step} {part}")) for part in range(1 + step % 3)]
            made = database.append(tree, head, drafts, None).nodes
            head, step = made[-1].id, step + 1
            acknowledged.send([node.id for node in made])


def open_and_name(url: str, number: int) -> None:
    """Opens a store that may not be there yet and makes a tree that all make, and one of its own."""
    with connect(url) as database:
        database.create_tree("all")
        database.create_tree(f"own {number}")


def speak_from(url: str, name: str, who: str, count: int, start: Barrier) -> None:
    """Opens a tree, waits until all have, and says `count` things from where it stands; warned at most once."""
    with ctxtree.connect(url) as store:
        tree = store.tree(name)
        start.wait(60)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for step in range(count):
                tree.user(f"{who} {step}")
    sys.exit(len(told) > 1)
