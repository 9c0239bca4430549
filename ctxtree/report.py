"""The report: what went into a request, at what cost and why.

All figures are raw counts of the counter named in it. `sum(item.tokens) + budget.overhead == tokens`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ctxtree.model import Value

ItemKind = Literal[
    "system", "tools", "state", "facts", "retrieved", "summary", "exchange", "message",
    "dead_end", "recall", "input",
]  # fmt: skip
Zone = Literal["head", "near_head", "middle", "tail"]
Level = Literal["full", "condensed", "stub", "summarized", "dropped"]


class Signal(Value):
    """Something worth knowing: a typed `code`, a sentence, and the nodes it is about."""

    code: str
    message: str
    nodes: tuple[str, ...] = ()


class CounterReport(Value):
    """Who counted. `factor` and `bound` turn raw counts into the model's tokens (centre, upper)."""

    name: str
    exact: bool
    factor: float = 1.0
    bound: float = 1.0
    estimated: int = 0


class BudgetReport(Value):
    """Where the window went, in raw tokens.

    `available = window - reserve - system - tools - state - input`, and it is shared:
    `facts + retrieved + dead_ends + summary + history + recall + overhead + free`.
    `window` and `reserve` are as the caller gave them divided by the counter's factor.
    """

    window: int
    reserve: int
    system: int = 0
    tools: int = 0
    state: int = 0
    input: int = 0
    available: int = 0
    facts: int = 0
    retrieved: int = 0
    dead_ends: int = 0
    summary: int = 0
    history: int = 0
    recall: int = 0
    overhead: int = 0
    free: int = 0


class ItemReport(Value):
    nodes: tuple[str, ...]
    kind: ItemKind
    zone: Zone
    level: Level
    tokens: int
    full_tokens: int
    score: float = 0.0
    parts: dict[str, float] = Field(default_factory=dict)
    reason: str = ""


class PathReport(Value):
    nodes: tuple[str, ...]
    tokens: int


class CompactionReport(Value):
    """One compaction: at `node`, from `before` to `after` tokens, covering `covered`.

    In uncached input tokens at `prices` (`Prices()`): `saved` is what each later request costs less, `cost` what the
    rewriting of what is left costs once beyond reading it, and a model's summary if one was made. `break_even`: the
    requests after which the first has made up for the second (None: never).
    """

    node: str
    before: int
    after: int
    covered: tuple[str, ...] = ()
    reason: str = ""
    depth: int = 1
    branch: str = ""
    saved: float = 0.0
    cost: float = 0.0
    break_even: int | None = None
    prices: dict[str, float] = Field(default_factory=dict)

    @property
    def line(self) -> str:
        """The log line: `6925 -> 3770`, which nodes, which branch."""
        first, last = (self.covered[0][:8], self.covered[-1][:8]) if self.covered else ("-", "-")
        return (
            f"compaction {self.before} -> {self.after} tokens: {len(self.covered)} nodes "
            f"{first}..{last} on branch {self.branch or '-'} ({self.reason}){self._paid}"
        )

    @property
    def _paid(self) -> str:
        if self.break_even is None:
            return ""
        return f", {self.saved:.0f} saved per request for {self.cost:.0f}, paid for after {self.break_even}"


class PrefixReport(Value):
    """Against the request before on this branch: tokens in common, where it broke (-1: nowhere), why."""

    stable_tokens: int = 0
    break_at: int = -1
    cause: str = ""


class SelectionReport(Value):
    """The value reached, and the bound that no choice could pass."""

    value: float = 0.0
    bound: float = 0.0


class Report(Value):
    target: str
    tokens: int
    counter: CounterReport
    budget: BudgetReport
    items: tuple[ItemReport, ...]
    path: PathReport
    compaction: CompactionReport | None = None
    prefix: PrefixReport = PrefixReport()
    selection: SelectionReport = SelectionReport()
    alerts: tuple[Signal, ...] = ()
    degraded: tuple[Signal, ...] = ()
    repairs: tuple[Signal, ...] = ()
    losses: tuple[Signal, ...] = ()
    notes: tuple[Signal, ...] = ()
    policy: dict[str, Any] = Field(default_factory=dict)
