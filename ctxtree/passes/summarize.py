"""Summarize: leave a hole where a summary has to stand for what falls out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxtree.plan import Hole, Plan


@dataclass(frozen=True, slots=True)
class Summarize:
    """Ask for one summary of everything that is left out, rolled forward from what `before` covers.

    The dead ends whose place on the path falls out go with it, into "tried and failed". `order`
    are the nodes of the path, so that the summary is told in time order. The summary may cost
    `max_tokens` and always less than what it replaces.
    """

    order: Sequence[str]
    before: Sequence[str]
    max_tokens: int
    anchors: dict[str, tuple[str, ...]]

    def __call__(self, plan: Plan) -> Plan:
        left = {
            node: item.full_tokens
            for item in plan.items
            if item.level == "summarized" and item.kind != "dead_end"
            for node in item.nodes
        }
        followers = [node for anchor in self.order if anchor in left for node in self.anchors.get(anchor, ())]
        covered = [node for node in self.order if node in left or node in set(self.before)]
        covered += [node for node in followers if node not in set(covered)]
        known = set(self.before)
        fresh = tuple(node for node in covered if node not in known)
        if not fresh:
            return plan
        source = sum(item.full_tokens for item in plan.items if item.level == "summarized")
        cap = max(0, min(self.max_tokens, int(source * 0.9)))
        return replace(plan, hole=Hole(fresh, tuple(covered), cap))
