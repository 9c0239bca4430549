"""What a real coding session costs under prompt caching: a compile before each assistant message, one window.

A request is priced by the exact common prefix of its JSON with the request before: tokens in it cost `READ`,
the rest `WRITE`, of what an uncached token costs. The same session sent whole at each step, at the same prices
and without a limit, is 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat, takewhile
from pathlib import Path
from typing import Any

import ctxtree
from benchmarks import peers
from benchmarks.grow import judged
from ctxtree import Budget, Message, Policy, Prices, WatermarkPlan
from ctxtree.render import plain

READ, WRITE = 0.1, 1.25
WINDOW = 40_000


OBSERVED = 50
"""Steps at the start of a session whose growth the planner is shown."""


KEPT = (0.5, 0.4)
"""Shares that the planner must leave: that of the default watermarks, and its own default."""


def rows(log: Path, window: int = WINDOW) -> list[dict[str, Any]]:
    """The default watermarks, and those of the planner for the growth of the first `OBSERVED` steps at the same prices."""
    path = _path(log)
    found = [run(log, window)]
    for keep in KEPT:
        plan = _plan(path, window, keep)
        told = f"plan: break-even {plan.break_even} of {plan.requests} requests"
        found.append({**run(log, budget=plan.budget), "watermarks": told})
    return found


def _plan(path: Sequence[Message], window: int, keep: float) -> WatermarkPlan:
    steps = [at for at, message in enumerate(path) if message.role == "assistant"][:OBSERVED]
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("start")
        tree.extend(path[: steps[-1] + 1])
        return tree.plan(window, Prices(read=READ, write=WRITE), policy=Policy.agent(), keep=keep)


def run(
    log: Path, window: int = WINDOW, policy: Policy | None = None, budget: Budget | None = None
) -> dict[str, Any]:
    """Costs as shares of sending everything; `breaks` counts requests whose prefix is not that of the one before."""
    path = _path(log)
    budget = budget or Budget(window)
    window = budget.window
    session = _Session(
        [_pieces(plain([message], "openai.chat")) for message in path],
        [ctxtree.count([message]) for message in path],
        [message.role == "tool" for message in path],
        [at for at, message in enumerate(path) if message.role == "assistant" and at],
    )
    steps = session.steps
    whole = priced(session.requests(repeat(0, len(steps))))
    ours, compactions, breaks, between = _ours(path, steps, budget, policy or Policy.agent())
    return {
        "log": log.name,
        "who": "ctxtree",
        "version": ctxtree.__version__,
        "tokens": "its own, exact",
        "steps": len(steps),
        "window": window,
        "watermarks": "default",
        "high": budget.high,
        "low": budget.low,
        "cost": ours / whole,
        "compactions": compactions,
        "breaks": breaks,
        "breaks between compactions": between,
        "sliding window": priced(session.requests(_sliding(session, window))) / whole,
        "cut to half at once": priced(session.requests(_halving(session, window))) / whole,
    }


def run_peer(name: str, log: Path, window: int = WINDOW) -> dict[str, Any]:
    """Costs as in `run` of what a peer would send; the whole is that of the steps that the peer came to.

    Requests without a user's message are counted: they are cheap and of no use. Refusals are not: a recorded
    session has faults of its own.
    """
    messages = [_words(one) for message in _path(log) for one in plain([message], "openai.chat")]
    steps = [at for at, message in enumerate(messages) if message["role"] == "assistant" and at]
    version, (done,) = peers.ask(name, [peers.Job(messages, steps, window)])
    asked = steps[: len(done.requests)]
    whole = priced(_pieces(messages[:at]) for at in asked)
    return {
        "log": log.name,
        **peers.head(name, version),
        "steps": len(asked),
        "window": window,
        "cost": priced(map(_pieces, done.requests)) / whole,
        "breaks": breaks(map(_pieces, done.requests)),
        "no user message": sum(all(one["role"] != "user" for one in sent) for sent in done.requests),
        "over budget": judged(done.requests, window)["over budget"],
    }


def _words(message: dict[str, Any]) -> dict[str, Any]:
    """The message with its texts as one string, which every peer takes; media are left out."""
    content = message.get("content") or ""
    texts = [content] if isinstance(content, str) else [one.get("text", "") for one in content]
    return {**message, "content": "\n".join(texts)}


def breaks(requests: Iterable[list[str]]) -> int:
    """How many requests do not start with all of the one before."""
    found, before = 0, list[str]()
    for pieces in requests:
        found += _common(before, pieces) < len(before)
        before = pieces
    return found


def _path(log: Path) -> list[Message]:
    with ctxtree.connect(":memory:") as store:
        name = store.import_file(log).conversations[-1].tree
        return [node.message for node in store.tree(name).path()]


def _ours(
    path: Sequence[Message], steps: Sequence[int], budget: Budget, policy: Policy
) -> tuple[float, int, int, int]:
    cost, compactions, breaks, between = 0.0, 0, 0, 0
    before: list[str] = []
    todo = set(steps)
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("session")
        for at, message in enumerate(path):
            if at in todo:
                made = tree.compile(budget=budget, target="openai.chat", policy=policy)
                pieces = _pieces(made.payload["messages"])
                kept = _common(before, pieces)
                compacted = made.report.compaction is not None
                compactions += compacted
                broken = kept < len(before)
                breaks += broken
                between += broken and not compacted
                cost += _price(pieces, kept)
                before = pieces
            tree.append(message)
    return cost, compactions, breaks, between


def _pieces(messages: Any) -> list[str]:
    """A request in the smallest parts that a cache can end at: content blocks, each with its role."""
    found = []
    for message in messages:
        content = message.get("content") or []
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        rest = {name: value for name, value in message.items() if name != "content"}
        found += [json.dumps([message["role"], block], ensure_ascii=False) for block in blocks]
        found += [json.dumps(rest, ensure_ascii=False)] if len(rest) > 1 else []
    return found


@dataclass(frozen=True, slots=True)
class _Session:
    """The whole session: its messages as pieces, their tokens, and whether each is a tool's."""

    parts: list[list[str]]
    sizes: list[int]
    tools: list[bool]
    steps: list[int]

    def after_results(self, start: int, end: int) -> int:
        """The first place from `start` on that is no lone result."""
        while start < end and self.tools[start]:
            start += 1
        return start

    def requests(self, starts: Iterator[int]) -> Iterator[list[str]]:
        return (_joined(self.parts[start:at]) for start, at in zip(starts, self.steps, strict=True))


