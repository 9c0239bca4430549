"""What a handle knows of its tree: the path to its head, the marks, the attempts beside the path."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from ctxtree.deadends import Attempt, Note, notes
from ctxtree.errors import AmbiguousRef, NotFound
from ctxtree.model import Node
from ctxtree.passes.condensers import first_line
from ctxtree.store import Database
from ctxtree.store.records import EpochRow
from ctxtree.trail import Trail
from ctxtree.tree import DeadEnd
from ctxtree.worked import Worked

UNREAD = frozenset({"source", "usage"})
"""Marks that no compile looks at; they are read one by one when asked for."""


class History:
    """Reads a tree, and remembers what cannot change: nodes, and marks up to the newest one read.

    Another writer's nodes are found when they are asked for; another writer's marks at the next read.
    """

    def __init__(self, database: Database, tree: int) -> None:
        self.database, self.tree = database, tree
        self._path: tuple[Node, ...] = ()
        self._places: dict[str, int] = {}
        self._trail = Trail()
        self._version = self._trailed = 0
        self._marks: dict[str, dict[str, Any]] = {}
        self._statuses: dict[str, dict[str, Any]] = {}
        self._seen = 0
        self._effects: dict[str, tuple[str, ...] | None] = {}
        self._beside: dict[str, Node] = {}
        self._attempts: dict[tuple[str, ...], Attempt] = {}
        self._worked = Worked()
        self._counts: dict[str, dict[str, int]] = {}
        self.erasures = 0
        """Erased nodes that were read of: what was derived before the last one is void."""
        self._epochs: dict[str, list[EpochRow]] = {}

    def path(self, head: str | None) -> tuple[Node, ...]:
        """Root to `head`. Cost: what is new since the last call, if that path is a part of this one."""
        if head is None:
            return ()
        if head in self._places:
            return self._path if head == self._path[-1].id else self._path[: self._places[head] + 1]
        if not (self._path and self._extends(head)):
            self._path, self._places = (), {}
            self._remember(self.database.path(self.tree, head))
        return self._path

    def trail(self, head: str | None) -> Trail:
        """The path to `head` with what follows from it and its marks. Cost: what is new, as for `path`."""
        marks, path, kept = self.marks(), self.path(head), self._trail
        done = len(kept.nodes)
        grown = done <= len(path) and (not done or kept.nodes[-1].id == path[done - 1].id)
        if not grown or self._trailed != self._version:
            fresh = Trail(path, marks)
            if path is self._path:
                self._trail, self._trailed = fresh, self._version
            return fresh
        kept.extend(path[done:])
        return kept

    def _remember(self, nodes: Sequence[Node]) -> None:
        start = len(self._path)
        self._path = (*self._path, *nodes)
        self._places.update((node.id, start + at) for at, node in enumerate(nodes))

    def _extends(self, head: str) -> bool:
        """True if `head` lies a few nodes below the remembered path, which then runs to it."""
        last, above = self._path[-1].id, []
        current: str | None = head
        for _ in range(8):
            node = self.database.node(self.tree, current) if current else None
            if node is None:
                return False
            above.append(node)
            current = node.parent
            if current == last:
                self._remember(above[::-1])
                return True
        return False

    def extend(self, nodes: tuple[Node, ...]) -> None:
        """Remember nodes that were just appended, if they continue the remembered path."""
        if nodes and (self._path[-1].id if self._path else None) == nodes[0].parent:
            self._remember(nodes)

    def marks(self) -> Mapping[str, Mapping[str, Any]]:
        """Node id -> mark name -> newest value. Cost: the marks that are new."""
        for row in self.database.marks(self.tree, after=self._seen):
            self._seen = max(self._seen, row.seq)
            if row.name == "erased":
                self._forget(row.node)
            if row.name not in UNREAD:
                self._version += 1
                self._marks.setdefault(row.node, {})[row.name] = row.value
            if row.name == "status":
                self._statuses[row.node] = row.value or {}
            if row.name == "effects":
                self._effects[row.node] = None if row.value is None else tuple(map(str, row.value))
        return self._marks

    def _forget(self, node: str) -> None:
        """What was read of an erased node goes, and with it all epochs: their summaries may quote it."""
        self.erasures += 1
        self._marks.pop(node, None)
        self._statuses.pop(node, None)
        self._effects.pop(node, None)
        self._beside.clear()
        self._attempts.clear()
        self._worked = Worked()
        self._epochs.clear()
        if node in self._places:
            self._path, self._places = (), {}

    def counts(self, key: str, nodes: Sequence[Node]) -> Mapping[str, int]:
        """Token counts under `key` of these nodes, and of all that were asked for before, as far as there are any."""
        held = self._counts.setdefault(key, {})
        unknown = [node.id for node in nodes if node.id not in held]
        if unknown:
            held.update(self.database.counts(self.tree, key, unknown))
        return held

    def epoch(self, key: str, places: Mapping[str, float]) -> EpochRow | None:
        """The newest epoch under `key` on a path. Cost: those that are new in the store."""
        held = self._epochs.setdefault(key, [])
        held += self.database.epochs(self.tree, key, after=held[-1].seq if held else 0)
        return next((row for row in reversed(held) if row.node in places), None)

    def keep_counts(self, key: str, counts: Mapping[str, int]) -> None:
        self._counts.setdefault(key, {}).update(counts)
        self.database.put_counts(self.tree, key, counts)

    def node(self, identity: str) -> Node | None:
        if identity not in self._beside:
            found = self.database.node(self.tree, identity)
            if found is None:
                return None
            self._beside[identity] = found
        return self._beside[identity]

    def dead_ends(self, on_path: Container[str]) -> tuple[DeadEnd, ...]:
        """Attempts that left this path, in the order in which they were marked.

        One that was only abandoned, without a reason, has not failed; what it did may still be told. An attempt
        that goes on from another marked one has its reasons too.
        """
        self.marks()
        found: dict[str, DeadEnd] = {}
        for identity, status in self._statuses.items():
            if status.get("status") in ("failed", "abandoned") and identity not in on_path:
                attempt = self._attempt(identity, on_path)
                if attempt is not None:
                    found[identity] = self._dead_end(*attempt)
        inner = {node.id for dead_end in found.values() for node in dead_end.nodes[:-1]}
        return tuple(dead_end for identity, dead_end in found.items() if identity not in inner)

    def _dead_end(self, anchor: str, nodes: tuple[Node, ...]) -> DeadEnd:
        held = [self._statuses[node.id] for node in nodes if node.id in self._statuses]
        left = [status for status in held if status.get("status") in ("failed", "abandoned")]
        reasons = [str(status["reason"]) for status in left if status.get("reason")]
        failed = bool(reasons) or any(status["status"] == "failed" for status in left)
        said = [done for node in nodes if (done := self._effects.get(node.id)) is not None]
        reason = reasons[-1] if reasons else ""
        return DeadEnd(anchor, nodes, reason, failed, said[-1] if said else None)

    def _attempt(self, identity: str, on_path: Container[str]) -> tuple[str, tuple[Node, ...]] | None:
        nodes: list[Node] = []
        current: str | None = identity
        while current is not None and current not in on_path:
            node = self.node(current)
            if node is None:
                return None
            nodes.append(node)
            current = node.parent
        if current is None and on_path:
            return None
        return current or "", tuple(reversed(nodes))

    def notes(self, trail: Trail) -> tuple[Note, ...]:
        """The lines that a model is told of the attempts that left this path."""
        found = self.dead_ends(trail.places)
        if found:
            self._worked = self._worked.follow(trail.nodes)
        return notes(found, first_line, trail.places, self._worked, self._attempts)

    def resolve(self, ref: str, head: str | None) -> str | None:
        """A reference as a node id: HEAD, HEAD~2, branch, label, full id, unique prefix; None for an empty HEAD."""
        if not isinstance(ref, str):
            raise NotFound(f"a reference is a string or a Node, not {type(ref).__name__}")
        name, back = _split(ref)
        found = head if name in ("HEAD", "") else self._named(name)
        return self._up(found, back, ref)

    def _named(self, name: str) -> str | None:
        branch = self.database.branch(self.tree, name)
        if branch is not None:
            return branch.head
        labelled = self.database.labels(self.tree).get(name)
        if labelled is not None:
            return labelled
        if len(name) >= 8 and all(digit in "0123456789abcdef" for digit in name.lower()):
            found = self.database.prefix(self.tree, name.lower())
            if len(found) == 1:
                return found[0]
            if found:
                raise AmbiguousRef(name, found)
        raise NotFound(f"no branch, label or node {name!r}; an id needs 8 digits or more")

    def _up(self, identity: str | None, steps: int, ref: str) -> str | None:
        if not steps:
            return identity
        path = self.path(identity)
        if steps > len(path):
            raise NotFound(f"{ref!r} goes {steps} steps back and the path has {len(path)} nodes")
        return path[-1 - steps].id if steps < len(path) else None


def _split(ref: str) -> tuple[str, int]:
    name, tilde, count = ref.rpartition("~")
    if tilde and (count.isdigit() or not count):
        return name, int(count or 1)
    if ref.endswith("^"):
        return ref[:-1], 1
    return ref, 0
