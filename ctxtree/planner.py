"""Which watermarks cost least, from prices and growth.

Between compactions a request reads what the one before sent from the provider's cache and writes what is
new. A compaction rewrites the history, so it pays the write price for all that it keeps; in exchange every
later request reads less. With tokens `H` of the head, `L` left by a compaction, `g` of growth per request,
`n` requests from one compaction to the next and `S` for making the summary, the requests of one epoch cost

    n r H  +  w L + S  +  (n - 1) w g  +  r ((n - 1) L + g (n - 1)(n - 2) / 2)

at read price `r` and write price `w`: the head is read each time, the first request writes what was kept,
each further one reads what stood before and writes `g`. `S` is 0 for a summary made by rules; one that a
model writes reads what falls out, `n g`, at the input price and costs its own length at the output price.
Per request, with `X = (w - r)(L - g) + S`, that is a constant plus `X / n + r g n / 2`, least at

    n = sqrt(2 X / (r g)).

It grows with `L` for every `n`, so cost alone would keep nothing: `keep` says what must be left, and `low`
is that. A compaction has paid for itself when what it spares, `r (U - L)` per request when it came at `U`,
has made up for what it cost beyond reading on, `(w - r) L + S`; at the best `n` that is half of an epoch.
Without a cache (`r = w`, rules) `X` is 0: the sooner the better, as soon as a compaction may run.

Assumed: growth is even, and requests follow within the cache's lifetime. Source of the default prices:
Anthropic's prompt caching (write 1.25 for five minutes, read .1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pydantic import model_validator

from ctxtree.errors import PolicyError
from ctxtree.policy import Budget, Checked

LEAST_GAIN = 0.05
"""Share of the history that a compaction must free to be worth its break of the prefix."""

HIGHEST = 0.9
"""The highest `high` that is chosen: what is called back in the `stable` layout uses the room above it."""


class Prices(Checked):
    """What a token costs, in units of an uncached input token: `read` from the cache, `write` to it.

    No surcharge for writing: `write=1`; no cache: `read=1, write=1`. Raises `PolicyError` for a figure that is
    not finite or below 0, or an `input` that is not above 0.
    """

    read: float = 0.1
    write: float = 1.25
    input: float = 1.0
    output: float = 5.0

    def __init__(self, **given: Any) -> None:
        for name, figure in given.items():
            if isinstance(figure, bool) or not isinstance(figure, int | float):
                raise PolicyError(f"{name} is {figure!r}; a price is a number, such as .1")
        super().__init__(**given)

    @model_validator(mode="after")
    def _check(self) -> Prices:
        for name, figure in self.__dict__.items():
            if not (math.isfinite(figure) and figure >= 0):
                raise PolicyError(f"{name} is {figure}; a price is a finite number of 0 or more")
        if self.input == 0:
            raise PolicyError("input is 0; it is the price of an uncached token, and above 0")
        return self


@dataclass(frozen=True, slots=True)
class Load:
    """What requests are made of, in tokens: the room for history, the head before it, growth per request.

    `summary`: the length of a summary that a model writes; 0 for one made by rules.
    """

    available: int
    head: int
    growth: float
    summary: int = 0


@dataclass(frozen=True, slots=True)
class WatermarkPlan:
    """The watermarks that cost least, and what they cost.

    `cost`: uncached input tokens per request, the answer aside. `break_even`: requests after which a compaction
    has paid for itself; None if it never does. `requests`: from one compaction to the next. `growth`: tokens
    per request, as observed.
    """

    budget: Budget
    cost: float
    break_even: int | None
    growth: float
    requests: int
    why: str


def best(budget: Budget, load: Load, prices: Prices, keep: float) -> WatermarkPlan:
    """The plan with `low` at `keep` and the `high` that costs least. Cost: one step.

    Without growth the budget's own watermarks stay. Raises `PolicyError` if `keep` leaves no room for `high`.
    """
    if load.available < 1:
        raise PolicyError(
            f"system and tools leave {load.available} tokens for the history; give a larger window"
        )
    if not 0 < keep < HIGHEST * (1 - LEAST_GAIN):
        raise PolicyError(f"keep is {keep}; it must be above 0 and below {HIGHEST * (1 - LEAST_GAIN):.3f}")
    if load.growth <= 0:
        return _unknown(budget)
    low = keep * load.available
    most = HIGHEST * load.available
    first = min(max(low / (1 - LEAST_GAIN), low + load.growth / 2), most)
    requests = _clipped(_root(low, load, prices), _count(low, first, load), _count(low, most, load))
    requests = min((requests, requests + 1), key=lambda n: (cost(low, n, load, prices), n))
    requests = min(requests, _count(low, most, load))
    high = min(max(low + (requests - 0.5) * load.growth, first), most) / load.available
    chosen = budget.model_copy(update={"low": keep, "high": round(high, 4)})
    spent = cost(low, requests, load, prices)
    even = break_even(low, low + requests * load.growth, load, prices)
    return WatermarkPlan(
        chosen, round(spent, 1), even, load.growth, requests, _why(chosen, requests, even, load, prices)
    )


def cost(low: float, requests: int, load: Load, prices: Prices) -> float:
    """Uncached input tokens that a request costs at the mean of an epoch of `requests` requests; see the formula above."""
    n, growth = requests, load.growth
    again = (n - 1) * low + growth * (n - 1) * (n - 2) / 2
    read = prices.read * (n * load.head + again)
    written = prices.write * (low + (n - 1) * growth)
    return (read + written + summary_cost(n * growth, load.summary, prices)) / n / prices.input


def summary_cost(fallen: float, length: int, prices: Prices) -> float:
    """What a model takes for a summary of `fallen` tokens; 0 for one made by rules (`length` 0)."""
    return prices.input * fallen + prices.output * length if length else 0.0


def break_even(low: float, before: float, load: Load, prices: Prices) -> int | None:
    """Requests until a compaction from `before` to `low` tokens has cost less than to read on; None if it never has."""
    saved, spent = gain(low, before, load.summary, prices)
    return max(1, math.ceil(spent / saved)) if saved > 0 else None


def gain(low: float, before: float, summary: int, prices: Prices) -> tuple[float, float]:
    """(Saved by each later request, spent once beyond reading on) by a compaction, at the prices given."""
    spent = (prices.write - prices.read) * low + summary_cost(before - low, summary, prices)
    return prices.read * (before - low), max(0.0, spent)


def _root(low: float, load: Load, prices: Prices) -> float:
    extra = (prices.write - prices.read) * (low - load.growth) + prices.output * load.summary
    if extra <= 0:
        return 1.0
    return math.sqrt(2 * extra / (prices.read * load.growth)) if prices.read else math.inf


def _count(low: float, high: float, load: Load) -> int:
    """Requests from a compaction until the history passes `high`."""
    return max(1, math.floor((high - low) / load.growth) + 1)


def _clipped(wanted: float, least: int, most: int) -> int:
    return most if wanted >= most else max(least, math.floor(wanted))


def _unknown(budget: Budget) -> WatermarkPlan:
    why = "no growth was observed on this path, so the watermarks stay as they are"
    return WatermarkPlan(budget, 0.0, None, 0.0, 0, why)


def _why(budget: Budget, requests: int, even: int | None, load: Load, prices: Prices) -> str:
    ends = (
        "it is the highest that is chosen"
        if budget.high >= HIGHEST
        else "later compactions would read more than they spare"
    )
    if prices.read >= prices.write and not load.summary:
        ends = "without a cache nothing is lost by compacting often"
    paid = f"has paid for itself after {even} requests" if even else "never pays for itself in money"
    return (
        f"growth {load.growth:,.0f} tokens per request: a compaction every {requests} requests from "
        f"{budget.high:.0%} to {budget.low:.0%} of {load.available:,} tokens; it {paid}; high: {ends}"
    )
