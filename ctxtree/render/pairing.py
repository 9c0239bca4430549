"""Each call and its results, brought together as every API demands.

A result belongs to the newest round that holds its id, at the first call there that is still
open: servers repeat `call_0` every round, so no table over the whole conversation would do.
A round is a run of assistant messages with nothing between them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ctxtree.model import Media, Opaque, Reasoning, Text, ToolCall, ToolResult
from ctxtree.render.ids import IdRule, Ids, legal_name
from ctxtree.render.phrases import NO_RESULT, ORPHAN
from ctxtree.render.steps import Block, Ledger, Step, brief


@dataclass(slots=True, eq=False)
class _Slot:
    """A call, the step that it stands in, and what answers it."""

    call: Block
    step: int
    result: Block | None = None

    @property
    def id(self) -> str:
        assert isinstance(self.call.part, ToolCall)
        return self.call.part.id


@dataclass(slots=True)
class _Matching:
    """Built up by one walk over the steps; `by_id` holds the newest round of each id."""

    slots: dict[int, list[_Slot]] = field(default_factory=dict)
    orphans: dict[int, list[Block]] = field(default_factory=dict)
    moved: list[str] = field(default_factory=list)
    by_id: dict[str, tuple[int, deque[_Slot]]] = field(default_factory=dict)
    newest: deque[_Slot] = field(default_factory=deque)
    round: int = 0

    def calls(self, index: int, step: Step, same_round: bool) -> None:
        slots = self.slots[index] = [_Slot(block, index) for block in step.calls]
        if not same_round:
            self.round += 1
            self.newest = deque()
        self.newest.extend(slots)
        for slot in slots:
            held = self.by_id.get(slot.id)
            if held is None or held[0] != self.round:
                held = self.by_id[slot.id] = (self.round, deque())
            held[1].append(slot)

    def slot_for(self, block: Block) -> _Slot | None:
        """Same id; else by position, where the call or the result has no id."""
        result = block.part
        assert isinstance(result, ToolResult)
        held = self.by_id.get(result.call_id)
        if held:
            slot = next(_open(held[1]), None)
            if slot or result.call_id:
                return slot
        first: _Slot | None = None
        for slot in _open(self.newest):
            if result.call_id and slot.id:
                continue
            if not result.name or _call(slot.call).name == result.name:
                return slot
            first = first or slot
        return first


def _open(slots: deque[_Slot]) -> Iterator[_Slot]:
    """The unanswered ones; the answered ones in front are let go, so that a walk is cheap."""
    while slots and slots[0].result:
        slots.popleft()
    return (slot for slot in slots if slot.result is None)


def pair(steps: Sequence[Step], rule: IdRule | None, ledger: Ledger) -> list[Step]:
    """The steps with every call answered once, directly after it; ids legal and unique by `rule`.

    Calls that nothing follows are told in words instead. Without a rule ids stay as they are.
    """
    matching = _match(steps)
    waiting = _pending(steps, matching)
    ids = Ids(rule) if rule else None
    out: list[Step] = []
    for index, step in enumerate(steps):
        if step.role == "tool":
            out.extend(_quoted(step, block, ledger) for block in matching.orphans.get(index, ()))
        elif index in waiting:
            out.extend(_told(step, ledger))
        elif index in matching.slots:
            out.extend(_answered(step, matching.slots[index], ids, ledger))
        else:
            out.append(step)
    for node in matching.moved:
        ledger.add("result_moved", node)
    return out


def _match(steps: Sequence[Step]) -> _Matching:
    found = _Matching()
    others = 0
    at_step: dict[int, int] = {}
    before = ""
    for index, step in enumerate(steps):
        if step.calls:
            found.calls(index, step, same_round=before == "assistant")
            at_step[index] = others
        elif step.role == "tool":
            for block in step.blocks:
                slot = found.slot_for(block)
                if slot is None:
                    found.orphans.setdefault(index, []).append(block)
                    continue
                slot.result = block
                if others > at_step[slot.step]:
                    found.moved.append(block.node)
        else:
            others += 1
        before = step.role
    return found


def _pending(steps: Sequence[Step], matching: _Matching) -> set[int]:
    """The steps at the end whose calls have no result at all; notes may follow them."""
    waiting: set[int] = set()
    for index in range(len(steps) - 1, -1, -1):
        step = steps[index]
        if step.note:
            continue
        slots = matching.slots.get(index)
        if not slots or any(slot.result for slot in slots):
            break
        waiting.add(index)
    return waiting


def _answered(step: Step, slots: list[_Slot], ids: Ids | None, ledger: Ledger) -> list[Step]:
    """The assistant step and one step with its results, in the order of the calls."""
    calls: list[Block] = []
    results: list[Block] = []
    for slot in slots:
        call = _call(slot.call)
        identity, name = ids.take(call.id) if ids else call.id, legal_name(call.name)
        if identity != call.id:
            ledger.add("ids_rewritten", step.node)
        if name != call.name:
            ledger.add("name_changed", step.node)
        result = slot.result
        if result is None:
            ledger.add("unanswered_call", step.node)
            part = ToolResult(parts=(Text(text=NO_RESULT),))
            result = Block(part, slot.call.item, slot.call.node)
        calls.append(replace(slot.call, id=identity, name=name))
        results.append(replace(result, id=identity, name=name))
    given = iter(calls)
    blocks = [next(given) if isinstance(block.part, ToolCall) else block for block in step.blocks]
    return [step.keep(blocks), Step("tool", tuple(results), step.item, step.node)]


def _told(step: Step, ledger: Ledger) -> list[Step]:
    """What was said beside the calls, and a note that names them."""
    ledger.add("pending_call", step.node)
    if any(isinstance(block.part, Reasoning) for block in step.blocks):
        ledger.add("reasoning_dropped", step.node)
    kept = [block for block in step.blocks if not isinstance(block.part, ToolCall | Reasoning)]
    line = "\n".join(f"call {brief(_call(block), bare=True)} awaits its result" for block in step.calls)
    cut = any(block.cut for block in step.calls)
    note = Step("user", (Block(Text(text=line), step.item, step.node, cut),), step.item, step.node, note=True)
    return [step.keep(kept), note] if kept else [note]


def _quoted(step: Step, block: Block, ledger: Ledger) -> Step:
    """An orphan result as a user note, its media after its text, parts nobody knows by their kind."""
    result = block.part
    assert isinstance(result, ToolResult)
    ledger.add("orphan_result", block.node)
    media = tuple(replace(block, part=part) for part in result.parts if isinstance(part, Media))
    kinds = [part.kind for part in result.parts if isinstance(part, Opaque)]
    if kinds:
        ledger.add("opaque_part", block.node)
    said = " ".join([ORPHAN, *(f"[{kind[:40]}]" for kind in kinds), result.text]).rstrip()
    return Step("user", (replace(block, part=Text(text=said)), *media), step.item, block.node, note=True)


def _call(block: Block) -> ToolCall:
    assert isinstance(block.part, ToolCall)
    return block.part
