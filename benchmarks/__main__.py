"""`python -m benchmarks [WORK ...]`: runs the work, prints a table a workload, and writes JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import ctxtree
from benchmarks import ablation, cache, chinese, fuzz, grow, knapsack, once, peers, recall, store

Rows = list[dict[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("work", nargs="*", choices=[*WORK, "all"], default=["all"])
    parser.add_argument("--peers", default="", help=f"comma-separated: {', '.join(peers.PEERS)}")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--locomo", type=Path, help="a folder with the LoCoMo dialogues")
    parser.add_argument("--embedder", help="recall also with this embedder: wordllama")
    parser.add_argument("--crosswoz", type=Path, help="a folder with CrossWOZ's val_200.jsonl")
    parser.add_argument(
        "--log", type=Path, action="append", default=[], help="a real session, for cache and knapsack"
    )
    parser.add_argument("--runs", type=int, default=3, help="how often a timed workload is run")
    options = parser.parse_args()
    chosen = list(WORK) if "all" in options.work else options.work
    found: dict[str, Any] = {"machine": machine()}
    for name in chosen:
        rows = WORK[name](options)
        found[name] = rows
        print(f"\n## {name}\n\n{table(rows) if rows else 'not run: its data was not given'}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(), "python": platform.python_version(), "system": platform.platform(),
        "ctxtree": ctxtree.__version__, "date": date.today().isoformat(),
    }  # fmt: skip


def _grow(options: argparse.Namespace) -> Rows:
    rows: Rows = []
    for budget in (8_000, 100_000):
        for _ in range(options.runs):
            ours = {"who": "ctxtree", **grow.run(budget=budget)}
            rows.append(ours)
            for name in filter(None, options.peers.split(",")):
                theirs = peers.grow(name, budget=budget)
                rows.append({"who": name, **theirs, "ctxtree / peer": ours["mean"] / theirs["mean"]})
    return rows


def _once(options: argparse.Namespace) -> Rows:
    asked = ("", "what did we decide about the cache?")
    return [once.run(words=words) for _ in range(options.runs) for words in asked]


def _recall(options: argparse.Namespace) -> Rows:
    if not options.locomo:
        return []
    groups = (("tuning", recall.TUNING), ("held out", recall.HELD_OUT))
    embedders = (None, options.embedder) if options.embedder else (None,)
    return [
        {
            "set": name,
            "embedder": embedder or "",
            **_flat(recall.run(options.locomo, names, embedder=embedder)),
        }
        for embedder in embedders
        for name, names in groups
    ]


def _ablation(options: argparse.Namespace) -> Rows:
    return [_flat(ablation.run(options.locomo))] if options.locomo else []


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
    "cache": lambda options: [row for log in options.log for row in cache.rows(log)],
    "knapsack": lambda options: [knapsack.run(options.log)] if options.log else [],
    "store": lambda options: [store.run() for _ in range(options.runs)],
    "fuzz": lambda _options: [fuzz.run()],
}


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
