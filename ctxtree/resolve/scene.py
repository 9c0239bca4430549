"""The nodes that words can mean, with their labels, and the plans that they lay out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ctxtree.model import Node, texts
from ctxtree.resolve.glossary import english
from ctxtree.resolve.keys import plan_keys
from ctxtree.resolve.places import PLAN_NOUN
from ctxtree.words import Words

REACH = 2_000
"""Characters read at each end of a node."""

_PROPOSAL = re.compile(
    r"\bhere(?:'s| is) (?:a|the|my|our) (?:\w+ )?plan\b|\b(?:my|the|our) plan(?: is\b|:)|\bi(?:'d| would)? "
    r"(?:propose|suggest|recommend|plan to)\b|^\W*plan:|^\W*(?:proposal|approach|design|solution)\b\s*:"
    r"|我(?:建议|打算|提议|计划)|(?:方案|计划|思路)(?:是|如下|:|：)",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Scene:
    """The nodes that can be meant: those of the path, then those of other branches.

    `plans` are the nodes that lay out a plan first, with its name ("" for one without). `turns` holds for
    each node the place where its turn starts: a user message and all that follows it up to the next one.
    """

    nodes: tuple[Node, ...]
    on_path: int
    words: tuple[str, ...]
    labels: Mapping[int, str]
    tried: frozenset[int]
    plans: tuple[tuple[str, int], ...]
    turns: tuple[int, ...]

    @cached_property
    def told(self) -> tuple[str, ...]:
        """What each node says, with its label, in English where the glossary has it."""
        return tuple(english(f"{self.labels.get(i, '')} {text}") for i, text in enumerate(self.words))

    @cached_property
    def terms(self) -> tuple[tuple[str, ...], ...]:
        """The terms of each node."""
        words = Words()
        return tuple(tuple(words.terms(text)) for text in self.told)

    @cached_property
    def _members(self) -> Mapping[int, tuple[int, ...]]:
        members: dict[int, list[int]] = {}
        for place, start in enumerate(self.turns):
            members.setdefault(start, []).append(place)
        return {start: tuple(places) for start, places in members.items()}

    def turn(self, place: int) -> tuple[int, ...]:
        """The places of the turn that a node belongs to."""
        return self._members[self.turns[place]]

    def speaks(self, place: int) -> bool:
        """Whether a node is an answer in words, and no call."""
        return self.nodes[place].role == "assistant" and not self.nodes[place].message.calls

    def onward(self, place: int) -> int:
        """Where one goes on after a node: after a user message its answer, after a call its results.

        Results that only the last words of the turn follow count as answered by them.
        """
        turn = self.turn(place)
        if self.nodes[place].role == "user":
            return next((i for i in reversed(turn) if self.speaks(i)), place)
        if not self.nodes[place].message.calls and self.nodes[place].role != "tool":
            return place
        later = [i for i in turn if i > place]
        ends = next((n for n, i in enumerate(later) if self.nodes[i].role != "tool"), len(later))
        if ends == len(later) - 1 and self.speaks(later[ends]):
            return later[ends]
        return later[ends - 1] if ends else place


def scene_of(path: Sequence[Node], marks: Mapping[str, Mapping[str, Any]], others: Sequence[Node]) -> Scene:
    known = {node.id for node in path}
    nodes = (*path, *(node for node in others if node.id not in known))
    labels, tried = {}, set()
    for place, node in enumerate(nodes):
        held = marks.get(node.id, {})
        if isinstance(held.get("label"), str):
            labels[place] = held["label"].strip().casefold()
        status = held.get("status")
        if (status.get("status") if isinstance(status, Mapping) else status) in ("failed", "abandoned"):
            tried.add(place)
    plans = tuple(_plans(nodes, len(path)))
    turns = tuple(_turns(nodes))
    return Scene(nodes, len(path), tuple(map(_read, nodes)), labels, frozenset(tried), plans, turns)


def _turns(nodes: Sequence[Node]) -> Iterator[int]:
    starts: dict[str, tuple[int, bool]] = {}
    for place, node in enumerate(nodes):
        start, asking = starts.get(node.parent or "", (place, False))
        user = node.role == "user"
        begins = (user and not asking) or place == start or _forks(nodes, place)
        starts[node.id] = (place if begins else start, user)
        yield place if begins else start


def _forks(nodes: Sequence[Node], place: int) -> bool:
    """Whether a node is another answer than the one that stands right after its parent."""
    parent = nodes[place].parent
    return place > 0 and nodes[place - 1].id != parent


def _read(node: Node) -> str:
    said = list(texts(node.message))
    for call in node.message.calls:
        given = (
            call.arguments
            if isinstance(call.arguments, str)
            else json.dumps(call.arguments, ensure_ascii=False)
        )
        said.append(f"{call.name} {given}")
    text = "\n".join(said)
    return text if len(text) <= 2 * REACH else f"{text[:REACH]}\n{text[-REACH:]}"


def _plans(nodes: Sequence[Node], on_path: int) -> Iterator[tuple[str, int]]:
    """Each plan once for the path and once elsewhere: an assistant's first naming of it, or a heading."""
    seen: set[tuple[bool, str]] = set()
    for place, node in enumerate(nodes):
        if node.role not in ("user", "assistant"):
            continue
        text = node.text[:REACH]
        keys = plan_keys(text) if node.role == "assistant" else _headed(text)
        for key in dict.fromkeys(keys):
            if (place < on_path, key) not in seen:
                seen.add((place < on_path, key))
                yield key, place
        if not keys and node.role == "assistant" and _PROPOSAL.search(text):
            yield "", place


def _headed(text: str) -> list[str]:
    """The plans named at the start of a line and followed by what they are."""
    lines = (line.strip(" #>*_-") for line in text.splitlines())
    heads = (re.match(r"[^:：—–-]{1,24}[:：—–-]", line) for line in lines)
    return [
        key
        for head in heads
        if head and re.match(PLAN_NOUN, head.group(), re.IGNORECASE)
        for key in plan_keys(head.group())
    ]


def quote(scene: Scene, place: int, around: re.Pattern[str] | None = None) -> str:
    """At most 60 characters of a node in quotation marks, around what matched."""
    text = " ".join(scene.words[place].split())
    found = around.search(text) if around else None
    start = max(found.start() - 20, 0) if found else 0
    shown = text[start : start + 60]
    return f'"{"…" if start else ""}{shown}{"…" if len(text) > start + 60 else ""}"'
