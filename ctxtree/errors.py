"""Everything that can go wrong, as one tree.

    CtxtreeError
    ├── BudgetError          the request cannot be made to fit; nothing was sent
    ├── NotFound             a tree, node, branch, label or recall id that is not there
    ├── AmbiguousRef         a prefix or label that names several nodes
    ├── AmbiguousBacktrack   words that point at several nodes about equally well
    ├── NoBacktrack          words that ask for no move, or that point at nothing
    ├── ConflictError        another writer moved the branch first
    ├── FormatError          a log or a message that cannot be read
    ├── StoreError           the database refused, is newer than this library, or is damaged
    ├── PolicyError          a budget or policy figure that makes no sense
    └── TargetError          the path holds nothing that the target would accept

Messages carry ids and figures, never the words of a conversation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LONGEST = 800
"""Characters of an error's text."""


class CtxtreeError(Exception):
    """Base of all errors that this library raises on purpose. Its text is short, however long what was asked for is."""

    def __str__(self) -> str:
        text = super().__str__()
        return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 4 :]}"


class BudgetError(CtxtreeError):
    """What must be sent does not fit. All figures are tokens.

    `needed` is the least that would do, `available` is `window - reserve`
    divided by the counter's factor, `parts` names where the need comes from.
    """

    def __init__(self, needed: int, available: int, parts: Mapping[str, int]) -> None:
        self.needed = needed
        self.available = available
        self.parts = dict(parts)
        shares = ", ".join(f"{name} {tokens}" for name, tokens in self.parts.items() if tokens)
        super().__init__(
            f"the request needs at least {needed} tokens and {available} are available ({shares}); "
            f"raise the window to {needed} plus the reserve, or shorten the largest of these"
        )


class NotFound(CtxtreeError, LookupError):
    """Nothing has this name or id."""


class AmbiguousRef(CtxtreeError, LookupError):
    """Several nodes answer to this reference; `candidates` are their ids."""

    def __init__(self, ref: str, candidates: Sequence[str]) -> None:
        self.candidates = tuple(candidates)
        shown = ", ".join(candidate[:12] for candidate in self.candidates[:5])
        super().__init__(f"{ref!r} could mean {len(self.candidates)} nodes ({shown}); give more of the id")


class AmbiguousBacktrack(CtxtreeError):
    """The words fit several nodes; `candidates` holds them, best first."""

    def __init__(self, message: str, candidates: Sequence[object]) -> None:
        self.candidates = tuple(candidates)
        super().__init__(message)


class NoBacktrack(CtxtreeError):
    """The words are no request to go back, or nothing fits them."""


class ConflictError(CtxtreeError):
    """A ref was moved by another writer between reading and writing it."""


class FormatError(CtxtreeError, ValueError):
    """A log that cannot be read: `path`, `line` (1-based, 0 if unknown) and `why`."""

    def __init__(self, path: str, line: int, why: str) -> None:
        self.path = path
        self.line = line
        self.why = why
        place = f"{path}:{line}" if line else path
        super().__init__(f"{place}: {why}")


class StoreError(CtxtreeError):
    """The store cannot be opened, read or written."""


class PolicyError(CtxtreeError):
    """A figure of a budget or policy is out of range."""


class TargetError(CtxtreeError):
    """The path cannot become a request; `code` says why, for instance `no_user_turn`."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)
