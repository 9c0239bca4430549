"""Other libraries on the same work, each in a virtual environment of its own, made here."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import ctxtree
from benchmarks.grow import figures
from benchmarks.work import conversation

HOME = Path(__file__).parent
PEERS = {"langchain": ("langchain-core",)}
"""Name -> what is installed. The adapter is `peer_<name>.py`."""


def grow(name: str, calls: int = 1_000, budget: int = 8_000) -> dict[str, Any]:
    """`grow` with a peer's own trimming. It is given each message's tokens: counting costs it nothing."""
    python = _environment(name)
    messages = [{"message": one, "tokens": ctxtree.count([one])} for one in conversation(calls)]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work.json"
        work.write_text(json.dumps(messages))
        call = [str(python), str(HOME / f"peer_{name}.py"), str(work), str(budget)]
        told = json.loads(subprocess.run(call, capture_output=True, text=True, check=True).stdout)
    return {"peer": name, "version": told["version"], "budget": budget, **figures(told["times"])}


def _environment(name: str) -> Path:
    """The peer's Python; installed at the first use."""
    place = HOME / ".venvs" / name
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PEERS[name]], check=True)
    return python
