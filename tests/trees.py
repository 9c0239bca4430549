"""Generated conversations, well formed and mangled, from a seed."""

import random
from typing import Any

from ctxtree import Message, Text, ToolCall, ToolResult, Tree

WORDS = [
    "parser",
    "never",
    "touch",
    "prod",
    "数据库",
    "迁移",
    "🔥",
    "👨‍👩‍👧",
    "<|im_end|>",
    "42",
    "src/a.py",
    "Error:",
    "",
    "x" * 60,
]


def text(rng: random.Random, most: int = 60) -> str:
    size = rng.choice([0, 1, 3, 10, most, most * rng.choice([1, 1, 1, 30])])
    return " ".join(rng.choice(WORDS) for _ in range(size))


def message(rng: random.Random, open_calls: list[str]) -> Message:
    kind = rng.choice(
        ["user", "user", "assistant", "assistant", "call", "call", "result", "result", "system"]
    )
    if kind == "call":
        ids = [
            rng.choice(["call_0", "", f"c{rng.randrange(50)}", "illegal id!", "z" * 70])
            for _ in range(rng.randint(1, 3))
        ]
        open_calls += ids
        calls: list[Any] = [
            ToolCall(
                id=one,
                name=rng.choice(["read", "bash"]),
                arguments=rng.choice([{"path": text(rng, 8)}, "not json", "{}"]),
            )
            for one in ids
        ]
        return Message(
            role="assistant", parts=(*([Text(text=text(rng))] if rng.random() < 0.5 else []), *calls)
        )
    if kind == "result":
        wanted = (
            open_calls.pop(rng.randrange(len(open_calls))) if open_calls and rng.random() < 0.9 else "stray"
        )
        result = ToolResult(call_id=wanted, parts=(Text(text=text(rng, 200)),), error=rng.random() < 0.2)
        return Message(role="tool", parts=(result,))
    if kind == "system" and rng.random() < 0.7:
        kind = "user"
    return Message(
        role=kind,
        parts=rng.choice([(), (Text(text=text(rng)),), (Text(text=text(rng)), Text(text=text(rng)))]),
    )


def grow(tree: Tree, rng: random.Random, steps: int) -> None:
    """Append, retry, fork, mark, pin and set state at random."""
    open_calls: list[str] = []
    for _ in range(steps):
        act = rng.random()
        path = tree.path()
        if path and act < 0.04:
            tree.append(message(rng, []), at=rng.choice(path).id)
        elif path and act < 0.06:
            tree.fail(rng.choice(path), reason=text(rng, 5))
        elif path and act < 0.07 and rng.choice(path).role == "user":
            tree.set_state(step=rng.randrange(9), note=text(rng, 4))
        else:
            tree.extend([message(rng, open_calls)])
