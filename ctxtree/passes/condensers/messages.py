"""Shorter forms of whole messages: results, calls, words. Roles, call ids, names and error flags stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from ctxtree.model import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from ctxtree.passes.condensers import condense, first_line, notices
from ctxtree.passes.condensers.arguments import shorten
from ctxtree.passes.condensers.cut import clip, ends, first_sentences
from ctxtree.passes.condensers.fit import Measure
from ctxtree.passes.condensers.json_text import dump
from ctxtree.passes.condensers.weigh import rough
from ctxtree.plan import Counter

USER_TOKENS = 1_000
"""A user text is never cut below this."""

WORDS_FACTOR = 3
"""An assistant's text is cut when it is longer than this many results may be."""

_NOTICE = 24  # what a notice costs, about: a cut that saves less is none
_STUB_WORDS = 30
_STUB_ARGUMENTS = 16
_STUB_LINE = 44


@dataclass(frozen=True, slots=True)
class Cut:
    """How hard to cut: tokens for one result; who counts; whether ids for recall are told.

    `verbatim`: the assistant's calls, words and reasoning stay as they are (an open tool loop).
    """

    tokens: int
    counter: Counter
    recall: bool = True
    verbatim: bool = False


def condensed_message(message: Message, node: str, sizes: Sequence[int], cut: Cut) -> Message:
    """The message with long results, arguments and words cut; `sizes` are the tokens of its parts.

    Gives the same object when there was nothing to cut.
    """
    if message.role not in ("user", "assistant", "tool"):
        return message
    one = _condensed_user if message.role == "user" else _condensed
    pairs = zip(message.parts, sizes, strict=True)
    return _with(message, [one(part, node, size, cut) for part, size in pairs])


def stub_message(message: Message, node: str, sizes: Sequence[int], cut: Cut) -> Message:
    """The message with each result as one line, calls and words in brief. Reads a few kilobytes at most."""
    pairs = zip(message.parts, sizes, strict=True)
    return _with(message, [_stub(part, node, size, cut) for part, size in pairs])