def _sliding(session: _Session, window: int) -> Iterator[int]:
    """Where each request starts: as many of the newest messages as fit."""
    for at in session.steps:
        start, used = at, 0
        while start and used + session.sizes[start - 1] <= window:
            start -= 1
            used += session.sizes[start]
        yield session.after_results(start, at)


def _halving(session: _Session, window: int) -> Iterator[int]:
    """Where each request starts: when it passes the window, the start moves until half is left."""
    start = 0
    for at in session.steps:
        if sum(session.sizes[start:at]) > window:
            while start < at - 1 and sum(session.sizes[start:at]) > window // 2:
                start += 1
            start = session.after_results(start, at - 1)
        yield start


def priced(requests: Iterable[list[str]]) -> float:
    """What the requests cost one after the other, in uncached tokens."""
    cost = 0.0
    before: list[str] = []
    for pieces in requests:
        cost += _price(pieces, _common(before, pieces))
        before = pieces
    return cost


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    return sum(1 for _ in same)


def _joined(parts: Sequence[list[str]]) -> list[str]:
    return [piece for message in parts for piece in message]


def _price(pieces: Sequence[str], kept: int) -> float:
    sizes = [_size(piece) for piece in pieces]
    return READ * sum(sizes[:kept]) + WRITE * sum(sizes[kept:])


_SIZES: dict[str, int] = {}


def _size(piece: str) -> int:
    if piece not in _SIZES:
        _SIZES[piece] = ctxtree.count(piece)
    return _SIZES[piece]
