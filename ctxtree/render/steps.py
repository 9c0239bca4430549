"""Messages on their way out, split so that each step holds what one role may say.

A `Block` is a part with the item that pays for it; a `Step` is a run of blocks of
one role. All rules work on steps, so that stored messages are never touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import is_
from typing import Literal

from ctxtree.imitation import told_apart, told_apart_inside
from ctxtree.model import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from ctxtree.plan import Said
from ctxtree.render.phrases import LOSSES, REPAIRS
from ctxtree.report import Signal

StepRole = Literal["system", "developer", "user", "assistant", "tool"]

OVERHEAD = -1
"""The item of what no item pays for: constants of the request."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part, who pays for it, and which node it shows. `id` and `name` are those of the wire."""

    part: Part
    item: int
    node: str = ""
    cut: bool = False
    id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """What one role says at once. `note`: our own words, which join a neighbouring user step."""

    role: StepRole
    blocks: tuple[Block, ...]
    item: int
    node: str = ""
    note: bool = False
    name: str | None = None

    @property
    def calls(self) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if isinstance(block.part, ToolCall))

    @property
    def fields(self) -> tuple[Opaque, ...]:
        """Unknown fields of the message itself."""
        parts = (block.part for block in self.blocks)
        return tuple(part for part in parts if isinstance(part, Opaque) and part.kind == "fields")

    def keep(self, blocks: Iterable[Block]) -> Step:
        kept = tuple(blocks)
        same = len(kept) == len(self.blocks) and all(map(is_, kept, self.blocks))
        return self if same else replace(self, blocks=kept)


@dataclass(slots=True)
class Ledger:
    """Collects codes and nodes during one rendering; one signal a code, nodes in the order found."""

    found: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, code: str, node: str = "") -> None:
        nodes = self.found.setdefault(code, {})
        if node:
            nodes[node] = None

    def repairs(self) -> tuple[Signal, ...]:
        return self._signals(REPAIRS)

    def losses(self) -> tuple[Signal, ...]:
        return self._signals(LOSSES)

    def _signals(self, table: dict[str, str]) -> tuple[Signal, ...]:
        return tuple(
            Signal(code=code, message=message, nodes=tuple(self.found[code]))
            for code, message in table.items()
            if code in self.found
        )


def blank(part: Part) -> bool:
    return isinstance(part, Text) and (not part.text or part.text.isspace())


def gather(said: Sequence[Said], ledger: Ledger) -> list[Step]:
    """The messages as steps: results apart from words, whatever message they came in."""
    steps: list[Step] = []
    for entry in said:
        steps.extend(_split(entry, ledger))
    return steps


def _split(said: Said, ledger: Ledger) -> list[Step]:
    role = _role(said)
    note = role == "user" and (said.note or said.message.role == "note")
    own_words = said.message.role in _OURS or (said.note and said.message.role != "note")
    parts = said.message.parts if own_words else [_foreign(part, said, ledger) for part in said.message.parts]
    blocks = [Block(_sayable(part, role, said, ledger), said.item, said.node) for part in parts]
    blocks = _marked(blocks) if said.cut else blocks
    if role == "tool" and blocks and all(isinstance(block.part, Opaque) for block in blocks):
        return [Step("user", tuple(blocks), said.item, said.node, note=True)]
    if role == "tool" and not said.message.results:
        return [Step("tool", (_as_result(blocks, said),), said.item, said.node)]
    own: StepRole = "user" if role == "tool" else role
    runs = groupby(blocks, key=lambda block: "tool" if isinstance(block.part, ToolResult) else own)
    steps = [
        Step("tool", tuple(run), said.item, said.node)
        if kind == "tool"
        else Step(own, tuple(run), said.item, said.node, note or role == "tool", said.message.name)
        for kind, run in runs
    ]
    return steps or [Step(own, (), said.item, said.node, note, said.message.name)]


_OURS = ("system", "developer", "state")
"""Roles whose words are the caller's or our own."""


def _foreign(part: Part, said: Said, ledger: Ledger) -> Part:
    """A part with what imitates our notices made visibly different, in results and transcripts too."""
    changed: Part = part
    if isinstance(part, Text):
        note = said.message.role == "note"
        changed = Text(text=told_apart_inside(part.text) if note else told_apart(part.text))
    elif isinstance(part, Media) and part.transcript:
        changed = part.model_copy(update={"transcript": told_apart(part.transcript)})
    elif isinstance(part, ToolResult):
        changed = part.model_copy(update={"parts": tuple(_foreign(one, said, ledger) for one in part.parts)})
    if changed == part:
        return part
    ledger.add("notice_imitated", said.node)
    return changed


def _role(said: Said) -> StepRole:
    role = said.message.role
    if said.note or role == "note":
        return "user"
    return "system" if role == "state" else role


def _sayable(part: Part, role: StepRole, said: Said, ledger: Ledger) -> Part:
    """The part, or its text where the role may not hold it: only the assistant calls and thinks."""
    if role == "assistant" or not isinstance(part, ToolCall | Reasoning):
        return part
    ledger.add("role_mismatch", said.node)
    return Text(text=brief(part) if isinstance(part, ToolCall) else part.text)


def _marked(blocks: list[Block]) -> list[Block]:
    """A break point on the last block that may carry one: not blank, not reasoning, not a field."""
    for index in range(len(blocks) - 1, -1, -1):
        part = blocks[index].part
        fields = isinstance(part, Opaque) and part.kind == "fields"
        if not (blank(part) or isinstance(part, Reasoning) or fields):
            blocks[index] = replace(blocks[index], cut=True)
            break
    return blocks


def _as_result(blocks: list[Block], said: Said) -> Block:
    parts = tuple(
        block.part for block in blocks if not isinstance(block.part, ToolCall | ToolResult | Reasoning)
    )
    result = ToolResult(parts=parts, name=said.message.name)
    return Block(result, said.item, said.node, any(block.cut for block in blocks))


def brief(call: ToolCall, value_chars: int = 40, total_chars: int = 160, bare: bool = False) -> str:
    """`read(path=a.py)`: the call in at most `total_chars` characters and its name.

    `bare`: a single argument stands without its name, `read(a.py)`.
    """
    shown: list[str] = []
    for key, value in call.object.items():
        text = " ".join(str(value).split())
        text = text if len(text) <= value_chars else text[: value_chars - 1] + "…"
        shown.append(text if bare and len(call.object) == 1 else f"{key}={text}")
        if sum(map(len, shown)) > total_chars:
            break
    inside = ", ".join(shown)
    return f"{call.name[:64]}({inside if len(inside) <= total_chars else inside[: total_chars - 1] + '…'})"
