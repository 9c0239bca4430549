"""Compaction: when the history passes the high watermark, levels are decided anew, once.

What it decides is an `Epoch`, recorded at the tip of the path. Nothing is changed: the nodes stay.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace

from ctxtree import summarizers
from ctxtree.gather import DERIVATION, Ask, Source, asked_at, count_key, size_of
from ctxtree.model import canonical, digest
from ctxtree.passes.score import Score
from ctxtree.passes.select import Select
from ctxtree.passes.summarize import Summarize
from ctxtree.passes.supersede import superseding
from ctxtree.plan import HISTORY, Covered, Entry, Epoch, Hole, Plan, Summary, SummaryRequest
from ctxtree.planner import LEAST_GAIN
from ctxtree.preparing import condense, epoch_key, history, must_stay, reopened, room_of, run, supersede
from ctxtree.report import CompactionReport, Level, Signal
from ctxtree.trail import Trail

Filled = tuple[Summary, tuple[Signal, ...]]

Relevance = Callable[[Trail, str, int], Mapping[int, float]]
"""A path, what is asked, and before which unit -> from 0 to 1 how well each unit that fits does, by index, best first."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What the driver is given beside the values.

    `relevance` answers what fits the query; `known` finds a summary that was made before, by key;
    `by` names the summarizer; `recall_ids` says whether what is left out can be asked for.
    """

    relevance: Relevance
    known: Callable[[str], Summary | None] = lambda _key: None
    by: str = "rules"
    recall_ids: bool = True


@dataclass(frozen=True, slots=True)
class Compaction:
    """A new epoch, how it is told, and the value of the selection in it (reached, bound)."""

    epoch: Epoch
    report: CompactionReport
    signals: tuple[Signal, ...]
    value: float
    bound: float


def is_due(plan: Plan, source: Source) -> bool:
    """True over the high watermark or the budget, unless a compaction just here did what could be done."""
    used, epoch = history(plan), source.epoch
    if epoch is not None and epoch.node == source.trail.ids[-1]:
        return used > plan.available and plan.available < epoch.available
    if used > plan.available:
        return True
    return used > plan.budget.high * plan.available or any(_outside(plan))


def compact(
    plan: Plan, source: Source, ask: Ask, tools: Tools
) -> Generator[SummaryRequest, Filled, Compaction | None]:
    """Decide levels down to the low watermark and have what falls out summarized.

    None if that would free less than a twentieth and the request fits as it is: a compaction that
    gains nothing is not tried in a loop.
    """
    path = source.trail.ids
    opened = reopened(plan)
    points = superseding(opened.items) if ask.policy.condense else {}
    chosen = _chosen(opened, points, source, ask, tools)
    before, after = history(plan), history(chosen)
    if not path or (before - after < LEAST_GAIN * before and before <= plan.available):
        return None
    old = source.epoch
    summary: Summary | None = old.summary if old else None
    signals: tuple[Signal, ...] = ()
    if chosen.hole is not None:
        request = _request(chosen.hole, source, ask, tools.by, summary)
        found = tools.known(request.key)
        summary, signals = (found, ()) if found else (yield request)
    levels = {item.nodes[0]: item.level for item in chosen.items if item.kind in HISTORY and item.shown}
    covered = chosen.hole.covered if chosen.hole else (old.covered if old else Covered())
    after += (summary.tokens if summary else 0) - (old.summary.tokens if old and old.summary else 0)
    report = CompactionReport(
        node=path[-1], before=before, after=after, covered=covered.ids(path), branch=source.branch,
        depth=summary.depth if summary else 1,
        reason="over the high watermark" if before <= plan.available else "over the budget",
    )  # fmt: skip
    epoch = Epoch(
        path[-1], epoch_key(ask), levels, covered, summary, plan.available, _kept(points, levels, source),
        room_of(plan), source.trail.tokens(count_key(ask), lambda node: size_of(node, source, ask)),
    )  # fmt: skip
    return Compaction(epoch, report, signals, chosen.value, chosen.bound)


def _kept(points: Mapping[str, str], levels: Mapping[str, Level], source: Source) -> dict[str, str]:
    """Those pointers whose results still have an item."""
    trail = source.trail
    return {node: newer for node, newer in points.items() if trail.units[trail.home[node]].ids[0] in levels}


def _chosen(plan: Plan, points: Mapping[str, str], source: Source, ask: Ask, tools: Tools) -> Plan:
    trail = source.trail
    found = tools.relevance(trail, plan.query, asked_at(source, ask)) if plan.query.strip() else {}
    fitting = {
        i: found[trail.home[item.nodes[0]]]
        for i, item in enumerate(plan.items)
        if item.kind in HISTORY and trail.home[item.nodes[0]] in found
    }
    plan = run(plan, (Score(ask.policy.weights, fitting, trail.terms),))
    if ask.policy.condense:
        shorter = (supersede(points, ask, tools.recall_ids), condense(source, ask, tools.recall_ids))
        plan = run(plan, shorter)
    plan = _windowed(plan)
    cap = summary_cap(plan)
    anchors: dict[str, tuple[str, ...]] = {}
    for note in source.notes:
        anchors[note.anchor] = (*anchors.get(note.anchor, ()), *note.nodes)
    before = source.epoch.covered if source.epoch else Covered()
    called_back = bool(ask.policy.recall and ask.policy.layout == "classic" and plan.query.strip())
    select = Select(must_stay(plan), cap, called_back)
    return run(plan, (select, Summarize(trail.places, before, cap, anchors)))


def summary_cap(plan: Plan) -> int:
    """The room kept for a summary: the policy's, else a tenth of what is available and 150 more, at most a fifth and 1,500 tokens."""
    if plan.policy.summary_tokens is not None:
        return max(0, min(plan.policy.summary_tokens, plan.available // 2))
    share = min(plan.available // 5, 150 + plan.available // 10, 1_500)
    return max(0, share, min(64, plan.available // 2))


def _outside(plan: Plan) -> list[int]:
    """Items that a sliding window leaves behind."""
    if plan.policy.turns is None:
        return []
    shown = [i for i, item in enumerate(plan.items) if item.kind in HISTORY and item.shown]
    newest = max((plan.items[i].turn for i in shown), default=-1)
    first, must = newest - plan.policy.turns + 1, must_stay(plan)
    return [i for i in shown if plan.items[i].turn < first and i not in must]


def _windowed(plan: Plan) -> Plan:
    gone = set(_outside(plan))
    reason = f"outside the last {plan.policy.turns} turns; told in the summary"
    items = [item.hide("summarized", reason) if i in gone else item for i, item in enumerate(plan.items)]
    return replace(plan, items=tuple(items))


def _request(hole: Hole, source: Source, ask: Ask, by: str, before: Summary | None) -> SummaryRequest:
    """The key follows from all that is covered: from what falls out now, and from the summary before."""
    entries = _entries(hole.nodes, source)
    form = {
        "nodes": list(hole.nodes), "runs": [list(run) for run in hole.covered.runs],
        "before": before.key if before else "", "by": by, "cap": hole.max_tokens,
        "policy": ask.policy.model_dump(mode="json"), "counter": ask.counter.name,
        "failed": [entry.failed for entry in entries], "version": DERIVATION,
    }  # fmt: skip
    key = digest("summary", canonical(form))
    return SummaryRequest(key, entries, before, hole.covered.ids(source.trail.ids), hole.max_tokens)


def _entries(nodes: Sequence[str], source: Source) -> tuple[Entry, ...]:
    trail = source.trail
    told = {note.nodes[-1]: note.lesson or note.text for note in source.notes if note.worked is None}
    told |= {note.nodes[-1]: note.after for note in source.notes if note.worked is not None and note.after}
    on_path = [trail.nodes[int(trail.places[node])] for node in nodes if node in trail.places]
    names = {call.id: call.name for node in on_path for call in node.message.calls}
    entries = []
    for identity in nodes:
        if identity in trail.places:
            node = trail.nodes[int(trail.places[identity])]
            status = trail.marks.get(identity, {}).get("status") or {}
            failed = str(status.get("reason") or "failed") if status.get("status") == "failed" else ""
            entries.append(summarizers.entry(node, failed=failed, tool_names=names))
        elif identity in told:
            entries.append(Entry(identity, "note", "", failed=told[identity]))
    return tuple(entries)
