"""A Claude Code session: JSON lines of the whole tree, the active leaf last, where its reader looks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ctxtree.exporters.tale import Exporter, Step, Tale, lines, stamp
from ctxtree.model import Node
from ctxtree.render import plain


def write(tale: Tale) -> str:
    """A row for each message of users, models and tools. System prompts are not in such files: they are left out."""
    spoken = {step.id: step for step in tale.steps if step.role not in ("system", "developer")}
    above: dict[str | None, str | None] = {None: None}
    for step in tale.steps:
        above[step.id] = step.id if step.id in spoken else above[step.parent]
    rows = [_row(spoken[name], above[spoken[name].parent], tale.name) for name in _ordered(spoken, tale.path)]
    return lines(rows)


def _ordered(spoken: dict[str, Step], path: Sequence[Node]) -> list[str]:
    """The steps in their order, but the active leaf at the end: nothing is said below it."""
    leaf = next((node.id for node in reversed(path) if node.id in spoken), None)
    names = [name for name in spoken if name != leaf]
    inner = {step.parent for step in spoken.values()}
    return [*spoken] if leaf is None or leaf in inner else [*names, leaf]


def _row(step: Step, parent: str | None, session: str) -> dict[str, Any]:
    turn = plain([step.message], "anthropic")
    message: dict[str, Any] = dict(turn["messages"][0]) if isinstance(turn, dict) else {}
    if step.role == "assistant":
        message |= {"id": f"msg_{step.id[:24]}", "type": "message", "model": step.marks.get("model") or ""}
        message |= {"usage": step.marks["usage"]} if step.marks.get("usage") else {}
    return {
        "parentUuid": parent, "isSidechain": bool(step.marks.get("sidechain")), "sessionId": session, "type": message["role"],
        "message": message, "uuid": step.id, "timestamp": stamp(step.at), **({"isMeta": True} if step.hidden else {}),
    }  # fmt: skip


EXPORTER = Exporter(write, whole=True)
