"""A made-up agent conversation: questions, calls, results of several kinds; the same for the same seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

WORDS = [
    "the",
    "parser",
    "fails",
    "on",
    "nested",
    "blocks",
    "check",
    "queue",
    "worker",
    "timeout",
    "retry",
    "cache",
    "index",
    "order",
    "price",
    "user",
    "account",
    "deploy",
    "branch",
    "commit",
    "review",
    "test",
    "coverage",
    "error",
    "stack",
    "trace",
    "memory",
    "limit",
    "disk",
    "latency",
    "region",
    "schema",
    "table",
    "migrate",
    "column",
    "token",
    "budget",
    "window",
    "summary",
    "node",
    "edge",
    "path",
    "label",
    "merge",
    "conflict",
    "deadline",
    "invoice",
    "refund",
]
CHINESE = (
    "我们需要先检查日志，再决定是否重启服务。", "数据库连接池在高峰期被耗尽了。", "请把上一步的结果整理成表格。",
    "测试已经全部通过，但是覆盖率下降了。", "这里的并发控制有问题。",
)  # fmt: skip


def conversation(calls: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    """Messages in OpenAI Chat form up to the `calls`-th assistant message; about 300 tokens each at the mean."""
    rng = random.Random(seed)
    yield {"role": "system", "content": "You are a careful engineer. Never touch production."}
    made = 0
    while True:
        yield {"role": "user", "content": _prose(rng, rng.randint(8, 60))}
        for _ in range(rng.randint(0, 5)):
            ids = [f"call_{made}_{number}" for number in range(rng.choice((1, 1, 1, 2)))]
            yield {
                "role": "assistant",
                "content": _prose(rng, 12),
                "tool_calls": [_call(rng, one) for one in ids],
            }
            made += 1
            if made >= calls:
                return
            for one in ids:
                yield {"role": "tool", "tool_call_id": one, "content": _result(rng)}
        yield {"role": "assistant", "content": _prose(rng, rng.randint(20, 120))}
        made += 1
        if made >= calls:
            return


def _prose(rng: random.Random, words: int) -> str:
    if rng.random() < 0.15:
        return "".join(rng.choice(CHINESE) for _ in range(max(1, words // 12)))
    text = " ".join(rng.choice(WORDS) for _ in range(words))
    return f"{text} {rng.randint(10, 9_999)} in src/{rng.choice(WORDS)}_{rng.randint(1, 40)}.py."


def _call(rng: random.Random, identity: str) -> dict[str, Any]:
    arguments = {"path": f"src/{rng.choice(WORDS)}_{rng.randint(1, 40)}.py", "query": _prose(rng, 6)}
    function = {
        "name": rng.choice(("read_file", "run", "search")),
        "arguments": json.dumps(arguments, ensure_ascii=False),
    }
    return {"id": identity, "type": "function", "function": function}


def _result(rng: random.Random) -> str:
    size = rng.choice((4, 12, 30, 60))
    kind = rng.random()
    if kind < 0.35:
        rows = [
            {"id": rng.randint(1, 9_999), "name": rng.choice(WORDS), "value": rng.random()}
            for _ in range(size)
        ]
        return json.dumps(rows)
    if kind < 0.7:
        lines = (
            f"{number}: {rng.choice(WORDS)}({rng.choice(WORDS)}, {rng.randint(0, 99)})"
            for number in range(size * 2)
        )
        return "\n".join(lines)
    if kind < 0.9:
        levels = ("INFO", "INFO", "WARN", "ERROR")
        lines = (
            f"2026-01-02T10:{number % 60:02}:00 {rng.choice(levels)} {_prose(rng, 6)}"
            for number in range(size)
        )
        return "\n".join(lines)
    return _prose(rng, size * 6)
