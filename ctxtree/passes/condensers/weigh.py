"""How many tokens each part of some messages costs, without counting long texts again."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from ctxtree.model import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from ctxtree.passes.condensers.fit import Measure
from ctxtree.tokens import CALL_TOKENS, MESSAGE_TOKENS, RESULT_TOKENS, compact

_SHORT = 2_000
_LONG = 40_000
_MEDIA = 1_000


def rough(text: str) -> int:
    """Tokens by a rule of thumb: four Latin letters or one wide character each. 0.1 ms for 1 MB."""
    if text.isascii():
        return -(-len(text) // 4)
    wide = min((len(text.encode("utf-8", "surrogatepass")) - len(text)) // 2, len(text))
    return wide + -(-(len(text) - wide) // 4)


def part_sizes(messages: Sequence[Message], total: int, counter: Measure) -> tuple[tuple[int, ...], ...]:
    """Tokens of every part's text, in order; `total` is what the messages cost together.

    Texts up to 2,000 characters are counted. Longer ones share what is left of `total`: with one
    long text, the usual case, that is its count less a few tokens of structure. Beside reasoning, which
    `total` holds only if it goes out, they are counted, those over 40,000 characters by a sample.
    """
    if any(isinstance(part, Reasoning) for message in messages for part in message.parts):
        return tuple(tuple(_sampled(part, counter) for part in message.parts) for message in messages)
    counted = [[_counted(part, counter) for part in message.parts] for message in messages]
    weights = [rough_part(part) for message in messages for part in message.parts if not _is_short(part)]
    known = sum(size for row in counted for size in row if size is not None)
    known += sum(_structure(part, counter) for message in messages for part in message.parts)
    rest = total - known - MESSAGE_TOKENS * len(messages)
    scale = rest / sum(weights) if weights and rest > 0 else 1.0
    return tuple(
        tuple(
            round(rough_part(part) * scale) if size is None else size
            for part, size in zip(message.parts, row, strict=True)
        )
        for message, row in zip(messages, counted, strict=True)
    )


def rough_part(part: Part) -> int:
    pictures = sum(isinstance(inner, Media) for inner in part.parts) if isinstance(part, ToolResult) else 0
    return _MEDIA if isinstance(part, Media) else rough(words(part)) + _MEDIA * pictures


def words(part: Part) -> str:
    """What a part says or carries, as one text."""
    match part:
        case Text():
            return part.text
        case ToolResult():
            return part.text
        case ToolCall():
            return part.arguments if isinstance(part.arguments, str) else compact(part.arguments)
        case Reasoning():
            return part.text or "".join(part.summary) or part.encrypted or ""
        case Opaque():
            return str(part.data)
        case Media():
            return ""


def condensed_fidelity(tokens: int, full: int) -> float:
    """0.6 to 0.9: how much a condensed form is taken to still tell; what is most telling comes first."""
    return 0.6 + 0.3 * sqrt(min(1.0, tokens / max(full, 1)))


def _structure(part: Part, counter: Measure) -> int:
    """What a call or a result costs beside what it says."""
    if isinstance(part, ToolCall):
        return CALL_TOKENS + counter(part.id) + counter(part.name)
    return RESULT_TOKENS + counter(part.call_id) if isinstance(part, ToolResult) else 0


def _sampled(part: Part, counter: Measure) -> int:
    text = words(part)
    pictures = rough_part(part) - rough(text)
    if len(text) <= _LONG:
        return counter(text) + pictures
    sample = text[: _LONG // 2] + text[-_LONG // 2 :]
    return round(counter(sample) * rough(text) / rough(sample)) + pictures


def _counted(part: Part, counter: Measure) -> int | None:
    return counter(words(part)) if _is_short(part) else None


def _is_short(part: Part) -> bool:
    if isinstance(part, Media):
        return False
    has_media = isinstance(part, ToolResult) and any(isinstance(inner, Media) for inner in part.parts)
    return not has_media and len(words(part)) <= _SHORT
