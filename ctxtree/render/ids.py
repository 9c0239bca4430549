"""Call ids and names that a target accepts.

The id of a call depends on the calls before it and on nothing later, so that an
append never changes a byte that was sent before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

_ODD = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class IdRule:
    """Which ids are legal (`pattern`, matched whole), and how the n-th new one is spelled."""

    pattern: re.Pattern[str]
    make: Callable[[str, int], str]


def readable(old: str, number: int) -> str:
    """`grep:0` becomes `grep_0`, then `grep_0_2`: short enough for every target."""
    base = _ODD.sub("_", old)[:28] or "call"
    return base if number == 1 else f"{base}_{number}"


def nine(_old: str, number: int) -> str:
    """Nine digits: Mistral takes exactly nine letters or digits."""
    return f"{number:09d}"


CHAT = IdRule(re.compile(r"[\x21-\x7e]{1,40}"), readable)
RESPONSES = IdRule(re.compile(r"[\x21-\x7e]{1,64}"), readable)
ANTHROPIC = IdRule(re.compile(r"[A-Za-z0-9_-]{1,64}"), readable)
MISTRAL = IdRule(re.compile(r"[A-Za-z0-9]{9}"), nine)


@dataclass(slots=True)
class Ids:
    """Gives each call of one request its id, in order."""

    rule: IdRule
    used: set[str] = field(default_factory=set)
    numbers: dict[str, int] = field(default_factory=dict)

    def take(self, old: str) -> str:
        """The id itself where it is legal and new, else the next free spelling of it."""
        new = old
        if new in self.used or not self.rule.pattern.fullmatch(new):
            new = self._next(old)
        self.used.add(new)
        return new

    def _next(self, old: str) -> str:
        base = self.rule.make(old, 1)
        while True:
            number = self.numbers[base] = self.numbers.get(base, 0) + 1
            new = self.rule.make(old, number)
            if new not in self.used:
                return new


def legal_name(name: str) -> str:
    """A function name of 1 to 64 letters, digits, `_` and `-`; the name itself where it is one."""
    return _ODD.sub("_", name)[:64] or "tool"
