"""Other libraries on the same work, each in a virtual environment of its own, made here at the first use.

An adapter (`adapters/`, see its `protocol.py`) is told the messages and what each costs, and tells what the peer
would send. Everything is judged here, by ctxtree's counter and the rules that its own requests are held to.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ctxtree
from benchmarks.grow import figures, judged
from ctxtree import vocab
from ctxtree.tokens import REPLY_TOKENS

Json = dict[str, Any]

HOME = Path(__file__).parent
TIKTOKEN = "tiktoken==0.14.0"
URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
"""Where tiktoken looks for a vocabulary; its cache is named by this."""
SECONDS = 60
"""A job of a peer stops when its calls have taken longer than this."""


@dataclass(frozen=True, slots=True)
class Peer:
    """What runs it, what is installed, and what it knows of tokens."""

    adapter: str
    installs: tuple[str, ...]
    counts: str = "given"


_LANGCHAIN = ("langchain-core==1.8.3", TIKTOKEN)
PEERS = {
    "langchain": Peer("langchain_given", _LANGCHAIN),
    "langchain-counting": Peer("langchain_counting", _LANGCHAIN, "its own, exact"),
    "llama-index": Peer("llama_index_buffer", ("llama-index-core==0.14.25", TIKTOKEN), "its own, of words"),
    "pydantic-ai": Peer(
        "pydantic_ai_window", ("pydantic-ai-slim==2.68.0", "summarization-pydantic-ai==0.1.11")
    ),
    "haystack": Peer("haystack_window", ("haystack-ai==3.4.1",)),
    "autogen": Peer("autogen_limited", ("autogen-core==0.7.5",)),
    "strands": Peer("strands_window", ("strands-agents==1.62.0",), "none: a number of messages"),
}


@dataclass(frozen=True, slots=True)
class Job:
    """Messages in OpenAI Chat form, the places before which the peer is asked, and the limit of a request."""

    messages: Sequence[Json]
    steps: Sequence[int]
    budget: int


@dataclass(frozen=True, slots=True)
class Done:
    """The seconds of each call, and the messages of each request."""

    seconds: list[float]
    requests: list[list[Json]]


class Unavailable(Exception):
    """A peer's environment could not be made, or its adapter failed; says why in one line."""


def chosen(names: str) -> list[str]:
    """The peers named, comma-separated; `all` for all. Raises `ValueError`, naming the known, for another."""
    asked = [name for name in names.split(",") if name]
    if unknown := [name for name in asked if name not in PEERS and name != "all"]:
        raise ValueError(f"no peer {', '.join(unknown)}; known: {', '.join(PEERS)}, all")
    return list(PEERS) if "all" in asked else asked


def head(name: str, version: str) -> Json:
    return {"who": name, "version": version, "tokens": PEERS[name].counts}


def ask(name: str, jobs: Sequence[Job]) -> tuple[str, list[Done]]:
    """The peer's version and what it did; `Unavailable` if it could do nothing."""
    python = _environment(name)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work.json"
        work.write_text(json.dumps({"jobs": [_work(job) for job in jobs], "seconds": SECONDS}), "utf-8")
        told = json.loads(_run(name, [str(python), str(_adapter(name)), str(work)]).splitlines()[-1])
    return told["version"], [_done(job, one) for job, one in zip(jobs, told["jobs"], strict=True)]


def grow(name: str, job: Job) -> Json:
    """`grow` with a peer: its own trimming, timed, and what it would send, judged."""
    version, (done,) = ask(name, [job])
    return {
        **head(name, version),
        "budget": job.budget,
        **figures(done.seconds),
        **judged(done.requests, job.budget),
    }


def _work(job: Job) -> Json:
    tokens = [ctxtree.count([message]) - REPLY_TOKENS for message in job.messages]
    steps, budget = list(job.steps), job.budget - REPLY_TOKENS
    return {"messages": list(job.messages), "tokens": tokens, "steps": steps, "budget": budget}


def _done(job: Job, told: Json) -> Done:
    def request(sent: list[Any]) -> Iterator[Json]:
        return (job.messages[one] if isinstance(one, int) else one for one in sent)

    return Done(told["seconds"], [list(request(sent)) for sent in told["sent"]])


def _adapter(name: str) -> Path:
    return HOME / "adapters" / f"{PEERS[name].adapter}.py"


def _environment(name: str) -> Path:
    """The peer's Python; peers of the same packages share one."""
    installs = PEERS[name].installs
    place = HOME / ".venvs" / "-".join(installs[0].split("=="))
    python = place / "bin" / "python"
    done = place / "installed"
    if not done.exists() or done.read_text() != "\n".join(installs):
        _run(name, [sys.executable, "-m", "venv", "--clear", str(place)])
        _run(name, [str(python), "-m", "pip", "install", "-q", *installs])
        done.write_text("\n".join(installs))
    return python


def _run(name: str, call: list[str]) -> str:
    env = {**os.environ, "TIKTOKEN_CACHE_DIR": str(_vocabularies()), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(call, capture_output=True, text=True, env=env)
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise Unavailable(f"{name}: {last}")
    return done.stdout


def _vocabularies() -> Path:
    """ctxtree's vocabularies where tiktoken looks for them, so that a peer needs no network to count."""
    place = HOME / ".venvs" / "tiktoken"
    place.mkdir(parents=True, exist_ok=True)
    for vocabulary in (vocab.O200K, vocab.CL100K):
        file = place / hashlib.sha1(URL.format(vocabulary.name).encode()).hexdigest()
        if not file.exists():
            file.write_bytes(vocab.read(vocabulary))
    return place
