"""The summarizer without a model: what was said, in the words in which it was said."""

from __future__ import annotations

from ctxtree.plan import Counter, Summary, SummaryRequest
from ctxtree.summarizers.fit import Fitted, fit, matters
from ctxtree.summarizers.gather import gather
from ctxtree.summarizers.merge import merge, same

VERSION = 1
"""Part of a summary's key: another number makes new summaries."""


def digest(request: SummaryRequest, counter: Counter) -> Summary:
    """The previous summary rolled forward over the entries, within `request.max_tokens` (fence included).

    Deterministic, English and Chinese. It stays below the size of its source as well, unless that would lose
    a constraint, a fact, a decision or a failure. `text` is empty and `tokens` 0 if nothing fits at all.
    About 0.1 ms an entry.
    """
    before = request.previous.lines if request.previous else ()
    fresh = gather(request.entries, goal=not any(line.kind == "goal" for line in before))
    lines = merge(before, fresh)
    fitted = fit(lines, request.max_tokens, request.key, len(request.covered), counter)
    source = source_tokens(request, counter, at_most=fitted.tokens)
    if fitted.tokens >= source:
        smaller = fit(lines, source - 1, request.key, len(request.covered), counter)
        fitted = smaller if _keeps(smaller, fitted) else fitted
    return Summary(
        key=request.key,
        covered=request.covered,
        lines=fitted.lines,
        text=fitted.text,
        tokens=fitted.tokens,
        depth=_depth(request, fitted),
    )


def source_tokens(request: SummaryRequest, counter: Counter, at_most: int | None = None) -> int:
    """What the entries and the summary before cost as messages, 4 tokens of structure each; tool output as cut.

    With `at_most` the count stops once it is passed.
    """
    total = request.previous.tokens if request.previous else 0
    for entry in request.entries:
        if at_most is not None and total > at_most:
            break
        total += 4 + counter("\n".join((entry.text, *entry.calls)))
    return total


def _keeps(smaller: Fitted, larger: Fitted) -> bool:
    """True if the smaller form holds every line of the larger one that matters."""
    held = {line.text for line in smaller.lines}
    return all(line.text in held for line in larger.lines if matters(line))


def _depth(request: SummaryRequest, fitted: Fitted) -> int:
    """One more than before if a line of the summary before had to go or to shrink."""
    if request.previous is None:
        return 1
    held = {same(line.text) for line in request.previous.lines}
    condensed = any(same(line.text) in held for line in fitted.lost)
    return request.previous.depth + 1 if condensed else request.previous.depth
