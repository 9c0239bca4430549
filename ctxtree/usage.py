"""What providers billed: every provider's usage in one shape, and the factor learned from it.

The factor is the model's own count of a request over ours, both of the same request: usage is always held
against the report of the compile that it answers, so a bill from before a compaction never speaks for what
comes after it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

DECAY = 0.9
"""What an older bill weighs against the next one."""

PRIOR = 500
"""Raw tokens that the counter's own factor weighs as much as."""

LEAST, MOST = 0.4, 4.0
"""A bill outside this many times our count is for another request, and nothing is learned from it."""

_INPUT = ("input_tokens", "prompt_tokens", "promptTokenCount", "input")
_OUTPUT = ("output_tokens", "completion_tokens", "candidatesTokenCount", "output")
_CACHED = ("cache_read_input_tokens", "cached_tokens", "cachedContentTokenCount", "cacheRead")
_WRITTEN = ("cache_creation_input_tokens", "cacheWrite")
_BESIDE = frozenset(("cache_read_input_tokens", "cache_creation_input_tokens", "cacheRead", "cacheWrite"))


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens of one request, or of many: `input` is all that was sent, `cached` and `written` are parts of it.

    `cost` is what the provider, or a log, says it cost, in its own money; 0 if it does not say.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    cost: float = 0.0

    @classmethod
    def of(cls, usage: Mapping[str, Any]) -> Self:
        """Usage as OpenAI (both APIs), Anthropic, Gemini or pi give it. Anthropic and pi count cached input beside `input`."""
        details = [usage.get(name) for name in ("prompt_tokens_details", "input_tokens_details")]
        flat = {**usage, **{k: v for one in details if isinstance(one, Mapping) for k, v in one.items()}}
        cached, written = _first(flat, _CACHED), _first(flat, _WRITTEN)
        beside = cached + written if _BESIDE & flat.keys() else 0
        output = _first(flat, _OUTPUT) + _first(flat, ("thoughtsTokenCount",))
        return cls(_first(flat, _INPUT) + beside, output, cached, written, _cost(usage.get("cost")))

    def __add__(self, other: Used) -> Used:
        return Used(
            self.input + other.input, self.output + other.output, self.cached + other.cached,
            self.written + other.written, self.cost + other.cost,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Learned:
    """Decaying sums over bills: raw tokens by our count, tokens billed, and the squares of the ratios' distance."""

    raw: float = 0.0
    billed: float = 0.0
    spread: float = 0.0
    weight: float = 0.0

    def after(self, raw: int, billed: int) -> Learned:
        """With one more bill; unchanged by a bill that cannot be for this request."""
        if raw < 1 or not LEAST <= billed / raw <= MOST:
            return self
        off = billed / raw - self.billed / self.raw if self.weight else 0.0
        return Learned(
            self.raw * DECAY + raw, self.billed * DECAY + billed,
            self.spread * DECAY + off * off, self.weight * DECAY + 1,
        )  # fmt: skip

    def factor(self, prior: float) -> float:
        """Tokens billed per raw token; in steps of a hundredth, so that a request does not change with each bill."""
        return round((prior * PRIOR + self.billed) / (PRIOR + self.raw), 2)

    def bound(self, prior: float, cold: float) -> float:
        """Two deviations above the factor; the cold bound as long as fewer than five bills speak."""
        if self.weight < 4:  # five bills, the older ones weighing less
            return max(cold, self.factor(prior))
        return round(self.factor(prior) + 0.005 + 2 * math.sqrt(self.spread / self.weight), 2)

    def out(self) -> str:
        return json.dumps([round(x, 4) for x in (self.raw, self.billed, self.spread, self.weight)])

    @classmethod
    def read(cls, text: str | None) -> Self:
        return cls(*json.loads(text)) if text else cls()


def _first(usage: Mapping[str, Any], names: tuple[str, ...]) -> int:
    found = (usage.get(name) for name in names)
    return next((max(0, int(x)) for x in found if isinstance(x, int | float) and math.isfinite(x)), 0)


def _cost(cost: Any) -> float:
    total = cost.get("total") if isinstance(cost, Mapping) else cost
    return float(total) if isinstance(total, int | float) and math.isfinite(total) else 0.0
