"""Pure questions about a path: its units, its turns, its state, its dead ends.

Nothing here reads a store; nodes and marks come in, values go out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Literal, NamedTuple

from ctxtree.model import Mark, Node, Opaque, Role, Text, ToolCall, ToolResult

Marks = Mapping[str, Mapping[str, Any]]
UnitKind = Literal["system", "user", "exchange", "note", "state", "hidden"]


class Step(NamedTuple):
    """What the shape of a path takes from a node: all but its words.

    `calls` and `answers` are call ids of its calls and its results, `blank` as `is_blank`, `patch` the text of a
    state, `when` seconds since 1970.
    """

    id: str
    role: Role
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    blank: bool = False
    patch: str = ""
    when: float | None = None


class Unit(NamedTuple):
    """What is kept or left out as one: a user message, or an assistant message with all its results.

    `ids` are its nodes; `turn` counts user messages from 0; -1 is before the first.
    """

    kind: UnitKind
    ids: tuple[str, ...]
    turn: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """An attempt that left the path at `anchor`; `nodes` run from its first to its last node.

    `failed`: it is told as such, else only what it did is. `effects`: what the caller says was done and not
    undone; None: nothing was said.
    """

    anchor: str
    nodes: tuple[Node, ...]
    reason: str
    failed: bool = True
    effects: tuple[str, ...] | None = None


def effective(marks: Sequence[Mark]) -> dict[str, dict[str, Any]]:
    """Node id -> mark name -> newest value. Cost: one step a mark."""
    held: dict[str, dict[str, Any]] = {}
    for mark in marks:
        held.setdefault(mark.node, {})[mark.name] = mark.value
    return held


def step_of(node: Node) -> Step:
    message, role, at = node.message, node.role, node.created_at
    return Step(
        node.id, role, tuple(call.id for call in message.calls), tuple(one.call_id for one in message.results),
        role == "assistant" and is_blank(node), node.text if role == "state" else "",
        None if at is None else (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp(),
    )  # fmt: skip


def is_blank(node: Node) -> bool:
    """True if the message has no call, no result, no media and no visible text."""
    for part in node.message.parts:
        if isinstance(part, Text):
            if part.text.strip():
                return False
        elif not (isinstance(part, Opaque) and part.kind == "fields"):
            return False
    return True


def fold_state(path: Sequence[Node]) -> dict[str, Any]:
    """The state object at the end of the path: its patches applied in order (RFC 7396)."""
    state: Any = {}
    for node in path:
        if node.role == "state":
            state = merge_patch(state, json.loads(node.text or "{}"))  # nothing is left of an erased one
    return state if isinstance(state, dict) else {}


def merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7396: objects merge, null deletes, anything else replaces."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def attempt_start(path: Sequence[Node]) -> int | None:
    """Where the newest attempt begins: the first assistant step after the last user message."""
    last_user = max((index for index, node in enumerate(path) if node.role == "user"), default=-1)
    steps = (i for i in range(last_user + 1, len(path)) if path[i].role in ("assistant", "tool"))
    return next(steps, None)


_FAILED = re.compile(
    r"\s*(?:error\b\s*[:：(\[]|error \d{3}\b|fatal(?: error)?:|traceback \(most|exception\b\s*[:：]|\w+(?:error|exception): |panic: "
    r"|错误[：:]|command failed\b|(?:process )?exit(?:ed with)? (?:code|status):? [1-9]"
    r"|\{\s*[\"']error[\"']\s*:(?!\s*(?:null|none|false|0|\"\"|''|\{\s*\}|\[\s*\])))",
    re.IGNORECASE,
)


def is_failure(result: ToolResult) -> bool:
    """True if a result is marked as failed, or begins as failures do; many logs mark none."""
    return result.error or _FAILED.match(result.text[:200]) is not None


def find_call(path: Sequence[Step], call_id: str) -> int | None:
    """The position of the newest message with an unanswered call of this id, or of any such call."""
    answered = 0
    found: int | None = None
    for index in range(len(path) - 1, -1, -1):
        step = path[index]
        answered += step.answers.count(call_id)
        asked = step.calls.count(call_id)
        if asked > answered:
            return index
        if asked and found is None:
            found = index
        answered = max(0, answered - asked)
    return found


def results_end(path: Sequence[Step], call_at: int) -> int:
    """The position after the run of results that follows the message at `call_at`."""
    end = call_at + 1
    while end < len(path) and path[end].role == "tool":
        end += 1
    return end


def brief_call(call: ToolCall, limit: int = 80) -> str:
    """A call in one line: `read(path=a.py)`, long values cut."""
    shown = []
    for name, value in call.object.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
        text = " ".join(text[: limit * 2].split())
        shown.append(f"{name}={text if len(text) <= limit else text[: limit - 1] + '…'}")
    line = f"{call.name}({', '.join(shown)})"
    return line if len(line) <= 2 * limit else line[: 2 * limit - 1] + "…"
