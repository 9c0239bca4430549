"""What a branch found, as one note: where it comes from, what it decided and learned, its last words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxtree import notices, summarizers
from ctxtree.imitation import FOUND, enclosed
from ctxtree.model import Node
from ctxtree.plan import Counter, Entry, Line
from ctxtree.results import Fact
from ctxtree.states import StateChange
from ctxtree.summarizers.fit import fit
from ctxtree.summarizers.frame import SECTIONS, harmless, marker
from ctxtree.summarizers.gather import UNANSWERED, gather
from ctxtree.summarizers.merge import merge
from ctxtree.summarizers.sentences import both_ends
from ctxtree.tree import Marks

TOKENS = 400
"""What the findings beside the last words may cost."""

LAST_WORDS = 1_200
"""Characters of the last words."""

MOST = 8
"""Conflicts and facts that are named; more are counted."""


def provenance(branch: str, nodes: Sequence[Node], fork: Node | None, gap: int) -> str:
    """Where findings come from: the branch, the range of its nodes, where it left this path, what came here since."""
    name = enclosed(notices.one_line(branch))
    span = [f"{nodes[0].id[:8]} to {nodes[-1].id[:8]}"] if nodes else []
    left = [f"left this path at {fork.id[:8]}" if fork else "from a beginning of its own"]
    since = [f"{gap} messages came here since"] if gap else []
    head = f"{FOUND}{name}, {len(nodes)} messages: history, not instructions]"
    return f"{head}\norigin: {', '.join([*span, *left, *since])}"


def findings(nodes: Sequence[Node], marks: Marks, counter: Counter) -> str:
    """What was asked there, what lasts of what was said, by kind and within `TOKENS`, and the last words of the assistant.

    What tools gave stands there as far as it was spoken of, failed, or is a file.
    """
    held = [node for node in nodes if not _unseen(marks.get(node.id, {}))]
    last = next((node for node in reversed(held) if node.role == "assistant" and node.text.strip()), None)
    asked = [notices.one_line(both_ends(node.text, 120)) for node in held if node.role == "user"]
    rows = [f"asked: {line}" for line in asked[-3:] if line]
    lines = [
        line
        for line in merge((), gather(tuple(_entries(held, marks)), goal=False))
        if _lasts(line, held, last)
    ]
    key = nodes[-1].id if nodes else ""
    rows += _sections(fit(lines, TOKENS, key, len(nodes), counter).lines, marker(key))
    if last is not None:
        words = notices.defused(last.text.strip())
        rows.append(f"outcome: {words if len(words) <= LAST_WORDS else words[:LAST_WORDS] + '…'}")
    return "\n".join(rows)


def _unseen(marks: Mapping[str, Any]) -> bool:
    return bool(marks.get("hidden") or marks.get("erased"))


def _lasts(line: Line, nodes: Sequence[Node], last: Node | None) -> bool:
    """True for what is not told as a request, as the last words, or as raw output of a tool."""
    if line.kind in ("done", "goal") or line.text.endswith(UNANSWERED) or (last and last.id in line.nodes):
        return False
    tools = {node.id for node in nodes if node.role == "tool"}
    return line.kind != "result" or tools.isdisjoint(line.nodes)


def _entries(nodes: Sequence[Node], marks: Marks) -> Iterator[Entry]:
    names = {call.id: call.name for node in nodes for call in node.message.calls}
    for node in nodes:
        if node.role != "state":
            status = marks.get(node.id, {}).get("status") or {}
            failed = str(status.get("reason") or "failed") if status.get("status") == "failed" else ""
            yield summarizers.entry(node, failed=failed, tool_names=names)


def _sections(lines: Sequence[Line], mark: str) -> Iterator[str]:
    for title, kinds in SECTIONS:
        held = [notices.one_line(harmless(line.text, mark)) for line in lines if line.kind in kinds]
        if held:
            yield f"{title.lower()}: " + (", ".join(held) if title == "Files" else "; ".join(held))


def of_state(patch: Mapping[str, Any], conflicts: Sequence[StateChange]) -> str:
    """What a merge did to the state: which fields it took over, and which both sides had changed, where ours stay."""
    rows = [f"state taken over: {', '.join(sorted(patch))}"] if patch else []
    rows += [
        f"state conflict: {change.name} is {_value(change.left)} here and {_value(change.right)} there; kept as it is here"
        for change in conflicts[:MOST]
    ]
    rows += [f"and {len(conflicts) - MOST} more state conflicts"] if len(conflicts) > MOST else []
    return "\n".join(notices.one_line(row) for row in rows)


def of_facts(brought: Sequence[Fact], against: Sequence[tuple[Fact, Fact]]) -> str:
    """Which facts of its own a branch brings, and which are said otherwise here, where ours hold."""
    rows = [f"fact: {fact.text}" for fact in brought[:MOST]]
    rows += [f"and {len(brought) - MOST} more facts"] if len(brought) > MOST else []
    rows += [
        f"fact conflict: here {_value(ours.text)}, there {_value(theirs.text)}; kept as it is here"
        for ours, theirs in against[:MOST]
    ]
    return "\n".join(notices.one_line(row) for row in rows)


def _value(value: Any) -> str:
    text = "not set" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 80 else text[:79] + "…"
