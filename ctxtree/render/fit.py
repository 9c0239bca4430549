"""Which parts a target takes, and what stands for those that it does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from ctxtree.model import Media, Opaque, Part, Reasoning, ResultPart, Text, ToolCall, ToolResult
from ctxtree.render.arguments import repaired, wrapped
from ctxtree.render.control import defused
from ctxtree.render.ids import IdRule
from ctxtree.render.phrases import NO_OUTPUT
from ctxtree.render.steps import Block, Ledger, Step, blank
from ctxtree.tokens import arguments_text

KNOWN = frozenset({
    "text", "input_text", "output_text", "summary_text", "image_url", "input_image", "input_audio", "output_audio",
    "audio", "file", "input_file", "thinking", "redacted_thinking", "reasoning", "tool_use", "toolCall", "tool_call",
    "tool_result", "function_call", "function_call_output", "message", "unknown",
})  # fmt: skip
"""Types of parts that are read; what stands as `Opaque` all the same has fields that its API refuses."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What one target takes.

    `origins` are the names under which parts of this API were recorded. `holds` says whether a media
    part can be sent at all, `result_holds` whether it can stand inside a tool result. `thinks` says
    which reasoning goes back. `begins`: the first message must be a user's; `ends`: the last one too.
    `merges`: consecutive messages of one role become one. `apart`: no user message directly after
    results. `fields`: unknown fields of messages go back. `defuses`: control tokens in texts are
    made harmless.
    """

    origins: frozenset[str]
    ids: IdRule | None
    holds: Callable[[Media], bool]
    result_holds: Callable[[Media], bool]
    thinks: Callable[[Reasoning], bool]
    result_opaque: bool = False
    fields: bool = False
    begins: bool = True
    ends: bool = False
    merges: bool = False
    apart: bool = False
    defuses: bool = False


def never(_part: object) -> bool:
    """For targets that take no part of a kind."""
    return False


def fitted(step: Step, rules: Rules, ledger: Ledger) -> Step:
    """The step with each part in a form that the target takes, or told in words, or left out."""
    blocks: list[Block] = []
    for block in step.blocks:
        part = _fit(block.part, step, rules, ledger)
        if part is not None:
            blocks.append(block if part is block.part else replace(block, part=part))
    return step.keep(blocks)


def _fit(part: Part, step: Step, rules: Rules, ledger: Ledger) -> Part | None:
    match part:
        case Text():
            return _safe(part, step, rules, ledger)
        case ToolCall():
            return _call(part, step, rules, ledger)
        case Reasoning():
            if rules.thinks(part):
                return part
            ledger.add("reasoning_dropped", step.node)
            return None
        case Media():
            return part if step.role == "user" and rules.holds(part) else _told(part, step, ledger)
        case Opaque():
            return _opaque(part, step, rules, ledger)
        case ToolResult():
            fits = partial(_fit_inside, step=step, rules=rules, ledger=ledger)
            inside = tuple(new for new in map(fits, part.parts) if not blank(new))
            if not inside:
                ledger.add("empty_content", step.node)
                inside = (Text(text=NO_OUTPUT),)
            return part if inside == part.parts else part.model_copy(update={"parts": inside})


def _safe(part: Text, step: Step, rules: Rules, ledger: Ledger) -> Text:
    text = defused(part.text) if rules.defuses else part.text
    if text == part.text:
        return part
    ledger.add("control_tokens", step.node)
    return Text(text=text)


def _call(part: ToolCall, step: Step, rules: Rules, ledger: Ledger) -> ToolCall:
    if wrapped(part):
        ledger.add("arguments_wrapped", step.node)
    elif repaired(part):
        ledger.add("arguments_repaired", step.node)
    if not rules.defuses:
        return part
    text = arguments_text(part)
    if defused(text) == text:
        return part
    ledger.add("control_tokens", step.node)
    return part.model_copy(update={"arguments": defused(text)})


def _told(part: Media, step: Step, ledger: Ledger) -> Text:
    """What can be said of a media part: its transcript, else its kind and type."""
    ledger.add("unsupported_media", step.node)
    label = ": ".join(word for word in (part.kind, part.mime[:60]) if word)
    return Text(text=part.transcript or f"[{label}, not supported here]")


def _opaque(part: Opaque, step: Step, rules: Rules, ledger: Ledger) -> Part | None:
    fields = part.kind == "fields"
    if _goes_back(part, step, rules) and (rules.fields if fields else True):
        return part
    ledger.add("opaque_part", step.node)
    refusal = refusal_of(part)
    if refusal:
        return Text(text=refusal)
    return None if fields else Text(text=f"[{part.kind[:40] or 'part'}]")


def _goes_back(part: Opaque, step: Step, rules: Rules) -> bool:
    """Whole parts of the target's own API; a refusal where it says something and an assistant speaks."""
    own = part.origin in rules.origins and _is_whole(part)
    speaks = step.role == "assistant" and refusal_of(part) is not None
    return own and (speaks if part.kind == "refusal" else step.role in ("user", "assistant"))


def _is_whole(part: Opaque) -> bool:
    """False for a part of a type that we know: it would be no `Opaque` if its fields were what its API takes."""
    if not isinstance(part.data, dict):
        return False
    source = part.data.get("source")
    if part.kind in ("image", "document"):
        return isinstance(source, dict) and source.get("type") in ("text", "content")
    return part.kind not in KNOWN


def refusal_of(part: Opaque) -> str | None:
    """The words with which a model refused, if the part holds some."""
    refusal = part.data.get("refusal") if isinstance(part.data, dict) else None
    return refusal if isinstance(refusal, str) and refusal.strip() else None


def _fit_inside(part: ResultPart, step: Step, rules: Rules, ledger: Ledger) -> ResultPart:
    match part:
        case Text():
            return _safe(part, step, rules, ledger)
        case Media():
            return part if rules.result_holds(part) or rules.holds(part) else _told(part, step, ledger)
        case Opaque():
            if rules.result_opaque and part.origin in rules.origins and _is_whole(part):
                return part
            ledger.add("opaque_part", step.node)
            return Text(text=f"[{part.kind[:40] or 'part'}]")
