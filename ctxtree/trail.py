"""Trail: what follows from a path and its marks alone, worked out once and carried along as the path grows.

A handle keeps one. So a compile costs what is new and what is still shown, and not the length of the path.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal

from ctxtree.model import Node
from ctxtree.plan import Form, Item
from ctxtree.tree import Marks, Unit, UnitKind, is_blank, merge_patch

Size = Callable[[Node], int]


class Trail:
    """A path as units, with the places of its nodes and its state; grows at the end.

    A unit is what is kept or left out as one. A result joins the newest exchange that still waits for its
    call id, wherever on the path it was recorded; one that no call waits for stands alone. Cost: one step
    a node, once.
    """

    def __init__(self, nodes: Sequence[Node] = (), marks: Marks | None = None) -> None:
        self.marks: Marks = marks or {}
        self.nodes: list[Node] = []
        self.places: dict[str, float] = {}
        """Where each node stands on the path."""
        self.units: list[Unit] = []
        self.home: dict[str, int] = {}
        """The unit of each node, by index."""
        self.apart: list[int] = []
        """Units that no compaction covers: system messages, and what is hidden."""
        self.asked: list[int] = []
        """The user message of each turn, by index of its unit."""
        self.state: Any = {}
        """The state object: the patches on the path in order (RFC 7396)."""
        self.patches: list[str] = []
        self.revision = 0
        """Grows when a unit changed that others stand behind: indexes over units are void then."""
        self.forms: dict[Hashable, tuple[Form, ...]] = {}
        """Shorter forms that were made before, for `Condense`."""
        self.terms: dict[tuple[str, ...], tuple[str, ...]] = {}
        """What was read before, for `Score`."""
        self._waiting: dict[str, list[int]] = {}
        self._spoken = False
        slots = [node.id for node in nodes if self.marks.get(node.id, {}).get("slot")]
        self._slot = slots[-1] if slots else None
        self._ids: tuple[str, ...] = ()
        self._items: dict[str, list[Item | None]] = {}
        self._sums: dict[str, tuple[int, int]] = {}
        self.extend(nodes)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the path, in order."""
        if len(self._ids) != len(self.nodes):
            self._ids = tuple(node.id for node in self.nodes)
        return self._ids

    def extend(self, nodes: Sequence[Node]) -> None:
        """Add nodes at the end; marks that came with them need a new trail."""
        for node in nodes:
            self._add(node)

    def item(self, index: int, key: str, make: Callable[[Unit], Item]) -> Item:
        """The unit as an item; made once for each `key`."""
        held = self._items.setdefault(key, [])
        held += [None] * (len(self.units) - len(held))
        found = held[index]
        if found is None:
            found = held[index] = make(self.units[index])
        return found

    def counted(self, key: str) -> int:
        """How many nodes `tokens` has asked for."""
        return self._sums.get(key, (0, 0))[0]

    def tokens(self, key: str, size: Size) -> int:
        """What all nodes cost in full; each is asked for once a `key`."""
        count, total = self._sums.get(key, (0, 0))
        total += sum(size(node) for node in self.nodes[count:])
        self._sums[key] = len(self.nodes), total
        return total

    def answer(self, index: int) -> int | None:
        """The first exchange after a user message, in its turn."""
        turn = self.units[index].turn
        for after in range(index + 1, len(self.units)):
            if self.units[after].turn != turn:
                return None
            if self.units[after].kind == "exchange":
                return after
        return None

    def _add(self, node: Node) -> None:
        place = len(self.nodes)
        self.nodes.append(node)
        self.places[node.id] = place
        kind, reason = self._kind(node)
        self._spoken = self._spoken or kind in ("user", "exchange")
        home = self._awaited(node) if kind == "exchange" and node.role == "tool" else None
        if home is not None:
            self._join(home, node)
            return
        index = len(self.units)
        turn = self.units[-1].turn if self.units else -1
        if kind == "user":
            turn += 1
            self.asked.append(index)
        self.units.append(Unit(kind, (node,), turn, reason))
        self.home[node.id] = index
        if kind in ("system", "hidden"):
            self.apart.append(index)
        if kind == "state":
            self.state = merge_patch(self.state, json.loads(node.text))
            self.patches.append(node.id)
        for call in node.message.calls if kind == "exchange" else ():
            self._waiting.setdefault(call.id, []).append(index)

    def _join(self, index: int, node: Node) -> None:
        unit = self.units[index]
        self.units[index] = Unit(unit.kind, (*unit.nodes, node), unit.turn, unit.reason)
        self.home[node.id] = index
        self.revision += index < len(self.units) - 1
        for held in self._items.values():
            if index < len(held):
                held[index] = None

    def _awaited(self, node: Node) -> int | None:
        waiting = self._waiting
        homes = [
            waiting[result.call_id].pop() for result in node.message.results if waiting.get(result.call_id)
        ]
        return max(homes, default=None)

    def _kind(self, node: Node) -> tuple[UnitKind, str]:
        marks = self.marks.get(node.id, {})
        if marks.get("erased"):
            return "hidden", "erased"
        if marks.get("hidden"):
            return "hidden", "marked hidden"
        role: Literal["system", "developer", "user", "assistant", "tool", "note", "state"] = node.role
        if role in ("system", "developer"):
            if marks.get("slot") and node.id != self._slot:
                return "hidden", "a newer system prompt took its place"
            head = not self._spoken or node.id == self._slot
            return "system", "" if head else "said during the conversation"
        if role == "user" or role == "state" or role == "note":
            return role, ""
        if role == "assistant" and is_blank(node) and marks.get("stop") in ("error", "aborted"):
            return "hidden", f"ended in {marks['stop']} without a word"
        return "exchange", ""
