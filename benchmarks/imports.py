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


class _Log:
    """Rows of a session as the program writes them: each with a new id, linked to the one named."""

    def __init__(self, draw: random.Random) -> None:
        self.draw, self.number = draw, 0

    def row(self, kind: str, content: Any, above: str | None, **beside: Any) -> dict[str, Any]:
        self.number += 1
        return {
            "parentUuid": above, "isSidechain": False, "sessionId": "long", "type": kind,
            "message": {"role": kind, "content": content, **beside},
            "uuid": f"{self.number:08d}-0000-4000-8000-000000000000",
            "timestamp": f"2026-03-01T10:{self.number // 60 % 60:02d}:{self.number % 60:02d}Z",
        }  # fmt: skip

    def turn(self, parent: str | None) -> Iterator[dict[str, Any]]:
        """A request, some calls with what they gave, and an answer."""
        yield (row := self.row("user", _text(self.draw, 40), parent))
        above = row["uuid"]
        for _ in range(self.draw.randint(1, 4)):
            for row in self.call(above):
                yield row
                above = row["uuid"]
        text = [{"type": "text", "text": _text(self.draw, 120)}]
        usage = {"input_tokens": self.number, "output_tokens": 9}
        yield self.row("assistant", text, above, id=f"m{self.number}", usage=usage)

    def call(self, above: str) -> Iterator[dict[str, Any]]:
        """A call, a hook's progress, and the result below that."""
        name = f"t{self.number}"
        use = {"type": "tool_use", "id": name, "name": "Read", "input": {"path": f"src/m{self.number}.py"}}
        yield (row := self.row("assistant", [use], above, id=f"m{self.number}"))
        yield {
            "type": "progress",
            "uuid": f"p{name}",
            "parentUuid": row["uuid"],
            "data": {"hook": "PostToolUse"},
        }
        words = _text(self.draw, self.draw.randint(100, 1500))
        yield self.row("user", [{"type": "tool_result", "tool_use_id": name, "content": words}], f"p{name}")


def _rows(draw: random.Random) -> Iterator[dict[str, Any]]:
    """Turns without end; now and then one goes back to an answer of before."""
    log = _Log(draw)
    answers: list[str | None] = [None]
    while True:
        rewinds = len(answers) % TURNS_BETWEEN_REWINDS == 0
        row: dict[str, Any] = {}
        for row in log.turn(draw.choice(answers[-100:]) if rewinds else answers[-1]):
            yield row
        answers.append(row["uuid"])


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
