"""What a store takes and gives back: plain rows, ids as hex, times aware of their zone (UTC)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxtree.model import Message, Node


@dataclass(frozen=True, slots=True)
class Draft:
    """A message that is about to become a node.

    `key`: the caller's own token for this append; sent again, it gives the same node.
    `merged`: ids of further parents. `marks`: (name, value) pairs stored together with the node.
    """

    message: Message
    created_at: datetime | None = None
    key: str | None = None
    merged: tuple[str, ...] = ()
    marks: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A tree: its number in the store, its name, its active branch, how many nodes it has."""

    id: int
    name: str
    active: str
    created_at: datetime | None
    nodes: int


@dataclass(frozen=True, slots=True)
class BranchRow:
    """A branch: a name for a leaf. `parent` and `fork` say where it left which branch."""

    name: str
    head: str | None
    parent: str | None
    fork: str | None
    status: str
    updated: datetime | None


@dataclass(frozen=True, slots=True)
class MoveRow:
    """One move of a branch's head. A run of appends by `append` is one row."""

    seq: int
    branch: str
    old: str | None
    new: str | None
    at: datetime | None
    reason: str


@dataclass(frozen=True, slots=True)
class MarkRow:
    """A mark with its number; a larger `seq` is newer."""

    seq: int
    node: str
    name: str
    value: Any
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Appended:
    """The nodes that the drafts became, the branch that now ends in them, and whether it is a new one."""

    nodes: tuple[Node, ...]
    branch: str
    forked: bool


@dataclass(frozen=True, slots=True)
class Placed:
    """A node, its number (larger means stored later) and its distance from the root (0)."""

    node: Node
    seq: int
    depth: int


@dataclass(frozen=True, slots=True)
class FactRow:
    """A wording of a long-term fact. `node`: where it holds from on; None: everywhere in its tree, or in the store.

    `text` is None where the fact was let go of.
    """

    key: str
    text: str | None
    created_at: datetime | None
    used_at: datetime | None
    seq: int
    node: str | None = None


@dataclass(frozen=True, slots=True)
class EpochRow:
    """A compaction recorded at a node, for one combination of policy, target and counter (`key`)."""

    seq: int
    node: str
    key: str
    data: bytes


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """So many nodes of a path that end in `node` and follow on `above`: their outline and their words, as bytes."""

    node: str
    above: str | None
    outline: bytes
    words: bytes


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One compile. `data` is its report; it is empty in listings."""

    seq: int
    branch: str
    node: str | None
    at: datetime | None
    payload_hash: str
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What a provider billed for an answer, as it came."""

    seq: int
    node: str | None
    turn: int | None
    model: str
    data: bytes
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that `verify` found.

    Codes: `erased` (a tombstone, expected), `id`, `content`, `blob`, `parent`, `depth`, `ref`, `file`.
    """

    code: str
    tree: str
    node: str
    message: str
