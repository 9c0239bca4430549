"""The compiler: one path in, one request out, and the reason for each part of it.

`steps` is the whole of it, without any input or output: a generator that yields a
`SummaryRequest` when it needs a summary and is sent the summary back. `compile_path` and
`acompile_path` drive it with a synchronous or an asynchronous summarizer.

A compaction is decided first, as an `Epoch`; the request is then made from the epoch alone. So a
second compile, which finds the epoch in the store, gives the same bytes.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from ctxtree import compaction, summarizers
from ctxtree.beyond import called_back, standing
from ctxtree.compaction import Tools
from ctxtree.errors import BudgetError
from ctxtree.gather import Ask, Source, asked_at, places
from ctxtree.passes.order import Order
from ctxtree.passes.squeeze import Squeeze
from ctxtree.passes.trim import Trim
from ctxtree.plan import Epoch, Plan, Rendered, Settings, SummaryRequest
from ctxtree.preparing import billed, called, counted, history, must_stay, prepared, run
from ctxtree.render import target as find_target
from ctxtree.report import Report
from ctxtree.reporting import Story, report_of
from ctxtree.speaking import speak


@dataclass(frozen=True, slots=True)
class Context:
    """What to send (`payload`, the request body less the model's name), and why (`report`)."""

    payload: dict[str, Any]
    report: Report


@dataclass(frozen=True, slots=True)
class Compiled:
    """A context, and what a store should remember of making it."""

    context: Context
    epoch: Epoch | None
    counts: Mapping[str, int]
    fired: tuple[float, ...]


def compile_path(source: Source, ask: Ask, tools: Tools, summarizer: Any = None) -> Compiled:
    """The request for a path. Raises `BudgetError` or `TargetError`, and then there is nothing to send."""
    running = steps(source, ask, tools)
    try:
        hole = next(running)
        while True:
            hole = running.send(summarizers.fill(hole, summarizer, ask.counter))
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


async def acompile_path(source: Source, ask: Ask, tools: Tools, summarizer: Any = None) -> Compiled:
    """`compile_path` with an asynchronous summarizer."""
    running = steps(source, ask, tools)
    try:
        hole = next(running)
        while True:
            hole = running.send(await summarizers.afill(hole, summarizer, ask.counter))
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


def steps(source: Source, ask: Ask, tools: Tools) -> Generator[SummaryRequest, compaction.Filled, Compiled]:
    """The whole compile. Cost: what is new and what is shown; each node is counted once, ever."""
    counts = counted(source, ask)
    source = replace(
        source, counts=ChainMap(counts, cast(dict[str, int], source.counts)) if counts else source.counts
    )
    story, taken, compactions = Story(), 0, 0
    least: tuple[Plan, Rendered] | None = None
    while True:
        plan = standing(prepared(source, ask, taken, tools.recall_ids), source, ask, tools)
        story = story.under(plan)
        made: compaction.Compaction | None = None
        if ask.policy.summarize and compactions < 2 and compaction.is_due(plan, source):
            made = yield from compaction.compact(plan, source, ask, tools)
            story = story.after(made)
        if made is not None:
            source, taken, compactions = replace(source, epoch=made.epoch), 0, compactions + 1
            plan = standing(prepared(source, ask, taken, tools.recall_ids), source, ask, tools)
        plan, rendered = fitted(plan, source, ask, tools)
        excess = rendered.tokens - plan.limit
        if excess <= 0:
            break
        if least is None or rendered.tokens < least[1].tokens:
            least = plan, rendered
        if taken > plan.limit:
            raise too_big(*least, ask)
        taken += max(excess, taken)
    report, fired = report_of(plan, rendered, source, ask, story)
    # What the last try had to make do with: the next compile here must not find room to try once more.
    epoch = replace(story.epoch, available=plan.available) if story.epoch else None
    return Compiled(Context(rendered.payload, report), epoch, counts, fired)


def fitted(plan: Plan, source: Source, ask: Ask, tools: Tools) -> tuple[Plan, Rendered]:
    """Placed and rendered. What was called back is given up, which breaks the prefix, only where it proves too much."""
    room = plan.available - history(plan)
    if plan.policy.summarize and 0 <= room < called(plan):
        whole = run(plan, (Order(places(source)),))
        rendered = render(whole, ask)
        if rendered.tokens <= whole.limit:
            return whole, rendered
    plan = placed(plan, source, ask, tools)
    return plan, render(plan, ask)


def placed(plan: Plan, source: Source, ask: Ask, tools: Tools) -> Plan:
    """Trim where nothing is summarized, degrade what must stay and does not fit, call back, put in order."""
    if not plan.policy.summarize:
        plan = run(plan, (Trim(must_stay(plan)),))
    if history(plan) + called(plan) > plan.available:
        plan = plan.with_items([item for item in plan.items if item.kind != "recall"])
        plan = run(plan, (Squeeze(must_stay(plan)),)) if history(plan) > plan.available else plan
    # Where even what must stay had to give, nothing older comes back in its place.
    free = 0 if plan.degraded else plan.available - history(plan)
    if free > 0 and plan.policy.layout == "classic":
        plan = called_back(plan, source, ask, tools, plan.query, asked_at(source, ask), free)
    return run(plan, (Order(places(source)),))


def render(plan: Plan, ask: Ask) -> Rendered:
    """The plan as a request of the target."""
    settings = Settings(ask.tools, ask.response_format, ask.budget.reserve, ask.dialect)
    return find_target(ask.target)(speak(plan), settings, ask.counter)


def too_big(plan: Plan, rendered: Rendered, ask: Ask) -> BudgetError:
    """The error with the figures of the shortest request that could be made, as the model counts."""
    parts: dict[str, int] = {}
    for index, tokens in rendered.spans.items():
        kind = plan.items[index].kind
        parts[kind] = parts.get(kind, 0) + billed(tokens, ask)
    parts |= {"tools": billed(rendered.tools, ask), "overhead": billed(rendered.overhead, ask)}
    return BudgetError(billed(rendered.tokens, ask), ask.budget.limit, parts)
