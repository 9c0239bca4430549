"""Parents that can be trusted: every record reachable from the root, whatever the file says.

All walks are iterative and take time in proportion to the records. Nothing here depends on the order
of a set or on hashes: ties fall by place in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from ctxtree.importers.base import Log


class Row(Protocol):
    """What linking needs to know of a record. Rows of one `lane` belong together (a subagent's, say)."""

    @property
    def id(self) -> str: ...
    @property
    def parent(self) -> str | None: ...
    @property
    def line(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def lane(self) -> str: ...


def resolve(
    rows: Sequence[Row], log: Log, repair: Literal["previous", "root"] = "previous"
) -> dict[str, str | None]:
    """A parent in the file, or None, for every row; without circles.

    A parent that is missing becomes the row before in the same lane (`previous`) or none (`root`).
    A circle is cut above a repaired row if it has one, else above its earliest; that has no parent then.
    """
    known: set[str] | None = None
    parents: dict[str, str | None] = {}
    last: dict[str, str] = {}
    repaired: set[str] = set()
    for row in rows:
        parent = row.parent
        if parent == row.id:
            log.add("self_parent", f"{row.id} is its own parent", "made a root", row.line, row.offset)
            parent = None
        elif parent is not None and parent not in parents:
            # it comes later, or never: only then is it worth knowing all ids
            known = {row.id for row in rows} if known is None else known
        if parent is not None and known is not None and parent not in known:
            before = last.get(row.lane) if repair == "previous" else None
            action = f"attached to {before}" if before else "made a root"
            log.add("dangling_parent", f"{row.id} names parent {parent}", action, row.line, row.offset)
            repaired.add(row.id)
            parent = before
        parents[row.id] = parent
        last[row.lane] = row.id
    if known is not None:
        cut_circles(rows, parents, repaired, log)
    return parents


def cut_circles(rows: Sequence[Row], parents: dict[str, str | None], repaired: set[str], log: Log) -> None:
    place = {row.id: index for index, row in enumerate(rows)}
    done: set[str] = set()
    for row in rows:
        trail: dict[str, None] = {}
        at: str | None = row.id
        while at is not None and at not in done and at not in trail:
            trail[at] = None
            at = parents[at]
        if at is not None and at in trail:
            steps = list(trail)
            circle = steps[steps.index(at) :]
            cut = min(circle, key=lambda name: (name not in repaired, place[name]))
            parents[cut] = None
            found = rows[place[cut]]
            log.add(
                "cycle", f"{len(circle)} records in a circle", f"cut above {cut}", found.line, found.offset
            )
        done.update(trail)


def splice(
    names: Iterable[str], parents: Mapping[str, str | None], keep: Mapping[str, Any]
) -> dict[str, str | None]:
    """For each of `names` the nearest one above it that is in `keep`, or None."""
    above: dict[str, str | None] = {}
    for name in names:
        trail: list[str] = []
        at: str | None = name
        while at is not None and at not in above:
            trail.append(at)
            at = parents[at]
            if at is not None and at in keep:
                break
        found = at if at is None or at in keep else above[at]
        for step in reversed(trail):
            above[step] = found
            if step in keep:
                found = step
    return above


def in_order(names: Sequence[str], parents: Mapping[str, str | None], key: Callable[[str], Any]) -> list[str]:
    """The names with parents first and siblings by `key`, else in the order given."""
    before = _elder_siblings(names, parents, key)
    given: set[str] = set()
    ordered: list[str] = []
    for name in names:
        todo = [name]
        while todo:
            at = todo[-1]
            if at in given:
                todo.pop()
                continue
            waiting = [
                need for need in (parents[at], before.get(at)) if need is not None and need not in given
            ]
            if waiting:
                todo.extend(waiting)
                continue
            given.add(at)
            ordered.append(at)
            todo.pop()
    return ordered


def _elder_siblings(
    names: Sequence[str], parents: Mapping[str, str | None], key: Callable[[str], Any]
) -> dict[str, str]:
    """For each sibling but the first of its parent's the one that comes right before it."""
    seen: set[str | None] = set()
    several: set[str | None] = set()
    for name in names:
        (several if parents[name] in seen else seen).add(parents[name])
    groups: dict[str | None, list[str]] = {}
    for name in names:
        if parents[name] in several:
            groups.setdefault(parents[name], []).append(name)
    before: dict[str, str] = {}
    for group in groups.values():
        ranked = sorted(group, key=key)
        before.update(zip(ranked[1:], ranked, strict=False))
    return before


def leaves(names: Iterable[str], parents: Mapping[str, str | None]) -> list[str]:
    """The names that are nobody's parent, in the order given."""
    listed = list(names)
    inner = {parents[name] for name in listed}
    return [name for name in listed if name not in inner]
