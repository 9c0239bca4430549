"""One compile of a long stored conversation: in a new process, and again."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import ctxtree
from benchmarks.work import conversation
from ctxtree import Budget

CHUNK = 2_000


def run(messages: int = 10_000, budget: int = 8_000, words: str = "") -> dict[str, Any]:
    """Seconds; `cold` is from opening the store, after the import. With `words` as the input the history is searched.

    `MB` is the most that the process held, `MB imported` the same before the store was opened.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "once.db"
        start = perf_counter()
        with ctxtree.connect(path) as store:
            tree = store.tree("once")
            said = islice(conversation(messages), messages)
            while chunk := list(islice(said, CHUNK)):
                tree.extend(chunk)
            stored = perf_counter() - start
            tree.compile(budget=Budget(budget))  # the compaction is recorded; what follows finds it
        call = [sys.executable, "-m", "benchmarks.once", str(path), str(budget), words]
        timed = json.loads(subprocess.run(call, capture_output=True, text=True, check=True).stdout)
    return {"messages": messages, "budget": budget, "asked": bool(words), "store all": stored, **timed}


def main(path: str, budget: int, words: str) -> None:
    """Prints the times and the memory of this process as JSON."""
    ask: dict[str, Any] = {"budget": Budget(budget), "input": words or None, "record": False}
    imported = _megabytes()
    start = perf_counter()
    with ctxtree.connect(path) as store:
        tree = store.tree()
        tree.compile(**ask)
        cold = perf_counter() - start
        times = []
        for _ in range(5):
            start = perf_counter()
            tree.compile(**ask)
            times.append(perf_counter() - start)
    print(json.dumps({"cold": cold, "warm": sorted(times)[2], "MB": _megabytes(), "MB imported": imported}))


def _megabytes() -> float:
    """The most memory that this process held so far.

    On Linux `ru_maxrss` starts with what the parent held when it forked, so the kernel's own mark is read there.
    Elsewhere it is bytes on macOS and KB on the others.
    """
    marks = Path("/proc/self/status")
    if marks.exists():
        line = next(line for line in marks.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 2**10
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
