"""Long logs into a store: time, and the most memory that a process of its own ever held.

Logs are made as they are known to be: a coding session of one program, lines that are linked, most of it
tool output, with rewinds and subagents; an export of another with many conversations that branch.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

WORDS = [
    "def",
    "return",
    "import",
    "value",
    "error",
    "index",
    "cache",
    "parser",
    "token",
    "branch",
    "merge",
    "table",
    "query",
    "server",
    "client",
    "request",
    "response",
    "timeout",
    "retry",
    "commit",
    "config",
    "module",
    "function",
    "because",
    "should",
    "before",
    "after",
    "while",
    "reading",
    "writing",
]
MEGABYTE = 1_000_000
TURNS_BETWEEN_REWINDS = 200


def run(megabytes: int = 500) -> list[dict[str, Any]]:
    """A row for each format, at a tenth of the size and at the whole: what grows with the log shows between them."""
    rows = []
    for form, make in (("claude-code", session), ("chatgpt", export)):
        for size in (max(1, megabytes // 10), megabytes):
            with tempfile.TemporaryDirectory() as folder:
                log = Path(folder, "log")
                make(log, size * MEGABYTE)
                rows.append({"format": form, "log MB": size, **_apart(log, Path(folder, "store.db"))})
    return rows


def _apart(log: Path, store: Path) -> dict[str, Any]:
    """The figures of an import, and of a second one, each in a process of its own."""
    first, second = _import(log, store), _import(log, store)
    return {
        **first,
        "MB / s": log.stat().st_size / MEGABYTE / first["seconds"],
        "store MB": store.stat().st_size / MEGABYTE,
        "second: added": second["messages added"],
        "second: seconds": second["seconds"],
        "second: peak MB": second["peak MB"],
    }


def _import(log: Path, store: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.imports", str(log), str(store)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _measure(log: str, store: str) -> dict[str, Any]:
    import ctxtree

    steps = 0

    def step(name: str, messages: int) -> None:
        nonlocal steps
        steps += 1
        if sys.stderr.isatty():
            print(f"\r{name}: {messages:,} messages", end="", file=sys.stderr)

    with ctxtree.connect(store) as opened:
        opened.tree("warm").user("hi")
        before = _peak()
        start = perf_counter()
        report = opened.import_file(log, progress=step)
        seconds = perf_counter() - start
    return {
        "messages added": report.added,
        "branches": sum(one.branches for one in report.conversations),
        "seconds": seconds,
        "peak MB": _peak(),
        "of it before": before,
        "progress": steps,
    }


def _peak() -> float:
    """The most memory that this process has held so far, in MB."""
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held / 1_000 if sys.platform != "darwin" else held / MEGABYTE


def session(path: Path, size: int) -> None:
    """A Claude Code session of about `size` bytes."""
    draw = random.Random(7)
    with path.open("w", encoding="utf-8") as out:
        for row in _rows(draw):
            out.write(json.dumps(row) + "\n")
            if out.tell() >= size:
                return


def _rows(draw: random.Random) -> Iterator[dict[str, Any]]:
    number, parent = 0, None
    trail: list[str] = []

    def row(kind: str, content: Any, above: str | None, **more: Any) -> dict[str, Any]:
        nonlocal number
        number += 1
        message = {"role": kind, "content": content, **more.pop("message", {})}
        return {
            "parentUuid": above, "isSidechain": False, "sessionId": "long", "type": kind, "message": message,
            "uuid": f"{number:08d}-0000-4000-8000-000000000000", "timestamp": f"2026-03-01T10:00:{number % 60:02d}Z", **more,
        }  # fmt: skip

    turn = 0
    while True:
        turn += 1
        if turn % TURNS_BETWEEN_REWINDS == 0:
            parent = draw.choice(trail[-100:])
        said = row("user", _text(draw, 40), parent)
        yield said
        trail = [*trail[-200:], said["uuid"]]
        above = said["uuid"]
        for call in range(draw.randint(1, 4)):
            use = {
                "type": "tool_use",
                "id": f"t{number}",
                "name": "Read",
                "input": {"path": f"src/m{call}.py"},
            }
            asked = row("assistant", [use], above, message={"id": f"m{number}"})
            yield asked
            yield {
                "type": "progress",
                "uuid": f"p{number}",
                "parentUuid": asked["uuid"],
                "data": {"hook": "Post"},
            }
            held = {
                "type": "tool_result",
                "tool_use_id": use["id"],
                "content": _text(draw, draw.randint(100, 1500)),
            }
            told = row("user", [held], f"p{number}")
            yield told
            above = told["uuid"]
        text = [{"type": "text", "text": _text(draw, 120)}]
        usage = {"input_tokens": number, "output_tokens": 9}
        spoken = row("assistant", text, above, message={"id": f"m{number}", "usage": usage})
        yield spoken
        parent = spoken["uuid"]


def export(path: Path, size: int) -> None:
    """A ChatGPT export of about `size` bytes, a conversation of 60 messages at a time."""
    draw = random.Random(11)
    number = 0
    with path.open("w", encoding="utf-8") as out:
        before = "["
        while out.tell() < size:
            number += 1
            out.write(before + json.dumps(_conversation(draw, number)))
            before = ",\n"
        out.write("]")


def _conversation(draw: random.Random, number: int) -> dict[str, Any]:
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    above = "root"
    for place in range(60):
        name = f"n{place}"
        message = {
            "author": {"role": ("user", "assistant")[place % 2]}, "create_time": 1_700_000_000 + place,
            "content": {"content_type": "text", "parts": [_text(draw, draw.choice((30, 400)))]}, "recipient": "all",
        }  # fmt: skip
        mapping[name] = {"id": name, "message": message, "parent": above, "children": []}
        mapping[above]["children"].append(name)
        above = name if place % 20 else above
    return {
        "title": f"talk {number}",
        "conversation_id": f"talk-{number}",
        "mapping": mapping,
        "current_node": "n59",
    }


def _text(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(WORDS, k=words)) + f" {draw.random()}"


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], sys.argv[2])))
