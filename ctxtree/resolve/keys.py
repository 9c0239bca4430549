"""The names of plans in a text: `plan A`, 方案二, "step 3", 第三步."""

from __future__ import annotations

import re

from ctxtree.resolve.places import (
    ENGLISH_KEY,
    HAN_KEY,
    HAN_STEP,
    LETTER_KEY,
    NUMBERS,
    ORDINAL,
    OTHER,
    OWNED,
    PLAN_NOUN,
    PREVIOUS,
    THAT,
)


def plan_keys(text: str) -> list[str]:
    """The names of plans in a text, in order: `plan A`, `方案 A` and `option a` are all "a"."""
    found: list[tuple[int, str]] = []
    for match in ENGLISH_KEY.finditer(text):
        noun, mark, number = match.group(1).lower(), match.group(2), match.group(3)
        found.append((match.start(), _key(noun, mark or number)))
    for match in HAN_KEY.finditer(text):
        noun, mark = match.group(1) or match.group(4), match.group(2) or match.group(3)
        found.append((match.start(), _key(noun, mark)))
    found += [(match.start(), _key("step", match.group(1))) for match in HAN_STEP.finditer(text)]
    return [key for _, key in sorted(found)]


def lettered(text: str) -> list[str]:
    """The plans named in a choice or a refusal, where a letter alone will do (别用 B 了)."""
    return plan_keys(text) or [letter.lower() for letter in LETTER_KEY.findall(text)]


def is_planned(text: str) -> bool:
    return bool(re.search(PLAN_NOUN, text, re.IGNORECASE))


def names_plan(clause: str) -> bool:
    """Whether a clause names one plan for sure: by its key, its number, its place or who proposed it."""
    if lettered(clause):
        return True
    return is_planned(clause) and any(
        table.search(clause) for table in (ORDINAL, OTHER, PREVIOUS, THAT, OWNED)
    )


def _key(noun: str, mark: str) -> str:
    number = NUMBERS.get(mark.lower()) if len(mark) > 1 or not mark.isascii() else None
    spelled = str(number) if number else mark.lower()
    group = {"version": "version ", "版本": "version ", "step": "step "}.get(noun, "")
    return group + spelled
