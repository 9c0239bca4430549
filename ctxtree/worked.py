"""Which calls and services have answered without an error on a path, and where last: what a failure before may be held against."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime

from ctxtree.model import Node, ToolCall, canonical
from ctxtree.outages import Outage, services
from ctxtree.tree import is_failure


def same_call(call: ToolCall) -> Hashable:
    """Equal for calls of one tool with equal arguments."""
    return call.name, canonical(call.object)


def proofs(call: ToolCall | None, outage: Outage | None) -> tuple[Hashable, ...]:
    """What must have worked since for a failure of this call to be out of date.

    An answer of the same call, or, of a service that was down or over its quota, any answer. Access that was
    refused to one thing says nothing of another.
    """
    own = () if call is None else (same_call(call),)
    return (*own, outage.service) if outage is not None and outage.kind != "access" else own


class Worked:
    """The successes on a path from place `start` on; grows at its end. Cost: one step a node, once."""

    def __init__(self, start: int = 0) -> None:
        self._start = start
        self._calls: dict[str, ToolCall] = {}
        self._ids: list[str] = []
        self._last: dict[Hashable, tuple[int, datetime | None]] = {}

    def follow(self, path: Sequence[Node], ids: Sequence[str], start: int) -> Worked:
        """The same, or a new one if it cannot go on, read up to the end of the path.

        `ids` are those of the path; nothing before `start` is read, where calls are of no interest.
        """
        done = self._start + len(self._ids)
        goes_on = (
            self._start <= start and done <= len(ids) and (not self._ids or ids[done - 1] == self._ids[-1])
        )
        if not goes_on:
            return Worked(start).follow(path, ids, start)
        for node in path[done:]:
            self._read(node)
        return self

    def since(self, proofs: Iterable[Hashable], place: float, when: datetime | None) -> float | None:
        """The place of the last success after `place` that is not known to be older than `when`."""
        found = [self._last[proof] for proof in proofs if proof in self._last]
        later = [at for at, then in found if at > place and not (then and when and then < when)]
        return max(later, default=None)

    def _read(self, node: Node) -> None:
        place = self._start + len(self._ids)
        self._ids.append(node.id)
        self._calls.update((call.id, call) for call in node.message.calls)
        for result in node.message.results:
            call = self._calls.get(result.call_id)
            if call is not None and not is_failure(result):
                for proof in (same_call(call), *services(call)):
                    self._last[proof] = place, node.created_at
