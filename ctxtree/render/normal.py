"""The protocol rules that all targets share, as one pipeline over steps.

What a target cannot take is told in words or left out, and said so; what the
protocol demands is added in fixed words. The result holds only what the target
can write down as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from ctxtree.errors import TargetError
from ctxtree.model import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from ctxtree.plan import Said
from ctxtree.render.fit import Rules, fitted, refusal_of
from ctxtree.render.pairing import pair
from ctxtree.render.phrases import BEGINS, CONTINUE, EMPTY, NO_ANSWER, SYSTEM_NOTE
from ctxtree.render.steps import OVERHEAD, Block, Ledger, Step, blank, gather


def normal(said: Sequence[Said], rules: Rules, ledger: Ledger) -> list[Step]:
    """The steps to write, in order. Raises `TargetError` where no user has said anything."""
    demand_user(said)
    steps = pair(folded(gather(said, ledger), ledger), rules.ids, ledger)
    steps = [fitted(step, rules, ledger) for step in steps]
    steps = moved_media(steps, rules, ledger)
    steps = led(filled(steps, ledger), ledger)
    steps = joined(steps)
    steps = begun(steps, ledger) if rules.begins else steps
    steps = apart(steps, ledger) if rules.apart else steps
    steps = merged(steps, ledger) if rules.merges else steps
    return ended(steps, ledger) if rules.ends else steps


def demand_user(said: Sequence[Said]) -> None:
    """Raises `TargetError(code="no_user_turn")` unless a user has said something.

    A blank message counts only beside an answer.
    """
    users = [entry.message for entry in said if entry.message.role == "user" and not entry.note]
    own = [
        [part for part in message.parts if not isinstance(part, ToolResult | ToolCall)] for message in users
    ]
    if any(not blank(part) for parts in own for part in parts):
        return
    wordless = any(parts or not message.parts for parts, message in zip(own, users, strict=True))
    if wordless and any(entry.message.role in ("assistant", "tool") for entry in said):
        return
    raise TargetError(
        "no_user_turn", f"none of the {len(said)} messages holds words of a user; give `input`, or add one"
    )


def folded(steps: Sequence[Step], ledger: Ledger) -> list[Step]:
    """Only the leading system messages stay; a later one becomes an attributed note at its place."""
    out: list[Step] = []
    leading = True
    for step in steps:
        system = step.role in ("system", "developer")
        leading = leading and system
        if not system or leading:
            out.append(step)
        elif any(not blank(block.part) for block in step.blocks):
            ledger.add("system_folded", step.node)
            out.append(replace(step, role="user", note=True, blocks=_attributed(step.blocks), name=None))
    return out


def _attributed(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    first = next(block for block in blocks if not blank(block.part))
    rest = tuple(block for block in blocks if block is not first and not blank(block.part))
    if isinstance(first.part, Text):
        return (replace(first, part=Text(text=f"{SYSTEM_NOTE} {first.part.text}")), *rest)
    return (replace(first, part=Text(text=SYSTEM_NOTE), cut=False), first, *rest)


def moved_media(steps: Sequence[Step], rules: Rules, ledger: Ledger) -> list[Step]:
    """Media that cannot stand inside a result follow all results of the batch as a user note."""
    out: list[Step] = []
    for step in steps:
        if step.role != "tool":
            out.append(step)
            continue
        kept: list[Block] = []
        moved: list[Block] = []
        for block in step.blocks:
            slim, media = _without_media(block, rules)
            kept.append(slim)
            moved.extend(media)
        out.append(step.keep(kept))
        if moved:
            ledger.add("image_moved", step.node)
            out.append(Step("user", tuple(moved), step.item, step.node, note=True))
    return out


def _without_media(block: Block, rules: Rules) -> tuple[Block, list[Block]]:
    result = block.part
    assert isinstance(result, ToolResult)
    media = [part for part in result.parts if isinstance(part, Media) and not rules.result_holds(part)]
    if not media:
        return block, []
    moved: list[Block] = []
    for part in media:
        label = Text(text=f"[{part.kind} from tool result]")
        moved += [Block(label, block.item, block.node), Block(part, block.item, block.node)]
    kept = tuple(part for part in result.parts if not any(part is out for out in media))
    kept = kept or (Text(text=f"[{media[0].kind}: see the next message]"),)
    return replace(block, part=result.model_copy(update={"parts": kept})), moved


def filled(steps: Sequence[Step], ledger: Ledger) -> list[Step]:
    """Blank texts go; a user message without words gets a marker; others without content go."""
    out: list[Step] = []
    for step in steps:
        blocks = tuple(block for block in step.blocks if not blank(block.part))
        if len(blocks) != len(step.blocks):
            ledger.add("empty_content", step.node)
        if blocks and not (step.role != "assistant" and len(step.keep(blocks).fields) == len(blocks)):
            out.append(replace(step, blocks=blocks))
            continue
        ledger.add("empty_content", step.node)
        if step.role == "user" and not step.note:
            out.append(replace(step, blocks=(*blocks, Block(Text(text=EMPTY), step.item, step.node))))
    return out


def led(steps: Sequence[Step], ledger: Ledger) -> list[Step]:
    """Reasoning that stands alone leads the assistant message after it; without one it goes."""
    out: list[Step] = []
    waiting: tuple[Block, ...] = ()
    for step in steps:
        if step.role == "assistant" and all(_bare(block.part) for block in step.blocks):
            waiting += step.blocks
            continue
        if step.role == "assistant":
            out.append(step.keep((*waiting, *step.blocks)) if waiting else step)
        else:
            _left_out(waiting, ledger)
            out.append(step)
        waiting = ()
    _left_out(waiting, ledger)
    return out


def _left_out(blocks: Sequence[Block], ledger: Ledger) -> None:
    for block in blocks:
        thought = isinstance(block.part, Reasoning)
        ledger.add("reasoning_dropped" if thought else "opaque_part", block.node)


def _bare(part: Part) -> bool:
    """True for what makes no message by itself."""
    if isinstance(part, Opaque) and part.kind == "fields":
        return refusal_of(part) is None
    return isinstance(part, Reasoning)


def joined(steps: Sequence[Step]) -> list[Step]:
    """Notes become blocks of the user message before them, else of the one after them."""
    out: list[Step] = []
    for step in steps:
        last = out[-1] if out else None
        if last and last.role == "user" and step.role == "user" and step.note:
            out[-1] = last.keep((*last.blocks, *step.blocks))
        elif last and last.role == "user" and step.role == "user" and last.note:
            out[-1] = step.keep((*last.blocks, *step.blocks))
        else:
            out.append(step)
    return out


def fixed(role: str, text: str, item: int = OVERHEAD, node: str = "") -> Step:
    """A step of fixed words."""
    assert role in ("user", "assistant")
    return Step("user" if role == "user" else "assistant", (Block(Text(text=text), item, node),), item, node)


def begun(steps: list[Step], ledger: Ledger) -> list[Step]:
    """The first message after the system ones is a user's."""
    first = next(
        (at for at, step in enumerate(steps) if step.role not in ("system", "developer")), len(steps)
    )
    if first == len(steps) or steps[first].role == "user":
        return steps
    ledger.add("conversation_begins")
    return [*steps[:first], fixed("user", BEGINS), *steps[first:]]


