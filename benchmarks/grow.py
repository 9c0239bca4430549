"""A growing conversation: a compile before every model call, everything on, a store on disk."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import Any

import ctxtree
from benchmarks.work import conversation
from ctxtree import Budget

EDGE = 50
"""Calls at each end that the growth is taken from."""


def run(calls: int = 1_000, budget: int = 8_000) -> dict[str, Any]:
    """Milliseconds a compile and an append, and how the last compiles compare with the first."""
    times: list[float] = []
    appends: list[float] = []
    with tempfile.TemporaryDirectory() as folder, ctxtree.connect(Path(folder) / "grow.db") as store:
        tree = store.tree("grow")
        for message in conversation(calls):
            if message["role"] == "assistant":
                start = perf_counter()
                made = tree.compile(budget=Budget(budget))
                times.append(perf_counter() - start)
                if made.report.tokens > budget:
                    raise AssertionError(f"{made.report.tokens} tokens at a budget of {budget}")
            start = perf_counter()
            tree.append(message)
            appends.append(perf_counter() - start)
    return {"budget": budget, **figures(times), "append": 1_000 * mean(appends)}


def figures(times: list[float]) -> dict[str, Any]:
    """Seconds a call as milliseconds; the first call, which loads what is needed, stands apart."""
    first, rest = times[0], times[1:]
    ordered = sorted(rest)
    return {
        "calls": len(times),
        "mean": 1_000 * mean(rest),
        "median": 1_000 * median(rest),
        "p99": 1_000 * ordered[int(0.99 * len(ordered))],
        "last / first": mean(rest[-EDGE:]) / mean(rest[:EDGE]),
        "first call": 1_000 * first,
    }
