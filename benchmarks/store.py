"""The store: what a durable append costs, and how large the file is beside what is said in it."""

from __future__ import annotations

import base64
import json
import random
import tempfile
from itertools import islice
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import Any

import ctxtree
from benchmarks.work import conversation


def run(messages: int = 5_000) -> dict[str, Any]:
    """Milliseconds an append, one transaction each; the file's bytes over those of the unique text."""
    times: list[float] = []
    texts: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        with ctxtree.connect(path) as store:
            tree = store.tree("store")
            for message in islice(conversation(messages), messages):
                start = perf_counter()
                tree.append(message)
                times.append(perf_counter() - start)
                texts.add(message["content"])
                texts.update(call["function"]["arguments"] for call in message.get("tool_calls", ()))
        size = path.stat().st_size
    text = sum(len(one.encode()) for one in texts)
    return {
        "messages": len(times),
        "append mean": 1_000 * mean(times),
        "append median": 1_000 * median(times),
        "bytes of text": text,
        "bytes of file": size,
        "file / text": size / text,
    }


def unique(steps: int = 2_000, forks: int = 50, image_bytes: int = 3_750_000) -> dict[str, Any]:
    """A tree of many forks with one image (5 MB in base64) in every tenth step: the file's bytes over the unique content.

    `written out` is what a log holds that repeats the image in each step, as most tools write it.
    """
    chance = random.Random(15)
    image = base64.b64encode(chance.randbytes(image_bytes)).decode()
    spoken = written = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        with ctxtree.connect(path) as store:
            tree = store.tree("unique")
            start = perf_counter()
            for step, message in enumerate(islice(conversation(steps), steps)):
                if step % (steps // forks) == steps // forks - 1:
                    tree.fork(f"fork {step}", at=chance.choice(tree.path()))
                parts: list[Any] = [{"type": "text", "text": json.dumps(message)}]
                spoken += len(parts[0]["text"].encode())
                if step % 10 == 0:
                    picture = {"url": f"data:image/png;base64,{image}"}
                    parts.append({"type": "image_url", "image_url": picture})
                    written += len(image)
                tree.append({"role": "user", "content": parts})
            stored = perf_counter() - start
        size = path.stat().st_size
        with ctxtree.connect(path) as store:
            start = perf_counter()
            loaded = len(store.tree("unique").path())
            load = perf_counter() - start
    content = spoken + len(image)
    return {
        "steps": steps, "forks": forks, "MB of unique content": content / 1e6, "MB of file": size / 1e6,
        "file / content": size / content, "MB written out": (spoken + written) / 1e6, "storing s": stored,
        "path": loaded, "loading s": load,
    }  # fmt: skip
