"""What each piece of a request costs, and who pays for it.

A piece is weighed in the form in which it is sent, so that an account made while
writing and a recount of the finished payload use one set of prices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ctxtree.model import Media, Reasoning
from ctxtree.plan import Counter, Rendered
from ctxtree.render.steps import OVERHEAD, Ledger
from ctxtree.tokens import (
    CALL_TOKENS,
    MESSAGE_TOKENS,
    NAME_TOKENS,
    REPLY_TOKENS,
    RESULT_TOKENS,
    compact,
    part_tokens,
)

__all__ = [
    "MESSAGE_TOKENS", "REPLY_TOKENS", "Tally", "call_cost", "fields_cost", "json_cost", "media_cost",
    "name_cost", "result_cost", "thought_cost",
]  # fmt: skip


@dataclass(slots=True)
class Tally:
    """The running account of one rendering, by item."""

    counter: Counter
    spans: dict[int, int] = field(default_factory=dict)

    def charge(self, item: int, tokens: int) -> None:
        self.spans[item] = self.spans.get(item, 0) + tokens

    def joined(self, pieces: Sequence[tuple[int, str]], joiner: str) -> str:
        """The pieces as one string, charged exactly: the longest one's item pays what the joints cost."""
        whole = joiner.join(text for _, text in pieces)
        if len(pieces) == 1:
            self.charge(pieces[0][0], self.counter(whole))
            return whole
        counts = [self.counter(text) for _, text in pieces]
        longest = counts.index(max(counts))
        counts[longest] += self.counter(whole) - sum(counts)
        for (item, _), count in zip(pieces, counts, strict=True):
            self.charge(item, count)
        return whole

    def rendered(self, payload: dict[str, object], tools: int, ledger: Ledger, constant: int) -> Rendered:
        """The finished request. `constant` is what the request costs beside its messages and tools."""
        spans = {item: tokens for item, tokens in sorted(self.spans.items()) if item != OVERHEAD}
        overhead = self.spans.get(OVERHEAD, 0) + constant
        return Rendered(payload, spans, overhead, tools, ledger.repairs(), ledger.losses())


def call_cost(identity: str, name: str, arguments: str, counter: Counter) -> int:
    return CALL_TOKENS + (counter(identity) if identity else 0) + counter(name) + counter(arguments)


def result_cost(identity: str, counter: Counter) -> int:
    """A result without its content."""
    return RESULT_TOKENS + counter(identity)


def name_cost(name: str, counter: Counter) -> int:
    """The name of a speaker."""
    return NAME_TOKENS + counter(name)


def media_cost(media: Media, counter: Counter, family: str) -> int:
    return part_tokens(media, counter, family)


def thought_cost(text: str, sealed: str, summary: Sequence[str], counter: Counter) -> int:
    """Reasoning: what can be read of it, and what is sealed by its length."""
    return part_tokens(Reasoning(text=text, encrypted=sealed or None, summary=tuple(summary)), counter)


def json_cost(value: Any, counter: Counter) -> int:
    return counter(value if isinstance(value, str) else compact(value))


def fields_cost(fields: Mapping[str, Any], known: Iterable[str], counter: Counter) -> int:
    """What the fields cost that are not `known`: their names and values."""
    skipped = frozenset(known)
    return sum(
        counter(key) + json_cost(value, counter) for key, value in fields.items() if key not in skipped
    )
