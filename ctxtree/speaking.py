"""From the chosen forms of a plan to messages in order, each with the item that pays for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxtree import notices
from ctxtree.gather import said
from ctxtree.model import Message
from ctxtree.plan import Item, Plan, Said

NOTES = frozenset({"facts", "retrieved", "summary", "dead_end"})


def speak(plan: Plan) -> tuple[Said, ...]:
    """What is said to the model, in order. In the `stable` layout recalled texts become a quoted block for each turn."""
    stable = plan.policy.layout == "stable"
    spoken: list[Said] = []
    for index, item in enumerate(plan.items):
        if item.shown is None or (stable and item.kind == "recall" and _recalled_before(plan.items, index)):
            continue
        if stable and item.kind == "recall":
            run = [other for other in plan.items if other.kind == "recall" and other.turn == item.turn]
            spoken.append(Said(_block(run), index, note=True))
        elif stable and item.kind == "state":
            spoken.append(Said(Message.of("user", item.shown.messages[0].text), index, note=True))
        else:
            spoken += _plain(item, index)
    return _with_cuts(spoken, plan) if stable else tuple(spoken)


def _plain(item: Item, index: int) -> list[Said]:
    assert item.shown is not None
    messages = item.shown.messages
    nodes: Sequence[str] = item.nodes if len(item.nodes) == len(messages) else [""] * len(messages)
    note = item.kind in NOTES or (bool(messages) and messages[0].role == "note")
    return [Said(message, index, node, note) for message, node in zip(messages, nodes, strict=True)]


def _recalled_before(items: Sequence[Item], index: int) -> bool:
    turn = items[index].turn
    return any(item.kind == "recall" and item.turn == turn for item in items[:index])


def _block(items: Sequence[Item]) -> Message:
    quotations = []
    for item in items:
        assert item.shown is not None
        for message in item.shown.messages:
            text = said(message) or "\n".join(result.text for result in message.results)
            if text.strip():
                quotations.append(notices.quoted(message.role, text, item.when))
    return Message.of("user", notices.recalled(quotations))


def _with_cuts(spoken: Sequence[Said], plan: Plan) -> tuple[Said, ...]:
    """Cache break points: after the head, before what changes each turn, where the request before ended, at the end.

    That request ended before the newest assistant message. Providers look back some 20 blocks from a break point
    for what they hold, and one exchange with parallel calls may have more.
    """
    volatile = {"state", "facts", "retrieved", "input"}
    kinds = [plan.items[said.item].kind for said in spoken]
    steady = [i for i, kind in enumerate(kinds) if kind not in volatile]
    first_volatile = next((i for i, kind in enumerate(kinds) if kind in volatile), len(spoken))
    answered = max((i for i, said in enumerate(spoken) if said.message.role == "assistant"), default=-1)
    cuts = {
        max((i for i in steady if kinds[i] == "system"), default=-1),
        max((i for i in steady if i < first_volatile), default=-1),
        max((i for i in steady if i < answered), default=-1),
        max(steady, default=-1),
    }
    return tuple(replace(said, cut=True) if i in cuts else said for i, said in enumerate(spoken))
