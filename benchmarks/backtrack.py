"""Going back in words: utterances on small trees, with the place that each means, several, or none.

The data and its rules stand in `tests/data/backtrack/README.md`; the utterances of `fresh.tsv` are held out from tuning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ctxtree.model import Message, Node, Text, ToolCall, ToolResult
from ctxtree.resolve import Resolution, resolve

DATA = Path(__file__).parents[1] / "tests" / "data" / "backtrack"
SETS = {"tuning": "utterances.tsv", "added": "added.tsv", "held out": "fresh.tsv"}
NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Case:
    """`expected`: places that fit, more than one for a question back; empty where nothing is asked for."""

    tree: str
    words: str
    expected: tuple[int, ...]

    @property
    def language(self) -> str:
        return "zh" if re.search(r"[\u4e00-\u9fff]", self.words) else "en"


def cases(name: str) -> Iterator[Case]:
    """The utterances of one of the `SETS`."""
    for line in (DATA / SETS[name]).read_text("utf-8").splitlines():
        tree, expected, words = line.split("\t")
        places = () if expected == "-" else tuple(map(int, expected.lstrip("?").split(",")))
        yield Case(tree, words, places)


@dataclass(frozen=True, slots=True)
class Grown:
    nodes: tuple[Node, ...]
    head: int
    marks: Mapping[str, Mapping[str, Any]]


def trees() -> dict[str, Grown]:
    return {name: _grown(tree) for name, tree in json.loads((DATA / "trees.json").read_text("utf-8")).items()}


def _grown(tree: Mapping[str, Any]) -> Grown:
    nodes: list[Node] = []
    marks: dict[str, dict[str, Any]] = {}
    for place, (role, text, *more) in enumerate(tree["messages"]):
        said = more[0] if more else {}
        parent = said.get("parent", place - 1)
        when = NOW - timedelta(minutes=said["minutes"]) if "minutes" in said else None
        parents = (nodes[parent].id,) if parent >= 0 else ()
        nodes.append(Node.make(_message(role, text), parents, created_at=when))
        marks[nodes[-1].id] = {key: said[key] for key in ("label", "status") if key in said}
    return Grown(tuple(nodes), tree.get("head", len(nodes) - 1), marks)


def _message(role: str, text: str) -> Message:
    if role == "call":
        return Message(role="assistant", parts=(ToolCall(id="c", name=text, arguments={}),))
    if role in ("result", "error"):
        parts = (ToolResult(call_id="c", parts=(Text(text=text),), error=role == "error"),)
        return Message(role="tool", parts=parts)
    return Message.model_validate({"role": role, "parts": ({"type": "text", "text": text},)})


def ask(case: Case, grown: Grown) -> Resolution:
    known = {node.id: node for node in grown.nodes}
    path: list[Node] = []
    at: str | None = grown.nodes[grown.head].id
    while at is not None:
        path.insert(0, known[at])
        at = known[at].parent
    others = [node for node in grown.nodes if node not in path]
    return resolve(case.words, path, grown.marks, grown.nodes[grown.head].id, others, NOW)


def outcome(case: Case, grown: Grown) -> str:
    """`right`, `asked` (a question where one place is meant), `missed`, `wrong` move or `false` trigger."""
    found = ask(case, grown)
    if not case.expected:
        return "false" if found.request else "right"
    ids = [node.id for node in grown.nodes]
    if found.winner is not None:
        target = -1 if found.winner.target is None else ids.index(found.winner.target)
        return "right" if case.expected == (target,) else "wrong"
    if not found.request or not found.candidates:
        return "missed"
    shown = {ids.index(candidate.node) for candidate in found.candidates}
    return "right" if len(case.expected) > 1 and shown >= set(case.expected) else "asked"


def run(sets: Sequence[str] = tuple(SETS)) -> list[dict[str, Any]]:
    """A row a set and language. Shares of requests (`top-1`), of all (`wrong`), of the others (`false`)."""
    grown = trees()
    rows = []
    for name in sets:
        found = [(case, outcome(case, grown[case.tree])) for case in cases(name)]
        for language in ("en", "zh"):
            mine = [(case, how) for case, how in found if case.language == language]
            asked = [how for case, how in mine if case.expected]
            others = [how for case, how in mine if not case.expected]
            rows.append({
                "set": name, "language": language, "utterances": len(mine),
                "top-1": asked.count("right") / len(asked), "wrong move": asked.count("wrong") / len(mine),
                "asked": asked.count("asked"), "missed": asked.count("missed"),
                "false trigger": others.count("false") / len(others),
            })  # fmt: skip
    return rows
