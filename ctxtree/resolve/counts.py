"""Numbers in words: "two", "a couple of", 三, 二十五."""

from __future__ import annotations

import re

from ctxtree.resolve.places import NUMBERS


def number(word: str) -> int:
    """The number, 1 for a word that is none; -1 stands for the last."""
    bare = re.sub(r"^a (?=couple|few)| of$", "", word.lower().strip())
    if bare.isdecimal():
        return int(bare)
    tens = re.fullmatch(r"([二三四五六七八九]?)十([一二三四五六七八九]?)", bare)
    if tens:
        return NUMBERS.get(tens.group(1), 1) * 10 + NUMBERS.get(tens.group(2), 0)
    return NUMBERS.get(bare, 1)
