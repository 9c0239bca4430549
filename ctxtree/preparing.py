"""From a path to a measured plan: items with their costs, at the levels that the epoch gave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ctxtree.counter import TextCounter
from ctxtree.gather import DERIVATION, Ask, Source, cost_of, count_key, gather, words_now
from ctxtree.model import Node, canonical, digest, texts
from ctxtree.passes.condense import Condense
from ctxtree.passes.measure import Measure
from ctxtree.passes.supersede import Supersede
from ctxtree.plan import HISTORY, Item, Pass, Plan, Settings
from ctxtree.render import target
from ctxtree.tokens import REPLY_TOKENS

FIXED = frozenset({"system", "tools", "state", "input"})
"""Kinds that are paid for before anything is shared."""


NOTE = 80
"""Tokens over which a note of a failed attempt is told in its shorter form."""


def prepared(source: Source, ask: Ask, taken: int, recall_ids: bool) -> Plan:
    """The plan before any choice. `taken` is kept back from what is available, in raw tokens."""
    limit = raw_limit(ask)
    items = gather(source, ask)
    plan = Plan(
        items=items, budget=ask.budget, policy=ask.policy, counter=ask.counter,
        limit=limit, query=words_now(source, ask), nodes=len(source.trail.ids),
        behind=_behind(items, source),
    )  # fmt: skip
    plan = run(plan, (Measure(lambda message: cost_of(message, ask)),))
    plan = plan.with_items([_with_tools(item, ask) for item in plan.items])
    available = limit - fixed_tokens(plan) - REPLY_TOKENS - taken
    plan = replace(plan, available=available, aim=int(ask.budget.low * available))
    return settled(_shared(plan), source, ask, recall_ids)


def _behind(items: Sequence[Item], source: Source) -> int:
    """Nodes of the path that only the summary stands for."""
    told = next((len(item.nodes) for item in items if item.kind == "summary"), 0)
    return told - len(source.epoch.covered.beside) if source.epoch else 0


def counted(source: Source, ask: Ask) -> dict[str, int]:
    """The tokens of those nodes of the path that were never counted. Cost: what is new on the path."""
    fresh: dict[str, int] = {}
    key = count_key(ask)
    new = [node for node in source.trail.nodes[source.trail.counted(key) :] if node.id not in source.counts]
    if isinstance(ask.counter, TextCounter) and len(new) > 1:
        ask.counter.many([text for node in new for text in texts(node.message)])

    def size(node: Node) -> int:
        known = source.counts.get(node.id)
        if known is None:
            known = fresh[node.id] = cost_of(node.message, ask)
        return known

    source.trail.tokens(key, size)
    return fresh


def raw_limit(ask: Ask) -> int:
    """What a request may cost, in raw tokens: the budget divided by the counter's factor or bound."""
    bound = ask.budget.safety == "bound"
    return int(ask.budget.limit / (ask.counter.bound if bound else ask.counter.factor))


