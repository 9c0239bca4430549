"""Trail: what follows from a path and its marks alone, worked out once and carried along as the path grows.

A handle keeps one. So a compile costs what is new and what is still shown, and not the length of the path.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, overload

from ctxtree.model import Node, Role
from ctxtree.plan import Form, Item
from ctxtree.tree import Marks, Step, Unit, UnitKind, merge_patch, step_of

Size = Callable[[Node], int]
Load = Callable[[Sequence[str]], Mapping[str, Node]]
"""Nodes by id."""

SHAPING = frozenset({"erased", "hidden", "slot", "stop"})
"""Marks that decide which units a path has; all others only say something about them."""

KINDS: dict[Role, UnitKind] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "exchange", "tool": "exchange",
    "state": "state", "note": "note",
}  # fmt: skip


class Nodes(Sequence[Node]):
    """The nodes of a path, each read when it is looked at first, a slice at once."""

    def __init__(self, ids: Sequence[str], held: dict[str, Node], load: Load) -> None:
        self._ids, self._held, self._load = ids, held, load

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, at: int) -> Node: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Node, ...]: ...
    def __getitem__(self, at: int | slice) -> Node | tuple[Node, ...]:
        return self.of(self._ids[at]) if isinstance(at, slice) else self.of((self._ids[at],))[0]

    def of(self, ids: Iterable[str]) -> tuple[Node, ...]:
        """These nodes; all that were not yet read are read at once."""
        wanted, held = tuple(ids), self._held
        missing = [one for one in wanted if one not in held]
        if missing:
            held.update(self._load(missing))
        return tuple([held[one] for one in wanted])


class Trail:
    """A path as units, with the places of its nodes and its state; grows at the end.

    A unit is what is kept or left out as one. A result joins the newest exchange that still waits for its
    call id, wherever on the path it was recorded; one that no call waits for stands alone. Cost: one step
    a node, once; the words of a node are read when they are needed.
    """

    def __init__(
        self,
        nodes: Sequence[Node] = (),
        marks: Marks | None = None,
        steps: Sequence[Step] = (),
        held: dict[str, Node] | None = None,
        load: Load | None = None,
    ) -> None:
        """`steps`: the path before `nodes`, whose nodes stand in `held` or are read with `load`."""
        self.marks: Marks = {} if marks is None else marks
        self.steps: list[Step] = []
        self.ids: list[str] = []
        """The ids of the path, in order."""
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
        self.forms: dict[Hashable, tuple[Form, ...]] = {}
        """Shorter forms that were made before, for `Condense`."""
        self.terms: dict[tuple[str, ...], tuple[str, ...]] = {}
        """What was read before, for `Score`."""
        self._held: dict[str, Node] = {} if held is None else held
        self._load = load or (lambda _ids: {})
        self.nodes = Nodes(self.ids, self._held, self._load)
        self._waiting: dict[str, list[int]] = {}
        self._spoken = False
        whole = (*steps, *self._steps(nodes))
        slots = [step.id for step in whole if self.marks.get(step.id, {}).get("slot")] if self.marks else []
        self._slot = slots[-1] if slots else None
        self._items: dict[str, list[Item | None]] = {}
        self._sums: dict[str, tuple[int, int]] = {}
        for step in whole:
            self._add(step)

    def extend(self, nodes: Sequence[Node]) -> None:
        """Add nodes at the end; marks that came with them need a trail made `again`."""
        for step in self._steps(nodes):
            self._add(step)

    def again(self, marks: Marks, upto: int | None = None) -> Trail:
        """A new trail of the same path, or of its first nodes, as these marks have it."""
        return Trail(marks=marks, steps=self.steps[:upto], held=self._held, load=self._load)

    def remarked(self) -> None:
        """Marks that are not `SHAPING` have changed."""
        self._items.clear()

    def read(self, units: Iterable[int]) -> None:
        """Have the nodes of these units read at once."""
        self.nodes.of(node for index in units for node in self.units[index].ids)

    def words_of(self, index: int) -> tuple[Node, ...]:
        """The nodes of a unit."""
        return self.nodes.of(self.units[index].ids)

    def item(self, index: int, key: str, make: Callable[[Unit, tuple[Node, ...]], Item]) -> Item:
        """The unit as an item; made once for each `key`."""
        held = self._items.setdefault(key, [])
        held += [None] * (len(self.units) - len(held))
        found = held[index]
        if found is None:
            found = held[index] = make(self.units[index], self.words_of(index))
        return found

    def counted(self, key: str) -> int:
        """How many nodes `tokens` has asked for."""
        return self._sums.get(key, (0, 0))[0]

    def known(self, key: str, count: int, tokens: int) -> None:
        """What the first `count` nodes cost, so that `tokens` need not ask for them."""
        if count > self.counted(key):
            self._sums[key] = count, tokens

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

    def _steps(self, nodes: Sequence[Node]) -> list[Step]:
        self._held.update((node.id, node) for node in nodes)
        return [step_of(node) for node in nodes]

    def _add(self, step: Step) -> None:
        self.places[step.id] = len(self.ids)
        self.steps.append(step)
        self.ids.append(step.id)
        kind, reason = self._kind(step)
        self._spoken = self._spoken or kind in ("user", "exchange")
        home = self._awaited(step) if step.answers and kind == "exchange" and step.role == "tool" else None
        if home is not None:
            self._join(home, step.id)
            return
        index = len(self.units)
        turn = self.units[-1].turn if self.units else -1
        if kind == "user":
            turn += 1
            self.asked.append(index)
        self.units.append(Unit(kind, (step.id,), turn, reason))
        self.home[step.id] = index
        if kind in ("system", "hidden"):
            self.apart.append(index)
        if kind == "state":
            self.state = merge_patch(self.state, json.loads(step.patch or "{}"))
            self.patches.append(step.id)
        if kind == "exchange":
            for call in step.calls:
                self._waiting.setdefault(call, []).append(index)

    def _join(self, index: int, node: str) -> None:
        unit = self.units[index]
        self.units[index] = Unit(unit.kind, (*unit.ids, node), unit.turn, unit.reason)
        self.home[node] = index
        for held in self._items.values():
            if index < len(held):
                held[index] = None

    def _awaited(self, step: Step) -> int | None:
        waiting = self._waiting
        return max((waiting[call].pop() for call in step.answers if waiting.get(call)), default=None)

    def _kind(self, step: Step) -> tuple[UnitKind, str]:
        kind, marks = KINDS[step.role], self.marks.get(step.id)
        if marks is None:
            return kind, "said during the conversation" if kind == "system" and self._spoken else ""
        if marks.get("erased"):
            return "hidden", "erased"
        if marks.get("hidden"):
            return "hidden", "marked hidden"
        if kind == "system":
            if marks.get("slot") and step.id != self._slot:
                return "hidden", "a newer system prompt took its place"
            head = not self._spoken or step.id == self._slot
            return "system", "" if head else "said during the conversation"
        if step.blank and marks.get("stop") in ("error", "aborted"):
            return "hidden", f"ended in {marks['stop']} without a word"
        return kind, ""
