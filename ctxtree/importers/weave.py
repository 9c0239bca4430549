"""Several lists of messages that begin alike, woven into one tree.

Snapshots of a state, attempts of an agent, requests of an evaluation: each is the whole path again. What
has been said already at the same place is known by its id and its words, and stands once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ctxtree.importers.base import Draft
from ctxtree.importers.lists import as_draft
from ctxtree.importers.wire.parsed import Parsed

Key = tuple[str | None, str | None, bytes]


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a list: its id in the log, if it has one, the message, and the line it stands in."""

    id: str | None
    parsed: Parsed
    line: int = 0


@dataclass(slots=True)
class Weave:
    """The tree so far. Memory: an id and a hash for each message that is new, not its words."""

    known: dict[Key, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def add(self, path: Iterable[Said], leaf: str | None = None) -> Iterator[Draft]:
        """The drafts of a path that are new, below `leaf`. The last place is in `at` when it is done."""
        self.at = leaf
        for said in path:
            key = (self.at, said.id, bytes.fromhex(said.parsed.message.hash))
            name = self.known.get(key)
            if name is None:
                name = self.known[key] = self._name(said)
                yield as_draft(name, self.at, said.parsed, said.line)
            self.at = name

    at: str | None = None

    def _name(self, said: Said) -> str:
        """The message's own id, or the next number; with a number behind it where the id is taken."""
        base = said.id or str(len(self.taken) + 1)
        name, number = base, 1
        while name in self.taken:
            number += 1
            name = f"{base}.{number}"
        self.taken.add(name)
        return name
