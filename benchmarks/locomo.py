"""LoCoMo dialogues (Maharana et al., 2024) as trees, with the questions asked about them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ctxtree
from ctxtree import Message, Tree

INFERRED = 5
"""Category of questions whose answer was never said; they have no evidence."""


@dataclass(frozen=True, slots=True)
class Question:
    words: str
    evidence: frozenset[str]
    category: int


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Turns as (id in the data, message, time of the session), and the questions with evidence."""

    name: str
    turns: tuple[tuple[str, Message, datetime | None], ...]
    questions: tuple[Question, ...]

    def tree(self, store: ctxtree.Store) -> tuple[Tree, dict[str, str]]:
        """The dialogue as a tree of the store, and the node of each turn."""
        tree = store.tree(f"locomo {self.name}")
        return tree, {name: tree.append(said, created_at=at).id for name, said, at in self.turns}


def load(folder: Path, names: list[str]) -> list[Dialogue]:
    """The dialogues of these names: `NAME.json` in the folder, in LoCoMo's own form."""
    return [_dialogue(name, json.loads((folder / f"{name}.json").read_text("utf-8"))) for name in names]


def _dialogue(name: str, data: dict[str, Any]) -> Dialogue:
    turns = tuple(_turns(data))
    known = {turn for turn, _, _ in turns}
    questions = tuple(
        Question(asked["question"], evidence, asked["category"])
        for asked in data["qa"]
        if (evidence := _evidence(asked) & known) and asked["category"] != INFERRED
    )
    return Dialogue(name, turns, questions)


def _turns(data: dict[str, Any]) -> Iterator[tuple[str, Message, datetime | None]]:
    sessions = [key for key in data if re.fullmatch(r"session_\d+", key)]
    for key in sorted(sessions, key=lambda key: int(key.removeprefix("session_"))):
        date = data.get(f"{key}_date_time", "")
        for place, turn in enumerate(data[key]):
            text = f"{turn['speaker']}: {turn.get('clean_text') or turn.get('text') or ''}"
            if turn.get("blip_caption"):
                text += f" [shares {turn['blip_caption']}]"
            said = f"[{date}] {text}" if place == 0 else text
            first = turn["speaker"] == data["speaker_a"]
            yield turn["dia_id"], Message.of("user" if first else "assistant", said), _time(date)


def _time(date: str) -> datetime | None:
    try:
        return datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return None


def _evidence(asked: dict[str, Any]) -> frozenset[str]:
    found = [re.findall(r"D:?(\d+):(\d+)", str(one)) for one in asked.get("evidence", ())]
    return frozenset(f"D{session}:{turn}" for pairs in found for session, turn in pairs)
