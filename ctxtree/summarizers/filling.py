"""The one place where a summarizer is called, and where its failures end."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

from ctxtree.plan import Counter, Summary, SummaryRequest
from ctxtree.report import Signal
from ctxtree.summarizers.guard import Verdict, accept, finish
from ctxtree.summarizers.rules import VERSION, digest, source_tokens

Summarizer = Callable[[SummaryRequest], str | Awaitable[str]]
Filled = tuple[Summary, tuple[Signal, ...]]


def name_of(summarizer: Summarizer | str | None) -> str:
    """A summarizer's name and version, as a summary's key and `by` hold it: its `name`, or that of the function."""
    if summarizer is None or summarizer == "rules":
        return f"rules {VERSION}"
    if isinstance(summarizer, str):
        return summarizer
    name = getattr(summarizer, "name", None) or getattr(summarizer, "__qualname__", None)
    return str(name or type(summarizer).__qualname__)


def fill(
    request: SummaryRequest, summarizer: Summarizer | str | None, counter: Counter, source: int | None = None
) -> Filled:
    """The summary that a hole asks for, and what is to be told about it.

    None or "rules": the rule-based one. A callable is called once; if it raises, or its answer is refused by
    `accept`, the rule-based one stands in and a `summary_rejected` signal says why. `source`: what the covered
    messages cost in tokens (default: as the entries hold them).
    """
    if summarizer is None or isinstance(summarizer, str):
        return _by_rules(request, summarizer, counter)
    try:
        answer: object = summarizer(request)
    except Exception as problem:  # noqa: BLE001 - a user's summarizer may fail in any way
        return _stand_in(request, counter, _failure(problem))
    if inspect.isawaitable(answer):
        close = getattr(answer, "close", None)
        if close is not None:
            close()
        return _stand_in(request, counter, "it is asynchronous; use acompile")
    return _judged(answer, request, summarizer, counter, source)


async def afill(
    request: SummaryRequest, summarizer: Summarizer | str | None, counter: Counter, source: int | None = None
) -> Filled:
    """The same for summarizers that may be asynchronous."""
    if summarizer is None or isinstance(summarizer, str):
        return _by_rules(request, summarizer, counter)
    try:
        answer: object = summarizer(request)
        if inspect.isawaitable(answer):
            answer = await answer
    except Exception as problem:  # noqa: BLE001 - a user's summarizer may fail in any way
        return _stand_in(request, counter, _failure(problem))
    return _judged(answer, request, summarizer, counter, source)


def _by_rules(request: SummaryRequest, summarizer: str | None, counter: Counter) -> Filled:
    if summarizer not in (None, "rules"):
        return _stand_in(
            request, counter, f"no summarizer is called {summarizer!r}; give a function or 'rules'"
        )
    return digest(request, counter), ()


def _judged(
    answer: object, request: SummaryRequest, summarizer: Summarizer, counter: Counter, source: int | None
) -> Filled:
    tokens = source_tokens(request, counter) if source is None else source
    verdict: Verdict = accept(answer, request, counter, tokens)
    if verdict.reason:
        return _stand_in(request, counter, verdict.reason)
    summary = finish(verdict.text, request, counter, by=name_of(summarizer))
    if summary.tokens >= tokens:
        return _stand_in(
            request,
            counter,
            f"{summary.tokens} tokens with its frame, not shorter than its source of {tokens}",
        )
    return summary, ()


def _stand_in(request: SummaryRequest, counter: Counter, reason: str) -> Filled:
    ends = dict.fromkeys((*request.covered[:1], *request.covered[-1:]))
    message = f"the summarizer's answer was not used ({reason}); the rule-based summary stands in"
    return digest(request, counter), (Signal(code="summary_rejected", message=message, nodes=tuple(ends)),)


def _failure(problem: Exception) -> str:
    """The kind of error and a status code, never its words: they may hold the request."""
    status = getattr(getattr(problem, "response", None), "status_code", None)
    return f"{type(problem).__name__} {status}" if isinstance(status, int) else type(problem).__name__
