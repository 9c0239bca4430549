"""Retrieval in Chinese, by rule: a value that was told early is asked for late, by name and slot.

Dialogues of CrossWOZ (Zhu et al., 2020) are put end to end. For each answer of the first half that informs of
one slot of a named place (`地址`, `电话`, ...), the question is `<name>的<slot>是多少？`; it is answered if the
whole of that answer stands in the request.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ctxtree
from ctxtree import Budget

SLOTS = ("地址", "电话", "门票", "评分", "人均消费", "营业时间", "游玩时间", "价格")
TOGETHER = 10
"""Dialogues in one tree: about 160 messages."""


@dataclass(frozen=True, slots=True)
class Asked:
    question: str
    answer: str


def run(data: Path, budget: int = 1_000, trees: int = 20) -> dict[str, Any]:
    """The share of questions whose answer stands word for word in a request of `budget` tokens."""
    dialogues = [json.loads(line) for line in (data / "val_200.jsonl").read_text("utf-8").splitlines()]
    groups = [dialogues[at : at + TOGETHER] for at in range(0, len(dialogues), TOGETHER)][:trees]
    right = asked = 0
    for group in groups:
        with ctxtree.connect(":memory:") as store:
            tree = store.tree("crosswoz")
            tree.extend([
                {"role": said["role"], "content": said["content"]} for one in group for said in one["messages"]
            ])  # fmt: skip
            for one in _questions(group[: TOGETHER // 2]):
                made = tree.compile(budget=Budget(budget), input=one.question, record=False)
                if made.report.tokens > budget:
                    raise AssertionError(f"{made.report.tokens} tokens at a budget of {budget}")
                asked += 1
                right += one.answer in json.dumps(made.payload, ensure_ascii=False)
    return {"questions": asked, "budget": budget, "answered": right / asked}


def _questions(group: Sequence[dict[str, Any]]) -> Iterator[Asked]:
    for dialogue in group:
        names: dict[str, str] = {}
        for said in dialogue["messages"]:
            acts = [act for act in said["dialog_act"] if act[0] in ("Inform", "Recommend")]
            for _, domain, slot, value in acts:
                if slot == "名称" and value and value != "none":
                    names[domain] = value
            told = [(domain, slot) for _, domain, slot, _ in acts if slot in SLOTS]
            if said["role"] == "assistant" and len(acts) == 1 and told and told[0][0] in names:
                domain, slot = told[0]
                yield Asked(
                    f"{names[domain]}的{slot}是多少？", json.dumps(said["content"], ensure_ascii=False)[1:-1]
                )
