"""What each part of the score does for work that goes on: old names that the next step uses and the request still holds.

Before each answer of a recorded session a request is made, as in life: compactions are kept. A name is a path, an
identifier, a number or a quotation (`ctxtree.passes.score.telling`) of the answer that was last said more than `AGE`
messages earlier; it counts if it stands anywhere in the request. Nothing is called back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ctxtree
from ctxtree import Budget, BudgetError, Message, Policy, Weights
from ctxtree.model import texts
from ctxtree.passes.score import telling

AGE = 12
"""Messages since a name was said from which on it is old."""
REACH = 8_000
"""Characters read of a message."""
BUDGETS = (16_000, 40_000)


def run(log: Path) -> list[dict[str, Any]]:
    """A row a budget: shares from 0 to 1 with all parts, and without each; `names` is how many were needed."""
    with ctxtree.connect(":memory:") as store:
        tree = store.tree(store.import_file(log).conversations[-1].tree)
        said = [node.message for node in tree.path()]
    rows = []
    for budget in BUDGETS:
        found = {"all": share(said, budget, Weights())}
        for part in Weights.model_fields:
            found[f"without {part}"] = share(said, budget, Weights(**{part: 0.0}))
        needed = found["all"][1]
        shares = {name: held / max(1, needed) for name, (held, _) in found.items()}
        rows.append({"log": log.name, "budget": budget, "names": needed, **shares})
    return rows


def share(said: Sequence[Message], budget: int, weights: Weights) -> tuple[int, int]:
    """Old names that were there, of those that were needed."""
    policy = Policy.agent(recall=False, weights=weights)
    last: dict[str, int] = {}
    held = needed = 0
    with ctxtree.connect(":memory:") as store:
        tree = store.tree("session")
        for at, message in enumerate(said):
            names = _names(message)
            old = (
                {name for name in names if at - last.get(name, at) > AGE}
                if message.role == "assistant"
                else set()
            )
            if old:
                there = _request(tree, budget, policy)
                needed += len(old)
                held += sum(name in there for name in old)
            last.update(dict.fromkeys(names, at))
            tree.append(message)
    return held, needed


def _request(tree: ctxtree.Tree, budget: int, policy: Policy) -> str:
    try:
        made = tree.compile(budget=Budget(budget), policy=policy)
    except BudgetError:
        return ""
    return json.dumps(made.payload, ensure_ascii=False).lower()


def _names(message: Message) -> set[str]:
    calls = [json.dumps(call.object, ensure_ascii=False) for call in message.calls]
    return set(telling("\n".join([*texts(message), *calls])[:REACH]))
