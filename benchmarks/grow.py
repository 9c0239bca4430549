"""A growing conversation: a compile before every model call, everything on, a store on disk.

What would be sent at each call is judged, outside of what is timed: over the budget by the exact count, or refused.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import Any

import ctxtree
from benchmarks.work import conversation
from ctxtree import Budget
from ctxtree.tokens import REPLY_TOKENS
from tests.validity import violations

Json = dict[str, Any]

PICKY = {"first message not user", "no user turn"}
"""Faults that OpenAI lets pass and others refuse."""
EDGE = 50
"""Calls at each end that the growth is taken from."""


def work(calls: int) -> tuple[list[Json], list[int]]:
    """The messages, and the places before which the model is called."""
    messages = list(conversation(calls))
    return messages, [at for at, message in enumerate(messages) if message["role"] == "assistant"]


def run(calls: int = 1_000, budget: int = 8_000) -> Json:
    """Milliseconds a compile and an append, and how the last compiles compare with the first."""
    times: list[float] = []
    appends: list[float] = []
    requests: list[list[Json]] = []
    with tempfile.TemporaryDirectory() as folder, ctxtree.connect(Path(folder) / "grow.db") as store:
        tree = store.tree("grow")
        for message in conversation(calls):
            if message["role"] == "assistant":
                start = perf_counter()
                made = tree.compile(budget=Budget(budget), target="openai.chat")
                times.append(perf_counter() - start)
                requests.append(made.payload["messages"])
            start = perf_counter()
            tree.append(message)
            appends.append(perf_counter() - start)
    return {
        "who": "ctxtree", "version": ctxtree.__version__, "tokens": "its own, exact", "budget": budget,
        **figures(times), **judged(requests, budget), "append": 1_000 * mean(appends),
    }  # fmt: skip


def judged(requests: Iterable[Sequence[Json]], budget: int) -> Json:
    """How many requests cost more than the budget, are refused everywhere, or by providers with stricter rules.

    An empty request is refused everywhere. Each message is counted once, however often it is sent.
    """
    over, refused, picky = 0, 0, 0
    sizes: dict[str, int] = {}
    for messages in requests:
        over += REPLY_TOKENS + sum(_size(message, sizes) for message in messages) > budget
        faults = set(violations("openai.chat", {"messages": messages}))
        worse = not messages or bool(faults - PICKY)
        refused += worse
        picky += bool(faults) and not worse
    return {"over budget": over, "refused": refused, "refused by some": picky}


def _size(message: Json, sizes: dict[str, int]) -> int:
    key = json.dumps(message, ensure_ascii=False)
    if key not in sizes:
        sizes[key] = ctxtree.count([message]) - REPLY_TOKENS
    return sizes[key]


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
