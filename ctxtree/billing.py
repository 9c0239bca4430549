"""Usage that was recorded: held against the compile it answers, summed over paths, learned from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ctxtree import memory
from ctxtree.compiler import Context
from ctxtree.counter import TextCounter
from ctxtree.gather import Ask
from ctxtree.history import History
from ctxtree.model import Node
from ctxtree.saying import object_of
from ctxtree.store.records import TurnRow
from ctxtree.usage import Learned, Used

LOOKED_AT = 64
"""Turns searched for the one that made a given context."""


def model_key(ask: Ask) -> str:
    """What a factor is learned for: the target, and the model or counter that was asked for."""
    return f"{ask.target} {getattr(ask.counter, 'asked', '') or ask.counter.name}"


def calibrated(history: History, ask: Ask) -> Ask:
    """The ask with the factor and bound that recorded usage gives its counter."""
    if not isinstance(ask.counter, TextCounter):
        return ask
    learned = Learned.read(history.database.learned(model_key(ask)))
    if not learned.weight:
        return ask
    factor, bound = ask.counter.factor, ask.counter.bound
    return replace(ask, counter=ask.counter.calibrated(learned.factor(factor), learned.bound(factor, bound)))


def record(history: History, path: Sequence[Node], usage: Mapping[str, Any], context: Context | None) -> None:
    """Keep the bill of the last node of a path, and learn from it.

    It answers the compile that made `context`, else the newest one at a node before it on the path.
    """
    database, tree, node = history.database, history.tree, path[-1]
    turn = _made(history, context) if context else database.last_turn(tree, [one.id for one in path[:-1]])
    usage = object_of(usage, "usage")
    data = json.dumps(usage, ensure_ascii=False, sort_keys=True).encode()
    model = str(usage.get("model", ""))
    database.put_usage(tree, node.id, turn.seq if turn else None, model, data, datetime.now(UTC))
    if turn is not None:
        held = memory.unpack(turn.data)
        raw, billed = int(held["report"]["tokens"]), Used.of(usage).input
        database.learn(held["model"], lambda text: Learned.read(text).after(raw, billed).out())


def _made(history: History, context: Context) -> TurnRow | None:
    """The newest turn with this payload; None if the compile was not recorded."""
    whole = memory.payload_hash(context.payload)
    rows = history.database.turns(history.tree, limit=LOOKED_AT)
    found = next((row for row in rows if row.payload_hash == whole), None)
    return history.database.turn(history.tree, found.seq) if found else None


def bills(history: History) -> dict[str, Used]:
    """What was billed for each node; all of it where a node was billed more than once."""
    found: dict[str, Used] = {}
    for row in history.database.usage(history.tree):
        if row.node is not None:
            found[row.node] = found.get(row.node, Used()) + Used.of(json.loads(row.data))
    return found