def ended(steps: list[Step], ledger: Ledger) -> list[Step]:
    """The last message is a user's or a result."""
    if not steps or steps[-1].role != "assistant":
        return steps
    ledger.add("continue")
    return [*steps, fixed("user", CONTINUE)]


def apart(steps: Sequence[Step], ledger: Ledger) -> list[Step]:
    """Between results and a user message stands a fixed assistant message, as strict templates demand."""
    out: list[Step] = []
    for step in steps:
        if out and out[-1].role == "tool" and step.role == "user":
            ledger.add("turn_separated", step.node)
            out.append(fixed("assistant", NO_ANSWER, step.item, step.node))
        out.append(step)
    return out


def merged(steps: Sequence[Step], ledger: Ledger) -> list[Step]:
    """Consecutive user messages, and consecutive assistant messages, as one each."""
    out: list[Step] = []
    for role, run in groupby(steps, key=lambda step: step.role):
        together = list(run)
        if len(together) == 1 or role not in ("user", "assistant"):
            out += together
            continue
        for step in together[1:]:
            ledger.add("merged_turns", step.node)
        names = {step.name for step in together}
        blocks = tuple(block for step in together for block in step.blocks)
        out.append(replace(together[0], blocks=blocks, name=together[0].name if len(names) == 1 else None))
    return out
