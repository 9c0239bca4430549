"""Order: what matters stands at the head and at the tail, where models look.

Liu et al., Lost in the Middle (2023): what stands in the middle of a long context is used least.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ctxtree.plan import Item, Plan
from ctxtree.report import Zone

LAST = 1 << 40


@dataclass(frozen=True, slots=True)
class Order:
    """Give each item its zone and put the items in the order in which they are sent.

    `places` maps a node to its position on the path. In the `stable` layout what changes from turn
    to turn (state, facts, retrieved texts) stands just before the newest user words, and recalled texts
    before the words that they were called back for.
    """

    places: Mapping[str, float]

    def __call__(self, plan: Plan) -> Plan:
        newest = max((item.turn for item in plan.items if item.kind in ("message", "exchange")), default=-1)
        recent = newest - max(plan.policy.keep_turns, 2) + 1
        users = self._users(plan)
        asked = (
            LAST if any(item.kind == "input" for item in plan.items) else max(users.values(), default=LAST)
        )
        keyed = []
        for index, item in enumerate(plan.items):
            seat = users.get(item.turn, asked) if item.kind == "recall" else asked
            zone, rank, place = self._seat(item, plan.policy.layout, recent, seat)
            keyed.append(((rank, place, index), item if item.zone == zone else replace(item, zone=zone)))
        return plan.with_items([item for _, item in sorted(keyed, key=lambda pair: pair[0])])

    def _users(self, plan: Plan) -> dict[int, float]:
        """Where the user message of each turn stands."""
        return {
            item.turn: self.places.get(item.nodes[0], 0)
            for item in plan.items
            if item.kind == "message" and item.shown and item.shown.messages[0].role == "user"
        }

    def _seat(self, item: Item, layout: str, recent: int, asked: float) -> tuple[Zone, int, float]:
        place = float(self.places.get(item.nodes[0], 0)) if item.nodes else 0.0
        if item.kind == "system" and item.zone != "head":
            return "middle", 8, place
        if item.kind in ("tools", "system"):
            return "head", 0 if item.kind == "tools" else 1, place
        if item.kind == "input":
            return "tail", 9, 0.0
        if item.kind == "summary":
            return "middle", 7, 0.0
        if item.kind in ("state", "facts", "retrieved"):
            rank = {"state": 2, "facts": 4, "retrieved": 5}[item.kind]
            if layout == "stable":
                return "tail", 8, asked - 0.9 + rank / 100
            return ("head" if item.kind == "state" else "near_head"), rank, place
        if item.kind == "recall":
            return (
                "tail" if item.turn >= recent else "middle",
                8,
                asked - 0.5 if layout == "stable" else place,
            )
        if item.kind == "dead_end":
            return ("tail" if item.turn >= recent else "middle"), 8, place
        if item.pinned and item.kind == "message" and item.turn < recent:
            return "head", 3, place
        return ("tail" if item.turn >= recent else "middle"), 8, place
