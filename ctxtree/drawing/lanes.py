"""The log as a graph: newest first, a lane for each branch, joined where they part."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import islice

from ctxtree.drawing.outline import counted
from ctxtree.drawing.sketch import Drawing, Line, Sketch, Spot

WIDEST = 16
"""Lanes that are drawn; of those beyond only their number is told."""


def lanes(sketch: Sketch, limit: int = 0) -> Drawing:
    """The newest `limit` nodes (0: all), each after all nodes below it. Cost: about one step a node."""
    rows = _Lanes()
    order = _newest_first(sketch)
    lines = [
        line
        for identity in islice(order, limit or None)
        for line in rows.draw(sketch.by_id[identity], sketch)
    ]
    left = len(sketch.spots) - limit if limit else 0
    return Drawing(tuple(lines), f"… {counted(left)} before these; --limit 0 draws all" if left > 0 else "")


def _newest_first(sketch: Sketch) -> Iterator[str]:
    """Every node after its children; a branch is followed to where it parts before another begins."""
    waiting = dict.fromkeys(sketch.by_id, 0)
    for spot in sketch.spots:
        for parent in spot.node.parents:
            if parent in waiting:
                waiting[parent] += 1
    todo = [spot.id for spot in sketch.spots if not waiting[spot.id]]
    todo.sort(key=lambda one: sketch.by_id[one].active)
    while todo:
        identity = todo.pop()
        yield identity
        for parent in reversed(sketch.by_id[identity].node.parents):
            if parent in waiting:
                waiting[parent] -= 1
                if not waiting[parent]:
                    todo.append(parent)


class _Lanes:
    """Which node each lane leads to; lanes that end are given to the next branch."""

    def __init__(self) -> None:
        self.leads: list[str | None] = []
        self.found: dict[str, list[int]] = {}
        self.free: list[int] = []

    def draw(self, spot: Spot, sketch: Sketch) -> Iterator[Line]:
        """The lines of one node: lanes that join above it, itself, lanes that part below it."""
        node = spot.node
        columns = sorted(self.found.pop(node.id, ()))
        if not columns:
            columns = [self._open(node.id)]
            self.found.pop(node.id)
        column = columns[0]
        if len(columns) > 1:
            yield Line(self._joined(columns))
            for other in columns[1:]:
                self._close(other)
        yield Line(self._row(column), spot)
        parents = [parent for parent in node.parents if parent in sketch.by_id]
        if not parents:
            self._close(column)
            return
        self.leads[column] = parents[0]
        self.found.setdefault(parents[0], []).append(column)
        for parent in parents[1:]:
            known = self.found.get(parent)
            other = known[0] if known else self._open(parent)
            if other != column:
                yield Line(self._parted(column, other, known is None))

    def _open(self, identity: str) -> int:
        column = heapq.heappop(self.free) if self.free else len(self.leads)
        if column == len(self.leads):
            self.leads.append(None)
        self.leads[column] = identity
        self.found.setdefault(identity, []).append(column)
        return column

    def _close(self, column: int) -> None:
        self.leads[column] = None
        heapq.heappush(self.free, column)

    def _row(self, column: int) -> str:
        marks = ["●" if at == column else "│" if lead else " " for at, lead in enumerate(self.leads[:WIDEST])]
        beyond = f"… lane {column + 1} ● " if column >= WIDEST else ""
        return " ".join(marks).rstrip() + " " + beyond

    def _joined(self, columns: Sequence[int]) -> str:
        signs = dict.fromkeys(columns, "┴")
        signs |= {columns[0]: "├", columns[-1]: "╯"}
        return self._across(columns[0], columns[-1], signs)

    def _parted(self, column: int, other: int, new: bool) -> str:
        right = other > column
        end = ("╮" if right else "╭") if new else ("┤" if right else "├")
        return self._across(
            min(column, other), max(column, other), {column: "├" if right else "┤", other: end}
        )

    def _across(self, first: int, last: int, signs: dict[int, str]) -> str:
        """A line from one lane to another over those between."""
        drawn = ""
        for at, lead in enumerate(self.leads[: min(len(self.leads), WIDEST)]):
            inside = first < at < last
            drawn += signs.get(at) or ("┼" if inside and lead else "─" if inside else "│" if lead else " ")
            drawn += "─" if first <= at < last else " "
        return drawn.rstrip() + ("…" if last >= WIDEST else "")
