"""The plan: what could be sent, in which forms, and what was decided.

A `Plan` is a value. Each pass takes one and gives the next; nothing is ever
removed from it, so the report can say of every node what became of it and why.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Literal, Protocol

from ctxtree.model import Message
from ctxtree.policy import Budget, Policy
from ctxtree.report import ItemKind, Level, Signal, Zone


class Counter(Protocol):
    """Text in, tokens out. `factor` and `bound` turn raw counts into the model's own."""

    name: str
    exact: bool
    factor: float
    bound: float

    def __call__(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True)
class Form:
    """One way to show an item: a level of detail, its messages, its cost, how much it still tells (0 to 1)."""

    level: Level
    messages: tuple[Message, ...]
    tokens: int
    fidelity: float = 1.0


@dataclass(frozen=True, slots=True)
class Item:
    """A unit that is kept, shortened, summarized or dropped as one.

    `forms` run from the fullest to the shortest; `chosen` is the index of the one to show, or -1
    when it is not shown itself (`level` then says `summarized` or `dropped`). The forms of an exchange
    or a message hold one message for each of `nodes`, in the same order.
    `turn` counts turns from the start of the path (-1: none). `fixed` items keep their form.
    """

    kind: ItemKind
    nodes: tuple[str, ...]
    forms: tuple[Form, ...]
    chosen: int = 0
    level: Level = "full"
    zone: Zone = "middle"
    turn: int = -1
    score: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    pinned: bool = False
    fixed: bool = False
    full_tokens: int = 0
    when: datetime | None = None

    @property
    def shown(self) -> Form | None:
        return self.forms[self.chosen] if self.chosen >= 0 else None

    @property
    def tokens(self) -> int:
        return self.forms[self.chosen].tokens if self.chosen >= 0 else 0

    def show(self, index: int, reason: str) -> Item:
        """The same item in its form `index`."""
        return replace(self, chosen=index, level=self.forms[index].level, reason=reason)

    def hide(self, level: Literal["summarized", "dropped"], reason: str) -> Item:
        return replace(self, chosen=-1, level=level, reason=reason)


@dataclass(frozen=True, slots=True)
class Said:
    """A message on its way to a target.

    `item` is the index of the plan item that pays for it; `node` the node it shows, if one.
    `note`: our own words (a summary, facts, a dead end), which join the neighbouring user turn as a
    block of their own instead of standing alone. `cut`: a cache break point may stand after it.
    """

    message: Message
    item: int
    node: str = ""
    note: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """What a target needs beside the messages."""

    tools: tuple[Mapping[str, object], ...] = ()
    response_format: Mapping[str, object] | None = None
    reserve: int = 0
    dialect: str | None = None


@dataclass(frozen=True, slots=True)
class Rendered:
    """A request body and what it costs.

    `spans[i]` are the tokens that item `i` costs in it; `overhead` is what no item pays for
    (0 to 60), `tools` what tool schemas and response format cost. The three add up to the count of
    the whole payload.
    """

    payload: dict[str, object]
    spans: Mapping[int, int]
    overhead: int
    tools: int = 0
    repairs: tuple[Signal, ...] = ()
    losses: tuple[Signal, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(self.spans.values()) + self.overhead + self.tools


LineKind = Literal[
    "goal", "constraint", "preference", "fact", "decision", "result", "failed", "feedback",
    "file", "open", "done",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that a summary says, and the nodes that it comes from."""

    kind: LineKind
    text: str
    nodes: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands for the nodes in `covered`. `text` is framed and ready to send.

    `depth` is 1 when made from messages, and one more each time an older summary had to be
    summarized itself.
    """

    key: str
    covered: tuple[str, ...]
    lines: tuple[Line, ...]
    text: str
    tokens: int
    depth: int = 1
    by: str = "rules"


@dataclass(frozen=True, slots=True)
class Entry:
    """One node as a summarizer reads it: tool output cut, calls in brief."""

    node: str
    role: str
    text: str
    calls: tuple[str, ...] = ()
    tool: str = ""
    error: bool = False
    failed: str = ""


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """Roll `previous` forward over `entries` within `max_tokens`, frame included."""

    key: str
    entries: tuple[Entry, ...]
    previous: Summary | None
    covered: tuple[str, ...]
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Hole:
    """A summary that is wanted: `nodes` fall out now, `covered` is all that it has to stand for."""

    nodes: tuple[str, ...]
    covered: Covered
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Covered:
    """The nodes that a summary stands for: runs of places on the path (first, last), and dead ends beside it."""

    runs: tuple[tuple[int, int], ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many nodes of the path."""
        return sum(last - first + 1 for first, last in self.runs)

    def __len__(self) -> int:
        return self.size + len(self.beside)

    def holds(self, place: float) -> bool:
        at = bisect_right(self.runs, place, key=lambda run: run[0]) - 1
        return at >= 0 and place <= self.runs[at][1]

    def ids(self, path: Sequence[str]) -> tuple[str, ...]:
        """The nodes themselves, in the order of the path."""
        inside = [path[first : last + 1] for first, last in self.runs]
        return (*chain.from_iterable(inside), *self.beside)

    def joined(self, places: Iterable[int], beside: Sequence[str]) -> Covered:
        """With more nodes of the path, and more dead ends."""
        runs: list[list[int]] = []
        for first, last in sorted([*self.runs, *((place, place) for place in places)]):
            if runs and runs[-1][1] >= first - 1:
                runs[-1][1] = max(last, runs[-1][1])
            else:
                runs.append([first, last])
        return Covered(tuple((first, last) for first, last in runs), (*self.beside, *beside))


@dataclass(frozen=True, slots=True)
class Epoch:
    """What a compaction decided at `node`; every compile below it under the same key keeps to it.

    `levels` maps the first node of each unit that stays to its level; `covered` holds the nodes
    that fell out, `available` is the room that it was made for. `points` maps results to the newer
    view of the same that superseded them. `room`: what system, tools and state left of the limit then, in raw tokens
    (0: not known); what depends on it stays as it is when the counter's factor moves. `spent`: what the path
    costs in full up to here (0: not known).
    """

    node: str
    key: str
    levels: Mapping[str, Level]
    covered: Covered
    summary: Summary | None = None
    available: int = 0
    points: Mapping[str, str] = field(default_factory=dict)
    room: int = 0
    spent: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved text with where it comes from and how well it fits (higher is better)."""

    text: str
    source: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Items in the order of the path, the budget they share, and what has been decided so far.

    `limit` is what the request may cost and `available` what history, facts, retrieved texts,
    notes and summary share of it, in raw tokens. `aim` is what a compaction takes them down to
    (0: no compaction in this compile). `behind` nodes of the path stand in the summary alone and have
    no item; `nodes` counts all of them.
    """

    items: tuple[Item, ...]
    budget: Budget
    policy: Policy
    counter: Counter
    limit: int = 0
    available: int = 0
    aim: int = 0
    query: str = ""
    behind: int = 0
    nodes: int = 0
    hole: Hole | None = None
    value: float = 0.0
    bound: float = 0.0
    degraded: tuple[Signal, ...] = ()
    steps: tuple[str, ...] = ()

    def with_items(self, items: Sequence[Item]) -> Plan:
        return replace(self, items=tuple(items))


HISTORY: frozenset[ItemKind] = frozenset({"exchange", "message"})

Pass = Callable[[Plan], Plan]
