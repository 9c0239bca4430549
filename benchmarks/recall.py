"""Evidence recall: of the turns that hold the answer, which share stands word for word in the request.

One compile a question, with the question as `input` and everything counted in the budget. A turn counts
when the whole of its text is in the payload.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import Any

import ctxtree
from benchmarks import peers
from benchmarks.locomo import Dialogue, Question, load
from ctxtree import Budget, Policy
from ctxtree.render import plain

BUDGETS = (1_000, 2_000, 4_000, 8_000)
TUNING = ("26", "30", "41")
HELD_OUT = ("42", "43")
NEWEST = 2
"""Turns at the end of the dialogue that must be there at all times."""


def run(
    data: Path,
    names: Sequence[str],
    budgets: Sequence[int] = BUDGETS,
    policy: Policy | None = None,
    embedder: str | None = None,
) -> dict[str, Any]:
    """Shares from 0 to 1 by budget, over all questions of the dialogues; `lost` counts requests without the newest turns."""
    found: dict[int, list[float]] = {budget: [] for budget in budgets}
    lost, times = 0, []
    for dialogue in load(data, list(names)):
        store = ctxtree.connect(":memory:")
        tree, _ = dialogue.tree(store)
        for budget in budgets:
            for question in dialogue.questions:
                start = perf_counter()
                context = tree.compile(
                    budget=Budget(budget),
                    target="openai.chat",
                    input=question.words,
                    policy=policy,
                    embedder=embedder,
                    record=False,
                )
                times.append(perf_counter() - start)
                said = _said(context.payload)
                found[budget].append(_share(dialogue, question, said))
                lost += not all(message.text in said for _, message, _ in dialogue.turns[-NEWEST:])
                if context.report.tokens > budget:
                    raise AssertionError(f"{context.report.tokens} tokens at a budget of {budget}")
        store.close()
    return {
        "who": "ctxtree",
        "version": ctxtree.__version__,
        "tokens": "its own, exact",
        "dialogues": list(names),
        "questions": len(found[budgets[0]]),
        "recall": {budget: mean(shares) for budget, shares in found.items()},
        "lost_newest": lost,
        "ms": 1_000 * mean(times),
    }


def run_peer(name: str, data: Path, names: Sequence[str], budgets: Sequence[int] = BUDGETS) -> dict[str, Any]:
    """Shares as in `run`, of what a peer would send.

    No peer here looks at the question, so each is asked once a dialogue and budget, with the longest question last.
    """
    dialogues = list(load(data, list(names)))
    asked = [(dialogue, budget) for budget in budgets for dialogue in dialogues]
    version, done = peers.ask(name, [_job(dialogue, budget) for dialogue, budget in asked])
    found: dict[int, list[float]] = {budget: [] for budget in budgets}
    for (dialogue, budget), one in zip(asked, done, strict=True):
        said = _said({"messages": one.requests[0]})
        found[budget] += [_share(dialogue, question, said) for question in dialogue.questions]
    return {
        **peers.head(name, version),
        "dialogues": list(names),
        "questions": len(found[budgets[0]]),
        "recall": {budget: mean(shares) for budget, shares in found.items()},
        "ms": 1_000 * mean(one.seconds[0] for one in done),
    }


def _job(dialogue: Dialogue, budget: int) -> peers.Job:
    words = max((question.words for question in dialogue.questions), key=ctxtree.count)
    turns = plain([message for _, message, _ in dialogue.turns], "openai.chat")
    messages = [*turns, {"role": "user", "content": words}]
    return peers.Job(messages, [len(messages)], budget)


def _said(payload: dict[str, Any]) -> str:
    contents = [message["content"] for message in payload["messages"]]
    return "\n".join(
        content if isinstance(content, str) else "\n".join(part["text"] for part in content)
        for content in contents
    )


def _share(dialogue: Dialogue, question: Question, said: str) -> float:
    texts = [message.text for name, message, _ in dialogue.turns if name in question.evidence]
    return sum(text in said for text in texts) / len(texts)