def billed(tokens: int, ask: Ask) -> int:
    """Raw tokens as the model will count them, rounded up."""
    factor = ask.counter.bound if ask.budget.safety == "bound" else ask.counter.factor
    return -int(-tokens * factor // 1)


def epoch_key(ask: Ask) -> str:
    """Compactions are shared only by compiles that agree in all of this."""
    agreed = {
        "policy": ask.policy.model_dump(mode="json"), "target": ask.target, "counter": ask.counter.name,
        "budget": ask.budget.model_dump(mode="json"), "version": DERIVATION,
    }  # fmt: skip
    return digest("epoch", canonical(agreed))


def history(plan: Plan) -> int:
    """Tokens of everything that shares `plan.available`, less what was called back."""
    return sum(item.tokens for item in plan.items if item.kind not in FIXED and item.kind != "recall")


def called(plan: Plan) -> int:
    """Tokens of what was called back."""
    return sum(item.tokens for item in plan.items if item.kind == "recall")


def fixed_tokens(plan: Plan) -> int:
    return sum(item.tokens for item in plan.items if item.kind in FIXED)


def room_of(plan: Plan) -> int:
    """What is left beside system, tools and state, whatever the input is."""
    fixed = sum(item.tokens for item in plan.items if item.kind in FIXED and item.kind != "input")
    return plan.limit - fixed - REPLY_TOKENS


def must_stay(plan: Plan) -> frozenset[int]:
    """The newest user words, the last exchange and pins: they stay in some form."""
    asked = any(item.kind == "input" for item in plan.items)
    users = [] if asked else [i for i, item in enumerate(plan.items) if is_user(item)]
    steps = [i for i, item in enumerate(plan.items) if item.kind == "exchange" and item.shown]
    pins = [i for i, item in enumerate(plan.items) if item.pinned]
    return frozenset([*users[-1:], *steps[-1:], *pins])


def is_user(item: Item) -> bool:
    return item.kind == "message" and bool(item.forms) and item.forms[0].messages[0].role == "user"


def run(plan: Plan, passes: Sequence[Pass]) -> Plan:
    """Apply the passes; after each, every node of the path must still stand in exactly one item."""
    for step in passes:
        plan = step(plan)
        plan = replace(plan, steps=(*plan.steps, type(step).__name__))
        _verify(plan, type(step).__name__)
    return plan


def _verify(plan: Plan, step: str) -> None:
    held = 0
    seen: set[str] = set()
    for item in plan.items:
        if item.kind in ("recall", "summary", "dead_end"):
            continue
        held += len(item.nodes)
        seen.update(item.nodes)
        if item.pinned and item.forms and item.chosen < 0:
            raise AssertionError(f"{step} lost a pinned item of {len(item.nodes)} nodes")
    if held != len(seen) or held + plan.behind != plan.nodes:
        raise AssertionError(f"{step} does not account for every node exactly once")


def _with_tools(item: Item, ask: Ask) -> Item:
    if item.kind != "tools":
        return item
    cost = target(ask.target).extras(Settings(ask.tools, ask.response_format), ask.counter)
    return replace(item, forms=(replace(item.forms[0], tokens=cost),), full_tokens=cost)


def _shared(plan: Plan) -> Plan:
    """Retrieved texts and dead-end notes within their own budgets: best and newest first."""
    items = list(plan.items)
    rooms = {
        "retrieved": int(plan.policy.retrieved_share * plan.available),
        "dead_end": min(plan.policy.dead_end_tokens, plan.available // 4),
    }
    for kind, room in rooms.items():
        indices = [i for i, item in enumerate(items) if item.kind == kind and item.shown]
        ranked = sorted(indices, key=lambda i: (-items[i].score, -i if items[i].kind == "dead_end" else i))
        for i in ranked:
            items[i] = _within(items[i], room)
            room -= items[i].tokens
    return plan.with_items(items)


def _within(item: Item, room: int) -> Item:
    """The item in its fullest form that fits, else left out; a note in a shorter form where one is long."""
    last = len(item.forms) - 1
    cap = NOTE if item.kind == "dead_end" else room
    fits = next(
        (at for at, form in enumerate(item.forms) if form.tokens <= min(room, cap if at < last else room)),
        None,
    )
    if fits is None:
        return item.hide("dropped", f"over the budget of {item.kind} texts")
    return item.show(
        fits, item.reason if fits == 0 else f"{item.reason}, shorter to fit the budget of such texts"
    )


def settled(plan: Plan, source: Source, ask: Ask, recall_ids: bool) -> Plan:
    """Items that an epoch shortened, in that form again: a pure function of the item and the policy."""
    short = [
        i for i, item in enumerate(plan.items) if item.chosen == 0 and item.level in ("condensed", "stub")
    ]
    if not short:
        return plan
    points = source.epoch.points if source.epoch else {}
    passes = (supersede(points, ask, recall_ids), condense(source, ask, recall_ids))
    offered = plan.with_items([plan.items[i] for i in short])
    for step in passes:
        offered = step(offered)
    items = list(plan.items)
    for i, item in zip(short, offered.items, strict=True):
        if item.forms[0].level != "full":  # superseded; the next compaction starts from the whole again
            item = replace(item, forms=(plan.items[i].forms[0], *item.forms))
        index = next(
            (n for n, form in enumerate(item.forms) if form.level == item.level), len(item.forms) - 1
        )
        items[i] = item.show(index, "as decided at the last compaction")
    return plan.with_items(items)


def condense(source: Source, ask: Ask, recall_ids: bool) -> Condense:
    return Condense(
        tool_tokens=ask.policy.tool_tokens, recall=recall_ids, cost=lambda message: cost_of(message, ask),
        made=source.trail.forms, key=count_key(ask),
    )  # fmt: skip


def supersede(points: Mapping[str, str], ask: Ask, recall_ids: bool) -> Supersede:
    return Supersede(points, recall_ids, lambda message: cost_of(message, ask))


def reopened(plan: Plan) -> Plan:
    """Every unit that is still shown is open to choice again, from its full form; what was called back is not."""
    return plan.with_items(
        [
            replace(item, chosen=0, level="full", forms=item.forms[:1])
            if item.kind in HISTORY and item.shown
            else item
            for item in plan.items
            if item.kind != "recall"
        ]
    )
