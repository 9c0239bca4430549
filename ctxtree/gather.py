"""Gather: a path and what is asked of it become the items of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxtree import notices
from ctxtree.deadends import Note
from ctxtree.model import Media, Message, Node, Text
from ctxtree.plan import Counter, Epoch, Form, Item, Passage
from ctxtree.policy import Budget, Policy
from ctxtree.report import ItemKind, Zone
from ctxtree.tree import Marks, Unit, fold_state, units


@dataclass(frozen=True, slots=True)
class Source:
    """What the store knows: the path and all that belongs to it."""

    path: tuple[Node, ...]
    marks: Marks = field(default_factory=dict)
    facts: tuple[str, ...] = ()
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
    """All items, those of the path in its order; forms are not yet counted (tokens -1).

    Units that the epoch covers are hidden but keep their full form, so that they can be recalled.
    """
    items: list[Item] = []
    if ask.tools or ask.response_format is not None:
        items.append(Item("tools", (), (_form(()),), fixed=True, reason="tool schemas and response format"))
    items += _state(source)
    items += _facts(source, ask)
    items += [_passage(passage) for passage in ask.retrieved]
    if source.epoch is not None and source.epoch.covered:
        items.append(_summary(source.epoch))
    items += _units(source)
    if ask.input is not None:
        items.append(Item("input", (), (_form((ask.input,)),), fixed=True, reason="what the user says now"))
    return tuple(items)


def _form(messages: tuple[Message, ...]) -> Form:
    return Form("full", messages, -1)


def _state(source: Source) -> list[Item]:
    nodes = tuple(node.id for node in source.path if node.role == "state")
    state = fold_state(source.path)
    if not state:
        reason = "the state is empty"
        return [Item("state", nodes, (), chosen=-1, level="dropped", reason=reason)] if nodes else []
    message = Message.of("system", notices.state(state))
    reason = f"the state after {len(nodes)} patches on this path"
    return [Item("state", nodes, (_form((message,)),), fixed=True, reason=reason)]


def _facts(source: Source, ask: Ask) -> list[Item]:
    if not source.facts:
        return []
    room = max(40, ask.budget.limit // 8)
    kept: list[str] = []
    for text in source.facts:
        room -= ask.counter(text) + 3
        if room < 0:
            break
        kept.append(text)
    if not kept:
        reason = f"none of {len(source.facts)} facts fits an eighth of the budget"
        return [Item("facts", (), (), chosen=-1, level="dropped", reason=reason)]
    message = Message.of(
        "user", notices.facts(kept[::-1])
    )  # a new fact stands last: what is above stays equal
    reason = f"{len(kept)} of {len(source.facts)} facts, those used last"
    return [Item("facts", (), (_form((message,)),), fixed=True, reason=reason)]


def _passage(passage: Passage) -> Item:
    message = Message.of("user", notices.retrieved(passage))
    reason = f"retrieved from {passage.source}" if passage.source else "retrieved"
    return Item("retrieved", (), (_form((message,)),), score=passage.score, reason=reason, fixed=True)


def _summary(epoch: Epoch) -> Item:
    text = epoch.summary.text if epoch.summary else ""
    tokens = epoch.summary.tokens if epoch.summary else 0
    reason = f"stands for {len(epoch.covered)} nodes" + ("" if text else "; no room for its words")
    messages = (Message.of("user", text),) if text else ()
    return Item(
        "summary", epoch.covered, (Form("summarized", messages, -1 if text else tokens),),
        level="summarized", fixed=True, reason=reason,
    )  # fmt: skip


def _units(source: Source) -> list[Item]:
    epoch = source.epoch
    tip = _tip(source)
    covered = set(epoch.covered) if epoch else set()
    notes: dict[str, list[Note]] = {}
    for note in source.notes:
        notes.setdefault(note.anchor, []).append(note)
    items: list[Item] = [_note(note, -1) for note in notes.pop("", [])]
    found = units(source.path, source.marks)
    last = max((i for i, unit in enumerate(found) if unit.kind == "exchange"), default=-1)
    for index, unit in enumerate(found):
        if unit.kind == "state":
            continue
        item = _unit(unit, source.marks, is_open=index == last and last == len(found) - 1)
        if epoch and unit.ids[0] in covered:
            item = item.hide("summarized", "told in the summary")
        elif epoch and unit.ids[0] in epoch.levels and unit.ids[0] in tip:
            item = _at(item, epoch)
        items.append(item)
        for node in unit.nodes:
            for note in notes.get(node.id, ()):
                gone = note.nodes[0] in covered
                items.append(_note(note, unit.turn, gone=gone))
    return items


def _tip(source: Source) -> set[str]:
    if source.epoch is None:
        return set()
    ids = [node.id for node in source.path]
    return set(ids[: ids.index(source.epoch.node) + 1])


def _at(item: Item, epoch: Epoch) -> Item:
    """The item at the level that the epoch gave it; `Condense` makes the form, `settle` shows it."""
    return Item(
        item.kind, item.nodes, item.forms, item.chosen, epoch.levels[item.nodes[0]], item.zone, item.turn,
        parts=item.parts, reason=item.reason, pinned=item.pinned, when=item.when,
    )  # fmt: skip


def _unit(unit: Unit, marks: Marks, is_open: bool) -> Item:
    ids = unit.ids
    messages = tuple(node.message for node in unit.nodes)
    if unit.kind == "hidden":
        return Item("message", ids, (), chosen=-1, level="dropped", turn=unit.turn, reason=unit.reason)
    if unit.kind == "system":
        reason = unit.reason or "the system prompt is never trimmed"
        zone: Zone = "middle" if unit.reason else "head"
        return Item(
            "system",
            ids,
            (_form(messages),),
            zone=zone,
            turn=unit.turn,
            reason=reason,
            fixed=True,
            pinned=True,
        )
    held = [marks.get(node, {}) for node in ids]
    pinned = any(mark.get("pin") for mark in held)
    parts: dict[str, float] = {"open": 1.0} if is_open else {}
    given = [float(mark["importance"]) for mark in held if mark.get("importance") is not None]
    if given:
        parts["importance"] = max(given)
    kind: ItemKind = "exchange" if unit.kind == "exchange" else "message"
    reason = "pinned" if pinned else "as it was said"
    when = unit.nodes[0].created_at
    return Item(
        kind, ids, (_form(messages),), turn=unit.turn, parts=parts, pinned=pinned, reason=reason, when=when
    )


def _note(note: Note, turn: int, gone: bool = False) -> Item:
    form = _form((Message.of("user", note.text),))
    reason = "a failed attempt, told in one line"
    item = Item("dead_end", note.nodes, (form,), turn=turn, reason=reason, fixed=True)
    return item.hide("summarized", "told in the summary") if gone else item


def words_now(source: Source, ask: Ask) -> str:
    """What the user says now: the input, else the newest user message if the path ends with it."""
    if ask.input is not None:
        return said(ask.input)
    for node in reversed(source.path):
        if node.role == "user":
            return said(node.message)
        if node.role not in ("state", "note"):
            return ""
    return ""


def said(message: Message) -> str:
    """The visible words of a message, transcripts included."""
    texts = [part.text if isinstance(part, Text) else part.transcript or "" for part in message.parts if isinstance(part, Text | Media)]  # fmt: skip
    return "\n".join(text for text in texts if text)


def places(source: Source) -> dict[str, float]:
    """Where each node stands on the path; a dead end stands just after its anchor."""
    found: dict[str, float] = {node.id: float(index) for index, node in enumerate(source.path)}
    for order, note in enumerate(source.notes):
        anchor = found.get(note.anchor, -1.0)
        for node in note.nodes:
            found.setdefault(node, anchor + (order + 1) / (len(source.notes) + 2))
    return found
