"""Gather: a path and what is asked of it become the items of a plan."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import filterfalse
from typing import Any

from ctxtree import notices
from ctxtree.deadends import Note
from ctxtree.model import Media, Message, Node, Reasoning, Text
from ctxtree.plan import Counter, Epoch, Form, Item, Passage
from ctxtree.policy import Budget, Policy
from ctxtree.report import ItemKind, Zone
from ctxtree.results import Fact
from ctxtree.tokens import message_tokens
from ctxtree.trail import Trail
from ctxtree.tree import Unit

DERIVATION = 2
"""Version of everything that is derived from nodes; a new one makes new epochs, summaries and counts."""


@dataclass(frozen=True, slots=True)
class Source:
    """What the store knows: the path and all that belongs to it."""

    trail: Trail
    facts: tuple[Fact, ...] = ()
    """Long-term facts, those to be told first at the head."""
    notes: tuple[Note, ...] = ()
    branch: str = ""
    epoch: Epoch | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    fired: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """What the caller wants this time."""

    budget: Budget
    target: str
    policy: Policy
    counter: Counter
    tools: tuple[Mapping[str, Any], ...] = ()
    response_format: Mapping[str, Any] | None = None
    input: Message | None = None
    retrieved: tuple[Passage, ...] = ()
    dialect: str | None = None


def gather(source: Source, ask: Ask) -> tuple[Item, ...]:
    """All items that may be sent, those of the path in its order.

    Units that the epoch covers have none: the summary stands for them, and `left_out` gives them back.
    Those of the path come measured; what is made here is not yet counted (tokens -1).
    """
    items: list[Item] = []
    if ask.tools or ask.response_format is not None:
        items.append(Item("tools", (), (_form(()),), fixed=True, reason="tool schemas and response format"))
    items += _state(source.trail)
    items += _facts(source, ask)
    items += [_passage(passage) for passage in ask.retrieved]
    items += _history(source, ask)
    items += _notes(source, ask)
    if ask.input is not None:
        items.append(Item("input", (), (_form((ask.input,)),), fixed=True, reason="what the user says now"))
    return tuple(items)


def _form(messages: tuple[Message, ...]) -> Form:
    return Form("full", messages, -1)


def _state(trail: Trail) -> list[Item]:
    nodes = tuple(trail.patches)
    if not trail.state or not isinstance(trail.state, dict):
        reason = "the state is empty"
        return [Item("state", nodes, (), chosen=-1, level="dropped", reason=reason)] if nodes else []
    message = Message.of("system", notices.state(trail.state))
    reason = f"the state after {len(nodes)} patches on this path"
    return [Item("state", nodes, (_form((message,)),), fixed=True, reason=reason)]


def _facts(source: Source, ask: Ask) -> list[Item]:
    if not source.facts:
        return []
    room = max(40, ask.budget.limit // 8)
    kept: list[Fact] = []
    for fact in source.facts:
        cost = ask.counter(fact.text) + 3
        if cost <= room:
            room -= cost
            kept.append(fact)
    if not kept:
        reason = f"none of {len(source.facts)} facts fits an eighth of the budget"
        return [Item("facts", (), (), chosen=-1, level="dropped", reason=reason)]
    kept.sort(key=lambda fact: (fact.created_at.timestamp() if fact.created_at else 0.0, fact.key))
    message = Message.of(
        "user", notices.facts([fact.text for fact in kept])
    )  # a new one last: what is above stays
    reason = f"{len(kept)} of {len(source.facts)} facts, those that fit the words now and those used last"
    return [Item("facts", (), (_form((message,)),), fixed=True, reason=reason)]


def _passage(passage: Passage) -> Item:
    message = Message.of("user", notices.retrieved(passage))
    reason = f"retrieved from {passage.source}" if passage.source else "retrieved"
    return Item("retrieved", (), (_form((message,)),), score=passage.score, reason=reason, fixed=True)


def _history(source: Source, ask: Ask) -> list[Item]:
    """The summary, and every unit that it does not stand for, at the level that the epoch gave it."""
    trail, epoch = source.trail, source.epoch
    shown, late = _shown(trail, epoch)
    items = [_summary(epoch, trail, late)] if epoch is not None and len(epoch.covered) else []
    trail.read(shown)
    last = len(trail.units) - 1
    tip = trail.places[epoch.node] if epoch else -1
    for index in shown:
        item = unit_item(source, ask, index)
        level = epoch.levels.get(item.nodes[0], "full") if epoch else "full"
        if epoch and level != "full" and item.chosen == 0 and trail.places[item.nodes[0]] <= tip:
            item = replace(item, level=level)  # `Condense` makes the form, `settled` shows it
        if index == last and trail.units[index].kind == "exchange":
            item = replace(item, parts={"open": 1.0, **item.parts})
        items.append(item)
    return items


def _shown(trail: Trail, epoch: Epoch | None) -> tuple[list[int], tuple[str, ...]]:
    """Units that have an item, and nodes that joined a unit after the summary took it over."""
    states = {trail.home[node] for node in trail.patches}
    if epoch is None:
        return [index for index in range(len(trail.units)) if index not in states], ()
    covered, tip = epoch.covered, int(trail.places[epoch.node])
    after = trail.ids[tip + 1 :]

    def is_covered(index: int) -> bool:
        return covered.holds(trail.places[trail.units[index].ids[0]])

    found = {trail.home[node] for node in (*epoch.levels, *after)} | set(trail.apart)
    gone = set(filter(is_covered, found))
    late = tuple(node for node in after if trail.home[node] in gone)
    shown = found - gone - states
    held = sum(len(trail.units[index].ids) for index in shown) + len(trail.patches) + len(late)
    if held + covered.size != len(trail.ids):  # a mark was taken back since: look at all of them
        shown = set(filterfalse(is_covered, range(len(trail.units)))) - states
    return sorted(shown), late


def _summary(epoch: Epoch, trail: Trail, late: Sequence[str]) -> Item:
    text = epoch.summary.text if epoch.summary else ""
    tokens = epoch.summary.tokens if epoch.summary else 0
    reason = f"stands for {len(epoch.covered)} nodes" + ("" if text else "; no room for its words")
    messages = (Message.of("user", text),) if text else ()
    return Item(
        "summary", (*epoch.covered.ids(trail.ids), *late), (Form("summarized", messages, -1 if text else tokens),),
        level="summarized", fixed=True, reason=reason,
    )  # fmt: skip


def unit_item(source: Source, ask: Ask, index: int) -> Item:
    """A unit of the path in full, measured; made once for each way of counting."""
    return source.trail.item(index, count_key(ask), lambda unit, nodes: _unit(unit, nodes, source, ask))


def _unit(unit: Unit, nodes: Sequence[Node], source: Source, ask: Ask) -> Item:
    ids = unit.ids
    if unit.kind == "hidden":
        return Item("message", ids, (), chosen=-1, level="dropped", turn=unit.turn, reason=unit.reason)
    messages = tuple(node.message for node in nodes)
    tokens = sum(size_of(node, source, ask) for node in nodes)
    forms = (Form("full", messages, tokens),)
    if unit.kind == "system":
        reason = unit.reason or "the system prompt is never trimmed"
        zone: Zone = "middle" if unit.reason else "head"
        return Item(
            "system", ids, forms, zone=zone, turn=unit.turn, reason=reason,
            fixed=True, pinned=True, full_tokens=tokens,
        )  # fmt: skip
    held = [source.trail.marks.get(node, {}) for node in ids]
    pinned = any(mark.get("pin") for mark in held)
    given = [float(mark["importance"]) for mark in held if mark.get("importance") is not None]
    parts = {"importance": max(given)} if given else {}
    kind: ItemKind = "exchange" if unit.kind == "exchange" else "message"
    reason = "pinned" if pinned else "as it was said"
    when = nodes[0].created_at
    return Item(
        kind, ids, forms, turn=unit.turn, parts=parts, pinned=pinned, reason=reason,
        full_tokens=tokens, when=when,
    )  # fmt: skip


def size_of(node: Node, source: Source, ask: Ask) -> int:
    """What a node costs in full: as it was counted before, else counted now."""
    known = source.counts.get(node.id)
    return cost_of(node.message, ask) if known is None else known


def count_key(ask: Ask) -> str:
    """What stored token counts are filed under."""
    return f"{ask.counter.name}/{ask.target}/{DERIVATION}"


def cost_of(message: Message, ask: Ask) -> int:
    """Raw tokens of a message on the target, less the reasoning that only another API would take back."""
    parts = tuple(p for p in message.parts if not isinstance(p, Reasoning) or p.origin == ask.target)
    heard = message if len(parts) == len(message.parts) else message.model_copy(update={"parts": parts})
    return message_tokens(heard, ask.counter, family(ask.target))


def family(target: str) -> str:
    """Whose rule for media holds."""
    return target if target in ("anthropic", "gemini") else "openai"


def _notes(source: Source, ask: Ask) -> list[Item]:
    """A line for each failed attempt, unless the summary tells of it."""
    told = set(source.epoch.covered.beside) if source.epoch else set()
    items = []
    for note in source.notes:
        if note.nodes[-1] in told:
            continue
        texts = dict.fromkeys((note.text, *note.shorter))
        reason = "a failed attempt, told in one line"
        if _outlived(note, source, ask):
            texts, reason = dict.fromkeys([note.after]), "a failed attempt; the same has worked since"
        home = source.trail.home.get(note.anchor)
        turn = -1 if home is None else source.trail.units[home].turn
        forms = tuple(
            Form("full" if text == note.text else "condensed", (Message.of("user", text),), -1)
            for text in texts
            if text
        )
        item = Item("dead_end", note.nodes, forms, turn=turn, reason=reason, fixed=True)
        items.append(item if forms else item.hide("dropped", reason))
    return items


def _outlived(note: Note, source: Source, ask: Ask) -> bool:
    """True if what failed has worked since; in the `stable` layout a note above stays until the next compaction."""
    if note.worked is None or ask.policy.layout == "classic":
        return note.worked is not None
    return source.epoch is not None and note.worked <= source.trail.places[source.epoch.node]


def words_now(source: Source, ask: Ask) -> str:
    """What the user says now: the input, else the newest user message if the path ends with it."""
    if ask.input is not None:
        return said(ask.input)
    for node in reversed(source.trail.nodes):
        if node.role == "user":
            return said(node.message)
        if node.role not in ("state", "note"):
            return ""
    return ""


def asked_at(source: Source, ask: Ask) -> int:
    """Before which unit stands what was said when the current words were said."""
    trail = source.trail
    return len(trail.units) if ask.input is not None or not trail.asked else trail.asked[-1]


def said(message: Message) -> str:
    """The visible words of a message, transcripts included."""
    texts = [part.text if isinstance(part, Text) else part.transcript or "" for part in message.parts if isinstance(part, Text | Media)]  # fmt: skip
    return "\n".join(text for text in texts if text)


def places(source: Source) -> Mapping[str, float]:
    """Where each node stands on the path; a dead end stands just after its anchor."""
    beside: dict[str, float] = {}
    for order, note in enumerate(source.notes):
        anchor = source.trail.places.get(note.anchor, -1.0)
        for node in note.nodes:
            beside.setdefault(node, anchor + (order + 1) / (len(source.notes) + 2))
    return ChainMap(source.trail.places, beside)
