"""What a handle knows of its tree: the path to its head, the marks, the attempts beside the path."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from ctxtree import outline
from ctxtree.bm25 import SIZE, Segment
from ctxtree.deadends import Attempt, Note, notes
from ctxtree.errors import AmbiguousRef, NotFound
from ctxtree.model import Node
from ctxtree.passes.condensers import first_line
from ctxtree.store import Database
from ctxtree.store.records import EpochRow, SegmentRow
from ctxtree.trail import SHAPING, Trail
from ctxtree.tree import DeadEnd, Step
from ctxtree.worked import Worked

UNREAD = ("source", "usage")
"""Marks that no compile looks at; they are read one by one when asked for."""

NEAR = 8
"""Steps up from a head in which a remembered path is looked for."""

MANY = 256
"""Nodes over which a path is rather read as a whole than by their ids."""


class Counts(Mapping[str, int]):
    """Token counts under one key: looked up in the store for all nodes that were read since the last look."""

    def __init__(self, nodes: Mapping[str, Node], look: Callable[[Sequence[str]], Mapping[str, int]]) -> None:
        self._nodes, self._look = nodes, look
        self._found: dict[str, int] = {}
        self._seen: set[str] = set()

    def __getitem__(self, node: str) -> int:
        if node not in self._found and node not in self._seen:
            fresh = [one for one in (node, *self._nodes) if one not in self._seen]
            self._seen.update(fresh)
            self._found.update(self._look(fresh))
        return self._found[node]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def new(self, nodes: Iterable[str]) -> None:
        """Nodes that nobody can have counted."""
        self._seen.update(nodes)

    def learn(self, counts: Mapping[str, int]) -> None:
        self._found.update(counts)


class OnPath(Container[str]):
    """Whether a node lies on a path; the path is looked at when that is asked first."""

    def __init__(self, history: History, head: str | None) -> None:
        self._history, self._head = history, head
        self._places: Container[str] | None = None

    def __contains__(self, node: object) -> bool:
        if self._places is None:
            self._places = self._history.trail(self._head).places
        return node in self._places


class History:
    """Reads a tree, and remembers what cannot change: nodes, and marks up to the newest one read.

    Of a long path only what is looked at is read, beside the outlines of its segments. Another writer's nodes
    are found when they are asked for; another writer's marks at the next read.
    """

    def __init__(self, database: Database, tree: int) -> None:
        self.database, self.tree = database, tree
        self._nodes: dict[str, Node] = {}
        self._marks: dict[str, dict[str, Any]] = {}
        self._statuses: dict[str, dict[str, Any]] = {}
        self._seen, self._looked = 0, False
        self._trail = Trail(marks=self._marks, held=self._nodes, load=self._load)
        self._reshaped = False
        self._kept = 0
        self._counts: dict[str, Counts] = {}
        self._effects: dict[str, tuple[str, ...] | None] = {}
        self._ends: dict[str, DeadEnd] = {}
        self._attempts: dict[tuple[str, ...], Attempt] = {}
        self._worked = Worked()
        self.erasures = 0
        """Erased nodes that were read of: what was derived before the last one is void."""
        self._epochs: dict[str, tuple[EpochRow | None, int, str | None]] = {}
        """By key: the newest on a path, the newest number read, the end of that path."""

    def path(self, head: str | None) -> tuple[Node, ...]:
        """Root to `head`. Cost: what was not read yet."""
        if head is None:
            return ()
        trail = self._at(head)
        missing = sum(one not in self._nodes for one in trail.ids)
        if missing > MANY:
            self._nodes.update((node.id, node) for node in self.database.path(self.tree, trail.ids[-1]))
        return trail.nodes[: int(trail.places[head]) + 1]

    def steps(self, head: str | None) -> Sequence[Step]:
        """The path without its words."""
        if head is None:
            return ()
        trail = self._at(head)
        return trail.steps[: int(trail.places[head]) + 1]

    def trail(self, head: str | None) -> Trail:
        """The path to `head` with what follows from it and its marks. Cost: what is new; for a new path its outlines."""
        self.marks()
        if head is None:
            return Trail(marks=self._marks, held=self._nodes, load=self._load)
        trail = self._at(head)
        if self._reshaped:
            self._trail, self._reshaped = trail.again(self._marks), False
            trail = self._trail
        return trail if head == trail.ids[-1] else trail.again(self._marks, int(trail.places[head]) + 1)

    def _at(self, head: str) -> Trail:
        """The remembered trail, made to run to `head` or past it."""
        if head not in self._trail.places and not self._reach(head):
            steps, nodes = self._line(head)
            self._trail = Trail(nodes, self._marks, steps, self._nodes, self._load)
            self._reshaped, self._kept = False, len(steps) // SIZE
        return self._trail

    def _line(self, head: str) -> tuple[list[Step], tuple[Node, ...]]:
        """The path as steps from outlines and the nodes that follow them; damaged outlines are made anew."""
        line = self.database.line(self.tree, head, outline.VERSION)
        if line is not None:
            try:
                return [step for data in line[0] for step in outline.outline_in(data)], line[1]
            except ValueError:
                pass
        return [], self.database.path(self.tree, head)

    def _reach(self, head: str) -> bool:
        """True if `head` lies a few nodes below one of the remembered path, which then runs to it."""
        above: list[Node] = []
        current: str | None = head
        while current is not None and len(above) < NEAR:
            if current in self._trail.places:
                self._go_on(current, above[::-1])
                return True
            node = self.database.node(self.tree, current)
            if node is None:
                return False
            above.append(node)
            current = node.parent
        return False

    def _go_on(self, after: str, nodes: Sequence[Node]) -> None:
        if after != self._trail.ids[-1]:
            self._trail = self._trail.again(self._marks, int(self._trail.places[after]) + 1)
            self._kept = min(self._kept, len(self._trail.ids) // SIZE)
        self._trail.extend(nodes)

    def extend(self, nodes: Sequence[Node]) -> None:
        """Remember nodes that were just appended, if they continue the remembered path."""
        if nodes and (self._trail.ids[-1] if self._trail.ids else None) == nodes[0].parent:
            self._trail.extend(nodes)
            for counts in self._counts.values():
                counts.new(node.id for node in nodes)

    def _load(self, ids: Sequence[str]) -> Mapping[str, Node]:
        return self.database.nodes(self.tree, ids)

    def words(self, ends: Sequence[str]) -> Mapping[str, Segment]:
        """The words of stored segments, by their last nodes; those that are damaged are left out."""
        found: dict[str, Segment] = {}
        for end, data in self.database.words(self.tree, outline.VERSION, ends).items():
            with suppress(ValueError):
                found[end] = outline.words_in(data)
        return found

    def keep_segments(self, trail: Trail, words: Callable[[int], Segment]) -> None:
        """Store the segments of a path that are full and not yet stored; `words` gives those of the segment of this number."""
        full = len(trail.ids) // SIZE
        if trail is not self._trail or full <= self._kept:
            return
        rows = []
        for number in range(self._kept, full):
            first, last = number * SIZE, (number + 1) * SIZE
            above = trail.ids[first - 1] if first else None
            shape = outline.outline_out(trail.steps[first:last])
            rows.append(SegmentRow(trail.ids[last - 1], above, shape, outline.words_out(words(number))))
        self.database.put_segments(self.tree, outline.VERSION, rows)
        self._kept = full

    def marks(self) -> Mapping[str, Mapping[str, Any]]:
        """Node id -> mark name -> newest value. Cost: the marks that are new."""
        without: Sequence[str] = ()
        newest = 0
        if not self._looked:  # the first look passes over what no compile needs; later ones find little
            without, newest = UNREAD, self.database.newest_mark(self.tree)
            self._looked = True
        for row in self.database.marks(self.tree, after=self._seen, without=without):
            self._seen = max(self._seen, row.seq)
            if row.name == "erased":
                self._forget(row.node)
            if row.name not in UNREAD:
                self._reshaped = self._reshaped or row.name in SHAPING
                self._trail.remarked()
                self._marks.setdefault(row.node, {})[row.name] = row.value
            if row.name in ("status", "effects"):
                self._ends.clear()
            if row.name == "status":
                self._statuses[row.node] = row.value or {}
            if row.name == "effects":
                self._effects[row.node] = None if row.value is None else tuple(map(str, row.value))
        self._seen = max(self._seen, newest)
        return self._marks

    def _forget(self, node: str) -> None:
        """What was read of an erased node goes, and with it all epochs: their summaries may quote it."""
        self.erasures += 1
        self._marks.pop(node, None)
        self._statuses.pop(node, None)
        self._nodes.clear()
        self._counts.clear()
        self._effects.pop(node, None)
        self._ends.clear()
        self._attempts.clear()
        self._worked = Worked()
        self._epochs.clear()
        self._trail, self._kept = Trail(marks=self._marks, held=self._nodes, load=self._load), 0

    def counts(self, key: str) -> Counts:
        """Token counts under `key`."""
        if key not in self._counts:
            look = partial(self.database.counts, self.tree, key)
            self._counts[key] = Counts(self._nodes, look)
        return self._counts[key]

    def epoch(self, key: str, trail: Trail) -> EpochRow | None:
        """The newest epoch under `key` on a path. Cost: those that are new in the store, while the path goes on."""
        held, seen, end = self._epochs.get(key, (None, 0, None))
        new = self.database.epochs(self.tree, key, after=seen) if end is not None else ()
        beside = any(
            row.node not in trail.places for row in new
        )  # this path, or a later end of it, may lead there
        found = next((row for row in reversed(new) if row.node in trail.places), held)
        if end not in trail.places:
            found = self.database.epoch_at(self.tree, key, trail.places)
        seen = max([seen, *(row.seq for row in new), found.seq if found else 0])
        self._epochs[key] = found, seen, None if beside or not trail.ids else trail.ids[-1]
        return found

    def keep_counts(self, key: str, counts: Mapping[str, int]) -> None:
        self.counts(key).learn(counts)
        self.database.put_counts(self.tree, key, counts)

    def node(self, identity: str) -> Node | None:
        if identity not in self._nodes:
            found = self.database.node(self.tree, identity)
            if found is None:
                return None
            self._nodes[identity] = found
        return self._nodes[identity]

    def dead_ends(self, on_path: Container[str]) -> tuple[DeadEnd, ...]:
        """Attempts that left this path, in the order in which they were marked.

        One that was only abandoned, without a reason, has not failed; what it did may still be told. An attempt
        that goes on from another marked one has its reasons too.
        """
        self.marks()
        found: dict[str, DeadEnd] = {}
        for identity, status in self._statuses.items():
            if status.get("status") in ("failed", "abandoned") and identity not in on_path:
                attempt = self._ends.get(identity)
                if attempt is None or attempt.anchor not in on_path or attempt.nodes[0].id in on_path:
                    attempt = self._attempt(identity, on_path)
                if attempt is not None:
                    found[identity] = self._ends[identity] = attempt
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

    def _attempt(self, identity: str, on_path: Container[str]) -> DeadEnd | None:
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
        return self._dead_end(current or "", tuple(reversed(nodes)))

    def notes(self, trail: Trail, told: Collection[str] = ()) -> tuple[Note, ...]:
        """The lines that a model is told of the attempts that left this path.

        `told`: nodes of attempts that a summary tells of; the path is read from the first anchor of the others on.
        """
        found = self.dead_ends(trail.places)
        beside = set(told)
        fresh = [trail.places.get(one.anchor, -1) for one in found if one.nodes[-1].id not in beside]
        if fresh:
            self._worked = self._worked.follow(trail.nodes, trail.ids, int(min(fresh)) + 1)
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
