"""Many processes that work on one store as agents do, and what is left when they are done.

python -m tests.store.team --seconds 60
"""

from __future__ import annotations

import argparse
import random
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from multiprocessing.connection import Connection

import ctxtree
from ctxtree import Budget, ConflictError, Tree
from ctxtree.store import connect

from .server import store_of
from .writers import processes

SHARED = "shared"
LEAST = 25  # steps of a worker, however slow the machine
BUDGET = Budget(1_200, reserve=100)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, by its name; nodes acknowledged and those of them lost; workers that failed."""

    done: dict[str, int]
    acknowledged: int
    lost: int
    failed: int
    problems: int
    slowest: float


def work(url: str, seconds: float, number: int, told: Connection) -> None:
    """One process: half of its steps on a tree that all share, half on a tree of its own."""
    chance = random.Random(number)
    done: Counter[str] = Counter()
    ids: dict[str, list[str]] = {SHARED: [], f"own {number}": []}
    slowest = 0.0
    with warnings.catch_warnings(), ctxtree.connect(url) as store:
        warnings.simplefilter("ignore")  # a branch that another process moved: the nodes went to a new one
        trees = {name: store.tree(name) for name in ids}
        store.tree(f"warm {number}").user("loads what counts tokens")
        store.tree(f"warm {number}").compile(budget=BUDGET)
        end = time.monotonic() + seconds
        step = 0
        while step < LEAST or time.monotonic() < end:
            step += 1
            name = SHARED if step % 2 else f"own {number}"
            began = time.monotonic()
            kind = _step(trees[name], chance, f"{number}.{step}", ids[name])
            slowest = max(slowest, time.monotonic() - began)
            done[kind] += 1
            if len(trees[name].path()) > 60:
                trees[name].fork(f"{number} from the start at {step}", at=trees[name].path()[0])
                done["fork"] += 1
    told.send((dict(done), ids, slowest))


def _step(tree: Tree, chance: random.Random, words: str, ids: list[str]) -> str:
    """Does one thing and says which; ids are added once the store has acknowledged them."""
    path = tree.path()
    match chance.choices(("append", "fork", "compile", "retry", "take"), (60, 8, 14, 8, 10))[0]:
        case "fork" if path:
            tree.fork(f"branch {words}", at=chance.choice(path))
            return "fork"
        case "compile" if path and path[-1].role == "user":
            made = tree.compile(budget=BUDGET)
            assert made.report.tokens <= BUDGET.window - BUDGET.reserve
            return "compile"
        case "retry" if path and path[-1].role == "assistant":
            tree.retry(f"attempt {words} gave nothing")
            return "retry"
        case "take" if path:
            # A name that several want: one gets it, the others are told.
            try:
                tree.fork(f"wanted {len(path)} {chance.randrange(3)}")
            except ConflictError:
                return "conflict"
            return "fork"
        case _:
            role = "assistant" if path and path[-1].role == "user" else "user"
            said = tree.user if role == "user" else tree.assistant
            ids.append(said(f"{words} says something about the plan and the tests. " * 3).id)
            return "append"


def run(url: str, seconds: float, workers: int = 8) -> Outcome:
    """Lets the workers run at once on the store at `url`, which they create too."""
    context = processes()
    started = []
    for number in range(workers):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(url, seconds, number, sender))
        process.start()
        sender.close()
        started.append((process, receiver))
    done: Counter[str] = Counter()
    told: dict[str, set[str]] = {}
    slowest = 0.0
    failed = 0
    for process, receiver in started:
        try:
            did, ids, longest = receiver.recv()
        except EOFError:
            failed += 1
        else:
            done.update(did)
            slowest = max(slowest, longest)
            for name, some in ids.items():
                told.setdefault(name, set()).update(some)
        process.join(60)
        receiver.close()
    with connect(url) as database:
        trees = {row.name: row.id for row in database.trees()}
        lost = sum(
            len(some - {identity for identity, _, _ in database.links(trees[name])})
            for name, some in told.items()
        )
        problems = len(database.verify())
    return Outcome(dict(done), sum(map(len, told.values())), lost, failed, problems, slowest)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    given = parser.parse_args()
    with store_of(given.engine) as url:
        outcome = run(url, given.seconds, given.workers)
    print(outcome)
    raise SystemExit(1 if outcome.lost or outcome.failed or outcome.problems else 0)


if __name__ == "__main__":
    main()
