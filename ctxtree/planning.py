"""Planning for a path: what its requests are made of, measured as a compile would count it."""

from __future__ import annotations

from typing import Any

from ctxtree.compaction import summary_cap
from ctxtree.gather import Ask, Source, count_key, size_of
from ctxtree.planner import Load, Prices, WatermarkPlan, best
from ctxtree.preparing import prepared

KEPT = 0.4
"""Share of what is available that a compaction leaves, unless the caller says otherwise."""


def plan_for(source: Source, ask: Ask, prices: Prices, keep: float | None, summarizer: Any) -> WatermarkPlan:
    """The watermarks that cost least for this path. Raises `PolicyError`. Cost: one read of the path."""
    return best(ask.budget, load_of(source, ask, summarizer), prices, KEPT if keep is None else keep)


def load_of(source: Source, ask: Ask, summarizer: Any = None) -> Load:
    """Room, head and growth in raw tokens; growth is what the path holds beside system texts, per assistant message."""
    plan = prepared(source, ask, 0, True)
    head = sum(item.tokens for item in plan.items if item.kind in ("system", "tools"))
    total = source.trail.tokens(count_key(ask), lambda node: size_of(node, source, ask))
    system = sum(size_of(node, source, ask) for node in source.trail.nodes if node.role == "system")
    requests = sum(node.role == "assistant" for node in source.trail.nodes)
    growth = max(0, total - system) / requests if requests else 0.0
    modelled = ask.policy.summarize and callable(summarizer)
    return Load(plan.available, head, growth, summary_cap(plan) if modelled else 0)
