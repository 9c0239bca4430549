"""Summarize: leave a hole where a summary has to stand for what falls out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ctxtree.plan import HISTORY, Covered, Hole, Plan


@dataclass(frozen=True, slots=True)
class Summarize:
    """Ask for one summary of everything that is left out, rolled forward from what `before` covers.

    The dead ends whose place on the path falls out go with it, into "tried and failed". `places` are
    those of the nodes on the path, so that the summary is told in time order. The summary may cost
    `max_tokens` and always less than what it replaces.
    """

    places: Mapping[str, float]
    before: Covered
    max_tokens: int
    anchors: Mapping[str, Sequence[str]]

    def __call__(self, plan: Plan) -> Plan:
        out = [item for item in plan.items if item.level == "summarized" and item.kind in HISTORY]
        left = sorted((node for item in out for node in item.nodes), key=lambda node: self.places[node])
        if not left:
            return plan
        told = set(self.before.beside)
        followers = [node for anchor in left for node in self.anchors.get(anchor, ()) if node not in told]
        covered = self.before.joined((int(self.places[node]) for node in left), followers)
        replaced = sum(item.full_tokens for item in (*out, *(i for i in plan.items if i.kind == "summary")))
        cap = max(0, min(self.max_tokens, int(replaced * 0.9)))
        return replace(plan, hole=Hole((*left, *followers), covered, cap))
