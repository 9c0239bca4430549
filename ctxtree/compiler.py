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
from ctxtree.compaction import Tools
from ctxtree.errors import BudgetError
from ctxtree.gather import Ask, Source, asked_at, places, said, unit_item
from ctxtree.passes.order import Order
from ctxtree.passes.recall import FLOOR, Recall
from ctxtree.passes.squeeze import Squeeze
from ctxtree.passes.trim import Trim
from ctxtree.plan import HISTORY, Epoch, Plan, Rendered, Settings, SummaryRequest
from ctxtree.preparing import FIXED, billed, called, counted, history, must_stay, prepared, run
from ctxtree.render import target as find_target
from ctxtree.report import Report
from ctxtree.reporting import Story, report_of
from ctxtree.speaking import speak
from ctxtree.tokens import REPLY_TOKENS


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
        plan = placed(plan, source, ask, tools)
        rendered = render(plan, ask)
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


def standing(plan: Plan, source: Source, ask: Ask, tools: Tools) -> Plan:
    """In the `stable` layout: what was called back for each user message since the last compaction stays there.

    It follows from what came before that message, so it is the same at each later compile. All of it
    together takes the room above the high watermark, which the history leaves free; each message may use
    half of what is left of it, since every token of it is paid for again at each step.
    """
    trail, epoch = source.trail, source.epoch
    if plan.policy.layout != "stable" or epoch is None:
        return plan
    tip = trail.places[epoch.node]
    users = [at for at in trail.asked if trail.places[trail.units[at].nodes[0].id] > tip]
    users = trail.asked[len(trail.asked) - len(users) - 1 :] if len(users) < len(trail.asked) else users
    held = {item.nodes[0] for item in plan.items if item.kind == "message" and item.shown}
    spoken = [
        (trail.units[at].turn, said(trail.units[at].nodes[0].message), at)
        for at in users
        if trail.units[at].nodes[0].id in held
    ]
    if ask.input is not None:
        spoken.append((len(trail.asked), plan.query, len(trail.units)))
    fixed = sum(item.tokens for item in plan.items if item.kind in FIXED and item.kind != "input")
    room = int((1 - ask.budget.high) * (plan.limit - fixed - REPLY_TOKENS))
    for turn, words, at in spoken:
        before = called(plan)
        plan = called_back(plan, source, ask, tools, words, at, room // 2, turn)
        room -= called(plan) - before
    return plan


def called_back(
    plan: Plan, source: Source, ask: Ask, tools: Tools, words: str, at: int, room: int, turn: int | None = None
) -> Plan:  # fmt: skip
    """The plan with what fits `words` out of the units before `at` that are left out, within `room`."""
    if not plan.policy.recall or not words.strip() or room <= 0:
        return plan
    return run(plan, (recall(plan, source, ask, tools.relevance(source.trail, words, at), room, turn),))


def recall(
    plan: Plan, source: Source, ask: Ask, fitting: Mapping[int, float], room: int, turn: int | None
) -> Recall:
    """The pass with every unit that may come back: those that fit, their answers, and open questions."""
    trail = source.trail
    back = {trail.home[item.nodes[0]] for item in plan.items if item.kind == "recall"}
    held = {trail.home[item.nodes[0]]: item for item in plan.items if item.kind in HISTORY}
    shown = {index for index, item in held.items() if item.chosen >= 0 or not item.forms} | back
    beyond = source.epoch is not None or len(shown - back) < len(held)
    floor = FLOOR * max(fitting.values(), default=0.0)
    close = {index: score for index, score in fitting.items() if score >= floor and index not in shown}
    turns = {
        held[index].turn
        for index in shown & held.keys()
        if held[index].kind == "exchange" and held[index].forms
    }
    questions = [trail.asked[turn] for turn in sorted(turns, reverse=True) if turn >= 0]
    questions = [index for index in questions if index not in shown]
    said = {index for index in close if trail.units[index].kind == "user"}
    answers = {
        index: answer for index in said if (answer := trail.answer(index)) is not None and answer not in shown
    }
    wanted = {*close, *questions, *answers.values()} if beyond else set()
    left = {index: held.get(index) or unit_item(source, ask, index) for index in sorted(wanted)}
    left = {index: item for index, item in left.items() if item.forms and item.kind in HISTORY}
    return Recall(close, left, questions, answers, room, turn)


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