def condensed_result(result: ToolResult, node: str, whole: int, cut: Cut) -> ToolResult:
    """The result within `cut.tokens` and a notice; media as placeholders. Unchanged if it is short."""
    text = result.text
    parts: list[Text | Media | Opaque] = [part for part in result.parts if isinstance(part, Text)]
    if whole > cut.tokens + max(_NOTICE, cut.tokens // 8):
        shorter = condense(text, cut.tokens, cut.counter)
        # Pictures count in `whole`: the text beside them may be short.
        if shorter != text.rstrip("\r\n"):
            notice = notices.condensed(cut.counter(shorter), whole, node, cut.recall)
            parts = [Text(text=f"{shorter}\n{notice}")]
    parts += [
        Text(text=_placeholder(part, node, cut)) if _is_heavy(part, cut.tokens) else part
        for part in result.parts
        if not isinstance(part, Text)
    ]
    same = tuple(parts) == result.parts
    return result if same else result.model_copy(update={"parts": tuple(parts)})


def stub_result(result: ToolResult, node: str, whole: int, cut: Cut) -> ToolResult:
    """One line: how long it was, its most telling line, where the whole is; a short result stays."""
    text = result.text
    heavy = [part for part in result.parts if not isinstance(part, Text)]
    if not heavy and len(text) <= _STUB_LINE * 2:
        return result
    room = _STUB_LINE if text.isascii() else _STUB_LINE // 2
    kind = heavy[0].kind if heavy and not text else ""
    line = first_line(text, room) if text else f"[{kind[:20]}]"
    return result.model_copy(update={"parts": (Text(text=notices.left_out(whole, line, node, cut.recall)),)})


def cut_text(text: str, tokens: int, node: str, whole: int, cut: Cut) -> str:
    """Words cut to `tokens`, mostly from the middle, and a notice."""
    shorter = condense(text, tokens, cut.counter, "plain")
    return f"{shorter}\n{notices.truncated(whole, node, cut.recall)}"


def _condensed(part: Part, node: str, whole: int, cut: Cut) -> Part | None:
    match part:
        case ToolResult():
            return condensed_result(part, node, whole, cut)
        case _ if cut.verbatim:
            return part
        case ToolCall():
            return shortened_call(part, cut.tokens, cut.counter)
        case Text():
            return _condensed_words(part, node, whole, cut)
        case Reasoning():
            return None
        case Media():
            return Text(text=_placeholder(part, node, cut))
        case Opaque():
            return part
        case _:
            assert_never(part)


def _condensed_words(part: Text, node: str, whole: int, cut: Cut) -> Text:
    most = WORDS_FACTOR * cut.tokens
    return part if whole <= most else Text(text=cut_text(part.text, cut.tokens * 2, node, whole, cut))


def _condensed_user(part: Part, node: str, whole: int, cut: Cut) -> Part:
    """A user's words keep at least 1,000 tokens; results that travel in a user message are results."""
    if isinstance(part, ToolResult):
        return condensed_result(part, node, whole, cut)
    if not isinstance(part, Text):
        return part
    return cut_user(part, USER_TOKENS, node, whole, cut)


def cut_user(part: Text, tokens: int, node: str, whole: int, cut: Cut) -> Text:
    """A user's text with at least `tokens` kept and about a tenth more; itself if it is not much longer."""
    if whole <= tokens + max(2 * _NOTICE, tokens // 6):
        return part
    shorter = at_least(part.text, tokens, cut.counter)
    return Text(text=f"{shorter}\n{notices.truncated(whole, node, cut.recall)}")


def at_least(text: str, tokens: int, counter: Measure) -> str:
    """Words cut by content to no less than `tokens` (of a longer text) and about a tenth more at most."""
    most = tokens + tokens // 10
    shorter = condense(text, most, counter, "plain")
    room = len(shorter)
    while counter(shorter) < tokens and room < len(text):
        room = room * 21 // 20 + 1
        shorter = ends(text, room)
    return shorter


def shortened_call(call: ToolCall, tokens: int, counter: Measure) -> ToolCall:
    """The call with arguments in brief, without a provider's signature, which would no longer hold."""
    if len(call.arguments) <= tokens and isinstance(call.arguments, str):
        return call
    given = call.arguments if isinstance(call.arguments, str) else dump(call.arguments)
    if len(given) <= tokens or (len(given) <= tokens * 16 and counter(given) <= tokens):
        return call
    extra = {name: held for name, held in call.extra.items() if "signature" not in name.lower()}
    shorter = shorten(call.arguments, tokens, counter)
    # Made anew: a copy would carry over the cached `object` of the whole arguments.
    return ToolCall(id=call.id, name=call.name, arguments=shorter, origin=call.origin, extra=extra)


def _stub(part: Part, node: str, whole: int, cut: Cut) -> Part | None:
    match part:
        case ToolResult():
            return stub_result(part, node, whole, cut)
        case _ if cut.verbatim:
            return part
        case ToolCall():
            return shortened_call(part, _STUB_ARGUMENTS, rough)
        case Text():
            return Text(text=brief(part.text, _STUB_WORDS))
        case Reasoning():
            return None
        case Media():
            return Text(text=_placeholder(part, node, cut))
        case Opaque():
            return part
        case _:
            assert_never(part)


def brief(text: str, tokens: int) -> str:
    """The first sentences of `text`, about `tokens` long by a rough measure; nothing is counted."""
    head = text[: tokens * 8].strip()
    room = max(8, int(tokens * len(head) / max(rough(head), 1)))
    return text.strip() if len(text) <= room else first_sentences(head, room) or clip(head, room)


def _with(message: Message, parts: Iterable[Part | None]) -> Message:
    """The message with the parts that are left; it is never emptied."""
    kept = tuple(part for part in parts if part is not None)
    if message.parts and not kept:
        kept = (Text(text="[reasoning left out]"),)
    return with_parts(message, kept)


def with_parts(message: Message, parts: Iterable[Part]) -> Message:
    """The message with other parts, made anew: a copy would carry over the cached hash."""
    held = tuple(parts)
    return message if held == message.parts else Message(role=message.role, parts=held, name=message.name)


def _placeholder(part: Media | Opaque, node: str, cut: Cut) -> str:
    if isinstance(part, Media):
        return notices.media(part, node, cut.recall)
    return notices.opaque(part, node, cut.recall)


def _is_heavy(part: Media | Opaque | Text, tokens: int) -> bool:
    """Media always is; a part that we do not know when its JSON is long."""
    return isinstance(part, Media) or (isinstance(part, Opaque) and len(str(part.data)) > 4 * tokens)
