"""`python -m benchmarks [WORK ...]`: runs the work, prints a table a workload, and writes JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterable
from datetime import date
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import ctxtree
from benchmarks import (
    ablation,
    backtrack,
    cache,
    chinese,
    fuzz,
    grow,
    knapsack,
    needed,
    once,
    peers,
    recall,
    scale,
    store,
)

Row = dict[str, Any]
Rows = list[Row]

SAME = ("who", "set", "watermarks", "log", "budget", "window", "messages", "asked", "not run")
"""Rows that agree in these are runs of one thing."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("work", nargs="*", choices=[*WORK, "all"], default=["all"])
    parser.add_argument("--peers", default="", help=f"comma-separated, or all: {', '.join(peers.PEERS)}")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--locomo", type=Path, help="a folder with the LoCoMo dialogues")
    parser.add_argument("--embedder", help="recall also with this embedder: wordllama")
    parser.add_argument("--crosswoz", type=Path, help="a folder with CrossWOZ's val_200.jsonl")
    parser.add_argument(
        "--log", type=Path, action="append", default=[], help="a real session, for cache and knapsack"
    )
    parser.add_argument("--calls", type=int, default=1_000, help="how many model calls `grow` makes")
    parser.add_argument("--messages", type=int, default=10_000, help="how many `once` stores")
    parser.add_argument("--runs", type=int, default=3, help="how often a timed workload is run")
    parser.add_argument("--nodes", type=int, default=1_000_000, help="of the large store, for scale")
    parser.add_argument("--url", default="", help="an empty PostgreSQL database, for scale; default SQLite")
    options = parser.parse_args()
    try:
        options.peers = peers.chosen(options.peers)
    except ValueError as unknown:
        parser.error(str(unknown))
    chosen = list(WORK) if "all" in options.work else options.work
    found: dict[str, Any] = {"machine": machine()}
    for name in chosen:
        rows = WORK[name](options)
        found[name] = rows
        print(
            f"\n## {name}\n\n{table(spread(rows)) if rows else 'not run: its data was not given'}", flush=True
        )
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(), "python": platform.python_version(), "system": platform.platform(),
        "ctxtree": ctxtree.__version__, "date": date.today().isoformat(),
    }  # fmt: skip


def _grow(options: argparse.Namespace) -> Rows:
    rows: Rows = []
    messages, steps = grow.work(options.calls)
    for budget in (8_000, 100_000):
        for _ in range(options.runs):
            ours = grow.run(options.calls, budget)
            job = peers.Job(messages, steps, budget)
            rows += _against(ours, options.peers, partial(peers.grow, job=job), "median")
    return rows


def _against(ours: Row, names: Iterable[str], theirs: Callable[[str], Row], figure: str) -> Rows:
    """Our row, and a row a peer with the ratio of the figure; why, where a peer could not be run."""
    rows = [ours]
    for name in names:
        try:
            row = theirs(name)
        except peers.Unavailable as problem:
            rows.append({"who": name, "not run": str(problem)})
        else:
            rows.append({**row, "ctxtree / peer": ours[figure] / row[figure] if row[figure] else inf})
    return rows


def _once(options: argparse.Namespace) -> Rows:
    asked = ("", "what did we decide about the cache?")
    return [once.run(options.messages, words=words) for _ in range(options.runs) for words in asked]


def _recall(options: argparse.Namespace) -> Rows:
    rows: Rows = []
    if not options.locomo:
        return rows
    for group, names in (("tuning", recall.TUNING), ("held out", recall.HELD_OUT)):
        theirs = partial(recall.run_peer, data=options.locomo, names=names)
        ours = _flat(recall.run(options.locomo, names))
        found = _against(ours, options.peers, lambda name, theirs=theirs: _flat(theirs(name)), "4000")
        if options.embedder:
            fused = recall.run(options.locomo, names, embedder=options.embedder)
            found.append({"who": f"ctxtree, {options.embedder}", **_flat(fused)})
        rows += [{"set": group, **row} for row in found]
    return rows


def _cache(options: argparse.Namespace) -> Rows:
    rows: Rows = []
    for log in options.log:
        ours, *planned = cache.rows(log)
        rows += [*_against(ours, options.peers, partial(cache.run_peer, log=log), "cost"), *planned]
    return rows


def _ablation(options: argparse.Namespace) -> Rows:
    rows = [_flat(ablation.run(options.locomo))] if options.locomo else []
    return [*rows, *(row for log in options.log for row in needed.run(log))]


def _flat(found: dict[str, Any]) -> dict[str, Any]:
    """The figures in `recall` beside the others."""
    rest = {name: value for name, value in found.items() if name != "recall"}
    return {**rest, **{str(name): value for name, value in found["recall"].items()}}


WORK: dict[str, Callable[[argparse.Namespace], Rows]] = {
    "grow": _grow,
    "once": _once,
    "recall": _recall,
    "ablation": _ablation,
    "chinese": lambda options: [chinese.run(options.crosswoz)] if options.crosswoz else [],
    "cache": _cache,
    "knapsack": lambda options: [knapsack.run(options.log)] if options.log else [],
    "store": lambda options: [store.run() for _ in range(options.runs)],
    "unique": lambda options: [store.unique() for _ in range(options.runs)],
    "scale": lambda options: [scale.run(options.nodes, max(1, options.nodes // 100), options.url)],
    "deep": lambda options: [scale.deep(url=options.url)],
    "backtrack": lambda _options: backtrack.run(),
    "fuzz": lambda _options: [fuzz.run()],
}


def spread(rows: Rows) -> Rows:
    """A row for all runs of one thing, in the order of the first: a figure that differs is given least to most."""
    runs: dict[tuple[Any, ...], Rows] = {}
    for row in rows:
        runs.setdefault(tuple(row.get(name) for name in SAME), []).append(row)
    return [{name: _range([one[name] for one in group]) for name in group[0]} for group in runs.values()]


def _range(values: list[Any]) -> Any:
    ends = [_cell(min(values)), _cell(max(values))] if isinstance(values[0], int | float) else []
    return values[0] if len(set(ends)) < 2 else " to ".join(ends)


def table(rows: Rows) -> str:
    """A Markdown table; columns in the order in which they first come up."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [names, ["---"] * len(names), *([_cell(row.get(name, "")) for name in names] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


if __name__ == "__main__":
    main()
