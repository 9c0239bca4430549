"""What the handles give back: small frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from ctxtree.model import Node
from ctxtree.report import Signal
from ctxtree.states import StateChange
from ctxtree.usage import Used


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch as `tree.branches()` lists it.

    `tokens` are those of its whole path, `nodes` its length, `used` all that was billed for answers on it.
    """

    name: str
    head: str | None
    parent: str | None
    fork: str | None
    status: str
    nodes: int
    tokens: int
    updated: datetime | None
    active: bool = False
    used: Used = field(default_factory=Used)


@dataclass(frozen=True, slots=True)
class Backtrack:
    """Where words led: the node gone back to, the branch that starts there, how sure, and why."""

    node: Node
    branch: str
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A long-term fact; `scope` is `branch` (it holds from `node` on), `tree` or `store`.

    `used_at`: when it was last said, or fitted what the user said. `before`: the wording whose place it took.
    """

    key: str
    text: str
    scope: Literal["branch", "tree", "store"]
    created_at: datetime | None = None
    used_at: datetime | None = None
    before: str | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """Two places of a tree: their last common node, and what each knows that the other does not.

    Nodes that a merge or a pick brought to the other side are known there. `state`: the fields that differ.
    `left_facts` and `right_facts`: facts of the branch that hold on that side alone.
    """

    ancestor: Node | None
    left: tuple[Node, ...]
    right: tuple[Node, ...]
    state: tuple[StateChange, ...] = ()
    left_facts: tuple[Fact, ...] = ()
    right_facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One compile of the past; `report` is its report as JSON data."""

    seq: int
    branch: str
    node: str | None
    at: datetime | None
    payload_hash: str
    report: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Imported:
    """One conversation of a file: the tree that it became, and what was found on the way.

    `found` are the same issues as `issues`, with line, byte, what and what was done apart from each other.
    """

    tree: str
    title: str | None
    messages: int
    added: int
    branches: int
    skipped: int
    issues: tuple[Signal, ...] = ()
    found: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did. `skipped` counts records that became no node; each stands in `issues`."""

    path: str
    format: str
    conversations: tuple[Imported, ...]

    @property
    def added(self) -> int:
        return sum(one.added for one in self.conversations)

    @property
    def skipped(self) -> int:
        return sum(one.skipped for one in self.conversations)

    @property
    def issues(self) -> tuple[Signal, ...]:
        return tuple(issue for one in self.conversations for issue in one.issues)
