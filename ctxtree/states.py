"""Two states that grew from one: what the other side changed, and where both did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ctxtree.model import canonical


@dataclass(frozen=True, slots=True)
class StateChange:
    """One field of the state object: its place, and what it was at the common node and is on each side (None: not there)."""

    field: tuple[str, ...]
    base: Any
    left: Any
    right: Any

    @property
    def name(self) -> str:
        """The field in one line: `slots.city`."""
        return ".".join(self.field)


def changes(base: Any, left: Any, right: Any) -> tuple[StateChange, ...]:
    """Every field in which the two sides differ, in order of name; objects field by field, anything else as a whole."""
    return tuple(_changes((), base, left, right))


def _changes(at: tuple[str, ...], base: Any, left: Any, right: Any) -> Iterator[StateChange]:
    if _same(left, right):
        return
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        before = base if isinstance(base, Mapping) else {}
        for name in sorted({*left, *right}):
            yield from _changes((*at, name), before.get(name), left.get(name), right.get(name))
    else:
        yield StateChange(at, base, left, right)


def _same(one: Any, other: Any) -> bool:
    """Equal, where 1, 1.0 and true are three things."""
    return canonical(one) == canonical(other)


def taken_over(found: tuple[StateChange, ...]) -> tuple[dict[str, Any], tuple[StateChange, ...]]:
    """The merge patch (RFC 7396) that brings the right side's changes to the left, and the conflicts, which it leaves alone.

    A field that only the right side changed is taken over, one that both changed is not.
    """
    patch: dict[str, Any] = {}
    conflicts = []
    for change in found:
        if _same(change.right, change.base):
            continue
        if not _same(change.left, change.base):
            conflicts.append(change)
            continue
        holder = patch
        for name in change.field[:-1]:
            holder = holder.setdefault(name, {})
        holder[change.field[-1]] = change.right
    return patch, tuple(conflicts)
