"""The store: what a durable append costs, and how large the file is beside the text in it."""

from __future__ import annotations

import tempfile
from itertools import islice
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import Any

import ctxtree
from benchmarks.work import conversation


def run(messages: int = 5_000) -> dict[str, Any]:
    """Milliseconds an append, one transaction each; the file's bytes over those of the unique text."""
    times: list[float] = []
    texts: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        with ctxtree.connect(path) as store:
            tree = store.tree("store")
            for message in islice(conversation(messages), messages):
                start = perf_counter()
                tree.append(message)
                times.append(perf_counter() - start)
                texts.add(message["content"])
                texts.update(call["function"]["arguments"] for call in message.get("tool_calls", ()))
        size = path.stat().st_size
    text = sum(len(one.encode()) for one in texts)
    return {
        "messages": len(times),
        "append mean": 1_000 * mean(times),
        "append median": 1_000 * median(times),
        "bytes of text": text,
        "bytes of file": size,
        "file / text": size / text,
    }
