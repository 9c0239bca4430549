"""Budgets in words.

`full`, a sweep, `forces summary …`, `fits all but X`, `X,Y do not fit`, `smaller than X`, `drop first turn`,
`room for one earlier exchange`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ctxtree import Budget, BudgetError, Context, Tree


class Unsupported(Exception):
    """An operation or a phrase that the runner does not know; the message names it."""


def windows(phrase: Any, tree: Tree, ids: dict[str, str], ask: dict[str, Any]) -> Iterator[int]:
    """The windows, in tokens, that a phrase means for this path."""
    if phrase is None or phrase == "full":
        yield 200_000
        return
    if isinstance(phrase, int):
        yield phrase
        return
    full = tree.compile(budget=Budget(4_000_000), record=False, **ask)
    whole = int(full.report.tokens * full.report.counter.factor) + 1
    costs = {node: item.tokens for item in full.report.items for node in item.nodes}
    named = [ids[word] for word in re.findall(r"[A-Za-z]\w*", phrase) if word in ids]
    if phrase.startswith("sweep"):
        yield from range(whole, max(0, _least(tree, ask) - 2), -1)
    elif phrase.startswith("forces summary"):
        yield max(_least(tree, ask) + 120, whole // 2)
    elif phrase.startswith("fits all but") and named:
        yield whole - costs.get(named[0], 0) + 40
    elif phrase.endswith("do not fit") and named:
        yield whole - sum(costs.get(node, 0) for node in named) + 40
    elif phrase == "drop first turn":
        yield whole - sum(_turns(full, tree)[0]) + 4
    elif phrase == "room for one earlier exchange":
        yield sum(map(sum, _turns(full, tree)[-2:])) + full.report.budget.overhead + 4
    elif phrase.startswith("smaller than"):
        yield max(8, max(costs.values(), default=16) // 2)
    else:
        raise Unsupported(f"budget {phrase!r}")


def _turns(full: Context, tree: Tree) -> list[list[int]]:
    """The tokens of each node, turn by turn: a user message and all that follows it."""
    turns: list[list[int]] = []
    roles = {node.id: node.role for node in tree.path()}
    for item in full.report.items:
        if item.nodes and item.kind in ("message", "exchange"):
            if roles.get(item.nodes[0]) == "user" or not turns:
                turns.append([])
            turns[-1].append(item.tokens)
    return turns


def _least(tree: Tree, ask: dict[str, Any]) -> int:
    try:
        made = tree.compile(budget=Budget(1), record=False, **ask)
    except BudgetError as error:
        return error.needed
    return made.report.tokens
