"""Degrade: the last resort for what must be sent and does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ctxtree.model import Media, Message, Part, Text, ToolResult
from ctxtree.passes.condensers.messages import (
    USER_TOKENS,
    Cut,
    condensed_result,
    cut_text,
    cut_user,
    stub_result,
    with_parts,
)
from ctxtree.passes.condensers.notices import media
from ctxtree.passes.condensers.weigh import condensed_fidelity, part_sizes
from ctxtree.plan import Counter, Form
from ctxtree.tokens import message_tokens

RESULT_STEPS = (200, 100, 50, 20)
"""Tokens that each tool result may cost, step by step; after them one line."""

_NOTICE = 30
_LEAST_WORDS = 60

Messages = tuple[Message, ...]


def degrade(
    form: Form,
    max_tokens: int,
    counter: Counter,
    nodes: Sequence[str] = (),
    *,
    recall: bool = True,
    best: bool = False,
    cost: Callable[[Message], int] | None = None,
) -> Form | None:
    """The form within `max_tokens`, or None (with `best`: the shortest that there is) if that cannot be.

    In this order: tool results condensed to 200, 100, 50, 20 tokens each, then to a line, pictures in them
    to placeholders; the largest text cut in the middle, then the next largest, users' words to no less than
    1,000 tokens; users' pictures to placeholders. Calls and reasoning stay as they are. `nodes` are the ids
    of the messages, in order, for the notices; `cost` counts a message as `form.tokens` was counted.
    """
    if form.tokens <= max_tokens:
        return form
    ids = (*nodes, *("" for _ in form.messages[len(nodes) :]))
    sizes = part_sizes(form.messages, form.tokens, counter)
    work = _Work(form, max_tokens, counter, ids, recall, sizes, cost)
    shortest = form
    for messages in _steps(work):
        tokens = work.cost_of(messages)
        if tokens < shortest.tokens:
            shortest = Form("condensed", messages, tokens, condensed_fidelity(tokens, form.tokens))
        if tokens <= max_tokens:
            return shortest
    return shortest if best and shortest is not form else None


@dataclass(frozen=True, slots=True)
class _Work:
    form: Form
    max_tokens: int
    counter: Counter
    nodes: Sequence[str]
    recall: bool
    sizes: Sequence[Sequence[int]]
    cost: Callable[[Message], int] | None

    def cost_of(self, messages: Messages) -> int:
        return sum(
            self.cost(message) if self.cost else message_tokens(message, self.counter) for message in messages
        )

    def cut(self, tokens: int) -> Cut:
        return Cut(tokens, self.counter, self.recall, verbatim=True)


def _steps(work: _Work) -> Iterator[Messages]:
    """Shorter and shorter messages. A step that cannot fit by its figures is not worked out."""
    messages = work.form.messages
    for tokens in RESULT_STEPS:
        if _outlook(work, tokens) <= work.max_tokens:
            yield _with_results(work, tokens)
    stubbed = _with_results(work, 0)
    if stubbed != messages:
        yield stubbed
    yield from _with_words_cut(work, stubbed)


def _outlook(work: _Work, tokens: int) -> int:
    """The least that the messages can cost with results of `tokens` each."""
    saved = sum(
        max(0, size - tokens // 2)
        for message, row in zip(work.form.messages, work.sizes, strict=True)
        for part, size in zip(message.parts, row, strict=True)
        if isinstance(part, ToolResult)
    )
    return work.form.tokens - saved


def _with_results(work: _Work, tokens: int) -> Messages:
    cut = work.cut(tokens)
    one = condensed_result if tokens else stub_result
    rows = zip(work.form.messages, work.nodes, work.sizes, strict=True)
    return tuple(
        with_parts(
            message,
            [
                one(part, node, size, cut) if isinstance(part, ToolResult) else part
                for part, size in zip(message.parts, row, strict=True)
            ],
        )
        for message, node, row in rows
    )


def _with_words_cut(work: _Work, messages: Messages) -> Iterator[Messages]:
    """One text after the other, the largest first, each cut as far as is needed or allowed."""
    for size, at, index in _largest(work):
        over = work.cost_of(messages) - work.max_tokens
        shorter = _shorter_words(work, messages[at], at, index, size, size - over - _NOTICE)
        if shorter is not messages[at]:
            messages = (*messages[:at], shorter, *messages[at + 1 :])
            yield messages
    yield tuple(
        with_parts(
            message,
            [
                Text(text=media(part, node, work.recall)) if isinstance(part, Media) else part
                for part in message.parts
            ],
        )
        for message, node in zip(messages, work.nodes, strict=True)
    )


def _largest(work: _Work) -> list[tuple[int, int, int]]:
    """Size, message and part of every text, the largest first, the earlier of equals first."""
    found = [
        (size, at, index)
        for at, (message, row) in enumerate(zip(work.form.messages, work.sizes, strict=True))
        if message.role in ("user", "assistant")
        for index, (part, size) in enumerate(zip(message.parts, row, strict=True))
        if isinstance(part, Text)
    ]
    return sorted(found, key=lambda entry: (-entry[0], entry[1:]))


def _shorter_words(work: _Work, message: Message, at: int, index: int, size: int, aim: int) -> Message:
    part = message.parts[index]
    assert isinstance(part, Text)
    cut = work.cut(max(aim, 1))
    if message.role == "user":
        # `cut_user` may use a tenth more than it is told to keep at least.
        cut_part = cut_user(part, max(USER_TOKENS, aim * 10 // 11), work.nodes[at], size, cut)
    elif size <= max(aim, _LEAST_WORDS) + _NOTICE:
        cut_part = part
    else:
        cut_part = Text(text=cut_text(part.text, max(aim, _LEAST_WORDS), work.nodes[at], size, cut))
    parts: list[Part] = [*message.parts]
    parts[index] = cut_part
    return with_parts(message, parts)
