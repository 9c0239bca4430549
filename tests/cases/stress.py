"""Several processes that write to one conversation, and one that compiles it all the while."""

from __future__ import annotations

import sys
import tempfile
import warnings
from multiprocessing.synchronize import Event
from pathlib import Path

import ctxtree
from ctxtree import TargetError
from tests.store.writers import processes
from tests.validity import violations

NAME = "shared"


def write(url: str, who: int, count: int) -> None:
    """One writer: user and assistant by turns, from wherever it stands."""
    with warnings.catch_warnings(), ctxtree.connect(url) as store:
        warnings.simplefilter("ignore")  # the branch had moved: the node is on a new one
        tree = store.tree(NAME)
        for step in range(count):
            (tree.assistant if step % 2 else tree.user)(f"{who} says {step}")


def read(url: str, done: Event) -> None:
    """The reader: exits with 1 at the first request that breaks a rule."""
    with ctxtree.connect(url) as store:
        while not done.is_set():
            try:
                made = store.tree(NAME).compile(budget=2_000)
            except TargetError:
                continue  # nobody has spoken yet
            if violations("openai.chat", made.payload):
                sys.exit(1)


def run(writers: int, appends: int) -> list[str]:
    """What is wrong with the store when all have ended."""
    with tempfile.TemporaryDirectory() as folder:
        url = str(Path(folder) / "stress.db")
        with ctxtree.connect(url) as store:
            store.tree(NAME)
        done = processes().Event()
        reader = processes().Process(target=read, args=(url, done))
        started = [processes().Process(target=write, args=(url, who, appends)) for who in range(writers)]
        for process in (*started, reader):
            process.start()
        for process in started:
            process.join(300)
        done.set()
        reader.join(60)
        failed = [process.name for process in (*started, reader) if process.exitcode != 0]
        return [f"{name} failed" for name in failed] + _missing(url, writers, appends)


def _missing(url: str, writers: int, appends: int) -> list[str]:
    with ctxtree.connect(url) as store:
        tree = store.tree(NAME)
        said = [tree.node(identity).text for identity in tree.graph().nodes]
        wanted = {f"{who} says {step}" for who in range(writers) for step in range(appends)}
        wrong = [] if len(said) == len(wanted) else [f"{len(said)} nodes for {len(wanted)} appends"]
        lost = wanted - set(said)
        reached = {node.id for row in tree.branches() for node in tree.path(row.head) if row.head}
        wrong += [f"{len(lost)} lost"] if lost else []
        wrong += ["nodes on no branch"] if reached != set(tree.graph().nodes) else []
        return wrong + [f"{problem.code}: {problem.message}" for problem in store.verify()]
