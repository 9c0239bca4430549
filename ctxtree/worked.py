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
    """The successes on a path; grows at its end. Cost: one step a node, once."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolCall] = {}
        self._nodes: list[str] = []
        self._last: dict[Hashable, tuple[int, datetime | None]] = {}

    def follow(self, nodes: Sequence[Node]) -> Worked:
        """The same, or a new one if `nodes` do not go on from what was read, up to the end of `nodes`."""
        done = len(self._nodes)
        if done > len(nodes) or (done and nodes[done - 1].id != self._nodes[-1]):
            return Worked().follow(nodes)
        for node in nodes[done:]:
            self._read(node)
        return self

    def since(self, proofs: Iterable[Hashable], place: float, when: datetime | None) -> float | None:
        """The place of the last success after `place` that is not known to be older than `when`."""
        found = [self._last[proof] for proof in proofs if proof in self._last]
        later = [at for at, then in found if at > place and not (then and when and then < when)]
        return max(later, default=None)

    def _read(self, node: Node) -> None:
        place = len(self._nodes)
        self._nodes.append(node.id)
        self._calls.update((call.id, call) for call in node.message.calls)
        for result in node.message.results:
            call = self._calls.get(result.call_id)
            if call is not None and not is_failure(result):
                for proof in (same_call(call), *services(call)):
                    self._last[proof] = place, node.created_at
