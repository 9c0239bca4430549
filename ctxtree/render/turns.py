"""Steps as the turns of an API that knows two roles: results and user words share one turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ctxtree.render.steps import Block, Step


@dataclass(frozen=True, slots=True)
class Turn:
    """All that one side says before the other does; results stand first."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]


def divided(steps: Sequence[Step]) -> tuple[list[Block], list[Turn]]:
    """The blocks of the system messages, and the turns after them, strictly alternating."""
    system = [block for step in steps if step.role in ("system", "developer") for block in step.blocks]
    roles: list[Literal["user", "assistant"]] = []
    held: list[list[Block]] = []
    for step in steps:
        if step.role in ("system", "developer"):
            continue
        role: Literal["user", "assistant"] = "assistant" if step.role == "assistant" else "user"
        if not roles or roles[-1] != role:
            roles.append(role)
            held.append([])
        held[-1].extend(step.blocks)
    return system, [Turn(role, tuple(blocks)) for role, blocks in zip(roles, held, strict=True)]
