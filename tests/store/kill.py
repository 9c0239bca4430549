"""Kills writers at any moment and looks whether a store lost what it had acknowledged.

python -m tests.store.kill --times 200
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from ctxtree.store import connect

from .server import store_of
from .writers import append_until_killed, processes


@dataclass(frozen=True, slots=True)
class Outcome:
    """Kills made, nodes acknowledged, nodes of those that were lost, nodes found, problems told by verify."""

    kills: int
    acknowledged: int
    lost: int
    found: int
    problems: int


def kill_writers(path: str, times: int, seed: int = 1) -> Outcome:
    """Two writers at a time on one tree; one is killed with SIGKILL and replaced, `times` times."""
    chance = random.Random(seed)
    with connect(path) as database:
        tree = database.create_tree("talk").id
    writers = [_start(path, tree, number) for number in range(2)]
    told: list[str] = []
    try:
        for process, receiver in writers:
            told += _wait(process, receiver)
        for kill in range(times):
            time.sleep(chance.random() * 0.02)
            process, receiver = writers[kill % 2]
            process.kill()
            process.join()
            told += _drain(receiver)
            writers[kill % 2] = _start(path, tree, kill + 2)
            told += _wait(*writers[kill % 2])
    finally:
        for process, _ in writers:
            process.kill()
            process.join()
    for _, receiver in writers:
        told += _drain(receiver)
    return _outcome(path, tree, times, told)


def _start(path: str, tree: int, number: int) -> tuple[BaseProcess, Connection]:
    context = processes()
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=append_until_killed, args=(path, tree, number, sender))
    process.start()
    sender.close()
    return process, receiver


def _wait(process: BaseProcess, receiver: Connection) -> list[str]:
    """The first acknowledgement: from now on the writer can be hit in the middle of its work."""
    if not receiver.poll(60):
        raise TimeoutError(f"writer {process.pid} stored nothing in 60 seconds")
    return list(receiver.recv())


def _drain(receiver: Connection) -> list[str]:
    return [identity for ids in _received(receiver) for identity in ids]


def _received(receiver: Connection) -> Iterator[list[str]]:
    """What a killed writer had sent; its last message may have been cut short."""
    try:
        while True:
            yield receiver.recv()
    except (EOFError, OSError):
        receiver.close()


def _outcome(path: str, tree: int, times: int, told: list[str]) -> Outcome:
    with connect(path) as database:
        stored = {identity for identity, _, _ in database.links(tree)}
        problems = database.verify()
    return Outcome(times, len(told), len(set(told) - stored), len(stored), len(problems))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    given = parser.parse_args()
    with store_of(given.engine) as url:
        began = time.perf_counter()
        outcome = kill_writers(url, given.times, given.seed)
        print(outcome, f"in {time.perf_counter() - began:.1f} s")
    raise SystemExit(1 if outcome.lost or outcome.problems else 0)


if __name__ == "__main__":
    main()
