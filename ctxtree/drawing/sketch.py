"""Sketch: what a drawing is made from, and which of its nodes are drawn.

No walk over it recurses: a tree may be as deep as it likes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ctxtree.drawing.visible import headline, one_line
from ctxtree.errors import NotFound
from ctxtree.model import Node

KINDS = ("system", "developer", "user", "assistant", "tool", "state", "note")
STATUSES = ("ok", "failed", "abandoned")
SMALL = 40
"""Nodes up to which nothing is folded."""
RECENT = 4
"""Nodes before the active head that are never folded."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A node as it is drawn: with its tokens, the marks that are shown and the branches that end there."""

    node: Node
    tokens: int = 0
    label: str | None = None
    status: str = "ok"
    reason: str = ""
    pinned: bool = False
    heads: tuple[str, ...] = ()
    active: bool = False
    """True at the head of the active branch."""

    @property
    def id(self) -> str:
        return self.node.id

    @property
    def marked(self) -> bool:
        """True if something is said about it or a branch ends there."""
        return bool(self.label or self.heads or self.pinned or self.active or self.status != "ok")

    @property
    def tags(self) -> tuple[str, ...]:
        """What stands behind its words: label, pin, status with its reason, branches."""
        tags = [f"[{one_line(self.label, 60)}]"] if self.label else []
        tags += ["pinned"] if self.pinned else []
        if self.status != "ok":
            tags.append(f"{self.status}: {one_line(self.reason, 60)}" if self.reason else self.status)
        names = ", ".join(one_line(name, 60) for name in self.heads[:3])
        more = f" and {len(self.heads) - 3} more" if len(self.heads) > 3 else ""
        if names:
            tags.append(f"({names}{more}{' ← active' if self.active else ''})")
        return tuple(tags)

    def told(self, limit: int = 60) -> str:
        """Id, role, words, tokens and tags on one line."""
        words = f"{self.id[:8]} {self.node.role}: {headline(self.node.message, limit)}  {self.tokens:,}t"
        return " ".join([words, *self.tags])


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a drawing: lines and dots, then a node, or words about what is not drawn."""

    art: str
    spot: Spot | None = None
    words: str = ""

    def __str__(self) -> str:
        return (self.art + (self.spot.told() if self.spot else self.words)).rstrip()


@dataclass(frozen=True, slots=True)
class Drawing:
    """Lines, and in words what they leave out ("" for nothing)."""

    lines: tuple[Line, ...]
    left_out: str = ""

    def __str__(self) -> str:
        return "\n".join([*map(str, self.lines), *filter(None, [self.left_out])])


@dataclass(frozen=True, slots=True)
class Choice:
    """Which nodes are drawn: those on these branches, of these roles, of these statuses; empty means any.

    `fold`: straight runs become one line; None folds from `SMALL` nodes on, and never what was asked for by
    role or status. Raises NotFound for a role or status that does not exist.
    """

    branches: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    fold: bool | None = None

    def __post_init__(self) -> None:
        for given, known, what in ((self.kinds, KINDS, "kind"), (self.statuses, STATUSES, "status")):
            unknown = [one for one in given if one not in known]
            if unknown:
                raise NotFound(f"no {what} {unknown[0]!r} of node; there are {', '.join(known)}")

    def takes(self, spot: Spot) -> bool:
        """True if its role and status are asked for."""
        return (not self.kinds or spot.node.role in self.kinds) and (
            not self.statuses or spot.status in self.statuses
        )


@dataclass(frozen=True)
class Sketch:
    """All nodes of a tree, parents first, and the branch names by the id of their head."""

    spots: tuple[Spot, ...]
    name: str = ""
    heads: Mapping[str, str] = field(default_factory=dict)
    """Branch name -> id of its head."""
    way: frozenset[str] = frozenset()
    """Ids of the active path."""

    @classmethod
    def of(
        cls, nodes: Sequence[Node], tokens: Mapping[str, int], marks: Mapping[str, Mapping[str, Any]],
        heads: Mapping[str, str], active: str | None, name: str = "",
    ) -> Sketch:  # fmt: skip
        """A sketch of nodes, parents first; `active` is the id of the active head."""
        ends: dict[str, list[str]] = {}
        for branch, head in heads.items():
            ends.setdefault(head, []).append(branch)
        spots = []
        for node in nodes:
            held = marks.get(node.id, {})
            status = held.get("status") or {}
            spots.append(
                Spot(
                    node, tokens.get(node.id, 0), held.get("label"), status.get("status") or "ok",
                    str(status.get("reason") or ""), bool(held.get("pin")), tuple(ends.get(node.id, ())), node.id == active,
                )
            )  # fmt: skip
        there = cls(tuple(spots), name, heads)
        return replace(there, way=frozenset(there.path(active)))

    @cached_property
    def by_id(self) -> dict[str, Spot]:
        return {spot.id: spot for spot in self.spots}

    @cached_property
    def children(self) -> dict[str | None, list[str]]:
        """Node id -> ids of the nodes below it; None -> the roots."""
        found: dict[str | None, list[str]] = {None: []}
        for spot in self.spots:
            parent = spot.node.parent
            found.setdefault(parent if parent in self.by_id else None, []).append(spot.id)
        return found

    def path(self, identity: str | None) -> list[str]:
        """Ids from a node up to its root."""
        found = []
        while identity is not None and identity in self.by_id:
            found.append(identity)
            identity = self.by_id[identity].node.parent
        return found

    def only(self, ids: Collection[str]) -> Sketch:
        """The same with these nodes alone, in their order; the parent is the nearest node above that is kept."""
        nearest: dict[str, str | None] = {}
        spots = []
        for spot in self.spots:
            above = spot.node.parent
            kept = above if above in ids else nearest.get(above) if above else None
            nearest[spot.id] = kept
            if spot.id in ids:
                further = tuple(one for one in spot.node.merged_from if one in ids)
                parents = ((kept,) if kept else ()) + further if kept or not further else further
                node = spot.node.model_copy(update={"parents": parents})
                spots.append(replace(spot, node=node))
        return replace(self, spots=tuple(spots))

    def on(self, branches: Sequence[str]) -> Sketch:
        """The paths of these branches alone; of all, if none is named. Raises NotFound for one that is not there."""
        if not branches:
            return self
        ids: set[str] = set()
        for name in branches:
            if name not in self.heads:
                raise NotFound(f"no branch {name!r} with anything on it")
            ids.update(self.path(self.heads[name]))
        return replace(self, spots=tuple(spot for spot in self.spots if spot.id in ids))

    def folded(self) -> Sketch:
        """Without the inner nodes of straight runs: roots, forks, what follows them, ends and marked nodes stay."""
        recent = set(self.path(next((spot.id for spot in self.spots if spot.active), None))[:RECENT])
        kept, run = set(recent), dict[str, int]()
        for spot in self.spots:
            above = spot.node.parent
            below = self.children.get(spot.id, ())
            first = above not in self.by_id or len(self.children.get(above, ())) > 1
            if len(below) != 1 or first or spot.marked or spot.node.merged_from or spot.id in kept:
                kept.add(spot.id)
                if (
                    above is not None and run.get(above) == 1
                ):  # one node takes no more room than the words that fold it
                    kept.add(above)
            else:
                run[spot.id] = run.get(above or "", 0) + 1
        return self.only(kept)

    def chosen(self, choice: Choice) -> Sketch:
        """The nodes that a choice draws."""
        there = self.on(choice.branches)
        if choice.kinds or choice.statuses:
            return there.only({spot.id for spot in there.spots if choice.takes(spot)})
        fold = len(there.spots) > SMALL if choice.fold is None else choice.fold
        return there.folded() if fold else there

    @cached_property
    def spine(self) -> dict[str | None, str]:
        """Node id -> the child that goes on straight: towards the active head, else where most nodes are.

        So a side is never larger than half of what it leaves, and nesting grows with the logarithm of the tree.
        """
        size = dict.fromkeys(self.by_id, 1)
        for spot in reversed(self.spots):
            if spot.node.parent in size:
                size[spot.node.parent] += size[spot.id]
        return {
            above: max(below, key=lambda one: (one in self.way, size[one]))
            for above, below in self.children.items()
            if below
        }

    def runs(self, drawn: Sketch) -> dict[str, tuple[int, int]]:
        """Drawn node id -> how many nodes above it, up to the next drawn one, are not drawn, and their tokens."""
        found: dict[str, tuple[int, int]] = {}
        hidden: dict[str, tuple[int, int]] = {}
        for spot in self.spots:
            count, tokens = hidden.get(spot.node.parent or "", (0, 0))
            if spot.id not in drawn.by_id:
                hidden[spot.id] = count + 1, tokens + spot.tokens
            elif count:
                found[spot.id] = count, tokens
        return found
