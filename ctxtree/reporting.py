"""From a finished plan to its report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ctxtree.compaction import Compaction
from ctxtree.gather import Ask, Source, count_key, size_of
from ctxtree.plan import Epoch, Item, Plan, Rendered, Summary
from ctxtree.planner import Load, Prices, break_even, gain
from ctxtree.preparing import billed, fixed_tokens, history, is_user, must_stay
from ctxtree.report import (
    BudgetReport,
    CompactionReport,
    CounterReport,
    ItemReport,
    PathReport,
    Report,
    SelectionReport,
    Signal,
)

FOLDED = frozenset({"exchange", "message", "dead_end"})
"""Kinds that stand in the summary item once they are summarized."""


@dataclass(frozen=True, slots=True)
class Story:
    """What happened on the way: the fill before any compaction, the compaction, its signals."""

    before: int = -1
    compaction: CompactionReport | None = None
    epoch: Epoch | None = None
    signals: tuple[Signal, ...] = ()
    selection: SelectionReport = field(default_factory=SelectionReport)

    def under(self, plan: Plan) -> Story:
        """With the fill of the first plan, which alerts look at."""
        return self if self.before >= 0 else replace(self, before=history(plan) + fixed_tokens(plan))

    def after(self, made: Compaction | None) -> Story:
        if made is None:
            message = "a compaction would have freed less than a twentieth; the history stays as it is"
            signal = Signal(code="no_progress", message=message)
            return replace(self, signals=(*self.signals, signal))
        report = made.report
        if self.compaction is not None:
            report = report.model_copy(update={"before": self.compaction.before})
        report = priced(report, made.epoch.summary)
        selection = SelectionReport(value=round(made.value, 6), bound=round(made.bound, 6))
        signals = (*self.signals, *made.signals)
        return Story(self.before, report, made.epoch, signals, selection)


def priced(report: CompactionReport, summary: Summary | None) -> CompactionReport:
    """With what it saves and costs at the default prices."""
    prices = Prices()
    length = summary.tokens if summary is not None and not summary.by.startswith("rules") else 0
    saved, spent = gain(report.after, report.before, length, prices)
    even = break_even(report.after, report.before, Load(0, 0, 0.0, length), prices)
    figures = {"saved": round(saved / prices.input, 1), "cost": round(spent / prices.input, 1)}
    return report.model_copy(update={**figures, "break_even": even, "prices": prices.model_dump()})


def report_of(
    plan: Plan, rendered: Rendered, source: Source, ask: Ask, story: Story
) -> tuple[Report, tuple[float, ...]]:
    """The report, and the alert thresholds that have fired on this branch since its last compaction."""
    items = _items(plan, rendered)
    alerts, fired = _alerts(plan, source, story)
    path = source.trail.ids
    spent = source.trail.tokens(count_key(ask), lambda node: size_of(node, source, ask))
    report = Report(
        target=ask.target, tokens=rendered.tokens, counter=_counter(rendered, ask),
        budget=_budget(plan, items, rendered, ask), items=items, path=PathReport.model_construct(nodes=tuple(path), tokens=spent),
        compaction=story.compaction, selection=story.selection, alerts=alerts,
        degraded=(*_degraded(plan), *(s for s in story.signals if s.code == "no_progress")),
        repairs=rendered.repairs, losses=rendered.losses,
        notes=(*(s for s in story.signals if s.code != "no_progress"), *_notes(ask)),
        policy=ask.policy.model_dump(mode="json"),
    )  # fmt: skip
    return report, fired


def _degraded(plan: Plan) -> tuple[Signal, ...]:
    """What had to give, with the newest user message where a compaction already cut it."""
    code = "newest_user_truncated"
    users = [i for i in sorted(must_stay(plan)) if is_user(plan.items[i]) and not plan.items[i].pinned]
    cut = [plan.items[i] for i in users if plan.items[i].level == "condensed"]
    if not cut or any(signal.code == code for signal in plan.degraded):
        return plan.degraded
    message = f"cut from {cut[0].full_tokens} to {cut[0].tokens} tokens: it must stay and did not fit"
    return (*plan.degraded, Signal(code=code, message=message, nodes=cut[0].nodes))


def _items(plan: Plan, rendered: Rendered) -> tuple[ItemReport, ...]:
    told = []
    for index, item in enumerate(plan.items):
        if item.level == "summarized" and item.kind in FOLDED:
            continue
        tokens = rendered.tools if item.kind == "tools" else rendered.spans.get(index, 0)
        told.append(_item(item, tokens))
    if rendered.tools and not any(item.kind == "tools" for item in plan.items):
        told.append(_declared(rendered.tools))
    return tuple(told)


def _declared(tokens: int) -> ItemReport:
    reason = "the history calls tools that were not given; this dialect wants them declared"
    return ItemReport(
        nodes=(), kind="tools", zone="head", level="full", tokens=tokens, full_tokens=tokens, reason=reason
    )


def _item(item: Item, tokens: int) -> ItemReport:
    full = max(item.full_tokens, tokens) if item.level == "full" else item.full_tokens
    return ItemReport.model_construct(
        nodes=item.nodes, kind=item.kind, zone=item.zone, level=item.level, tokens=tokens, full_tokens=full,
        score=round(item.score, 4), parts={name: round(part, 4) for name, part in item.parts.items()},
        reason=item.reason,
    )  # fmt: skip


def _budget(plan: Plan, items: tuple[ItemReport, ...], rendered: Rendered, ask: Ask) -> BudgetReport:
    spent: dict[str, int] = {}
    for item in items:
        spent[item.kind] = spent.get(item.kind, 0) + item.tokens
    window = plan.limit + round(ask.budget.reserve * plan.limit / ask.budget.limit)
    fixed = {kind: spent.get(kind, 0) for kind in ("system", "tools", "state", "input")}
    shared = {
        "facts": spent.get("facts", 0), "retrieved": spent.get("retrieved", 0),
        "dead_ends": spent.get("dead_end", 0), "summary": spent.get("summary", 0),
        "history": spent.get("message", 0) + spent.get("exchange", 0), "recall": spent.get("recall", 0),
        "overhead": rendered.overhead,
    }  # fmt: skip
    available = plan.limit - sum(fixed.values())
    free = available - sum(shared.values())
    return BudgetReport(
        window=window, reserve=window - plan.limit, available=available, free=free, **fixed, **shared
    )


def _counter(rendered: Rendered, ask: Ask) -> CounterReport:
    counter = ask.counter
    return CounterReport(
        name=counter.name, exact=counter.exact, factor=counter.factor, bound=counter.bound,
        estimated=billed(rendered.tokens, ask),
    )  # fmt: skip


def _notes(ask: Ask) -> tuple[Signal, ...]:
    counter = ask.counter
    found = []
    if getattr(counter, "fallback", False):
        message = f"no tokenizer is known for {getattr(counter, 'asked', '')!r}; counted with {counter.name}"
        found.append(Signal(code="unknown_model", message=message))
    if getattr(counter, "inexact", 0):
        message = "a run of over 4,096 characters without a break was counted in pieces"
        found.append(Signal(code="counted_in_pieces", message=message))
    return tuple(found)


def _alerts(plan: Plan, source: Source, story: Story) -> tuple[tuple[Signal, ...], tuple[float, ...]]:
    """The highest threshold that the fill before compaction passes for the first time since the last compaction."""
    share = story.before / max(1, plan.limit)
    new = [at for at in sorted(plan.policy.alerts) if share >= at and at not in source.fired]
    fired = () if story.compaction is not None else (*source.fired, *new)
    if not new:
        return (), fired
    if share > 1:
        message = (
            f"the whole path would take {story.before:,} tokens of {plan.limit:,}: it was shortened to fit"
        )
    else:
        message = f"{share:.0%} of the budget is used, over the mark of {new[-1]:.0%}"
    return (Signal(code="budget_alert", message=message),), fired
