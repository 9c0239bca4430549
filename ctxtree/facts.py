"""Long-term facts, of one branch, of one tree or of the whole store: said twice they are one, the later value holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from ctxtree.alike import Reading, compare, read
from ctxtree.errors import StoreError
from ctxtree.model import clean
from ctxtree.naming import fact_key
from ctxtree.results import Fact
from ctxtree.store import Database
from ctxtree.store.dialects import STORE
from ctxtree.store.records import FactRow
from ctxtree.words import Words

Scope = Literal["branch", "tree", "store"]
SCOPES: tuple[Scope, ...] = ("branch", "tree", "store")
"""The nearest first: what is said of a branch holds there over what is said of all."""

MOST = 500
"""Facts that one scope holds; over that those used longest ago are let go of. Their history stays."""

FRESH = timedelta(minutes=10)
"""A use is noted again only after this long, so that not every compile writes."""

FLOOR = 0.5
"""The share of the best fit from which on a fact fits."""

_NEVER = datetime.min.replace(tzinfo=UTC)


class Readings:
    """Facts as they are compared, each read once. For one thread."""

    def __init__(self) -> None:
        self._words = Words()
        self._held: dict[str, Reading] = {}

    def __call__(self, text: str) -> Reading:
        if text not in self._held:
            if len(self._held) > 4 * MOST:
                self._held.clear()
            self._held[text] = read(text, self._words)
        return self._held[text]

    def terms(self, text: str) -> frozenset[str]:
        """The terms of any text, to be held against those of facts."""
        return read(text[-4_000:], self._words).terms


def facts(database: Database, tree: int | None, on_path: Container[str] = ()) -> tuple[Fact, ...]:
    """Facts that hold now, last used first; `tree=None`: those of the store. `on_path`: also those of these nodes."""
    rows = database.facts(tree, on_path)
    found = [_fact(row, tree) for row in reversed(rows)]
    return tuple(sorted(found, key=lambda fact: fact.used_at or _NEVER, reverse=True))


def _fact(row: FactRow, tree: int | None) -> Fact:
    scope: Scope = "store" if tree is None else "branch" if row.node is not None else "tree"
    return Fact(row.key, row.text or "", scope, row.created_at, row.used_at, node=row.node)


def remember(
    database: Database, tree: int | None, text: str, key: str | None, *,
    node: str | None = None, on_path: Container[str] = (), readings: Readings | None = None,
) -> Fact:  # fmt: skip
    """Keep a fact; `node`: from there on. What says nearly the same, or is another value of the same, is one fact with it.

    The later wording holds, the earlier stays in its history. With a `key` only that decides.
    """
    said, _ = clean(text)
    if not isinstance(said, str) or not said.strip():
        raise StoreError("a fact needs words")
    own = readings or Readings()

    def work() -> Fact:
        held = [row for row in database.facts(tree, on_path) if (row.node is None) == (node is None)]
        before = _one_with(held, said, key, own)
        name = before.key if before else key or fact_key(said)
        now = database.clock()
        if before is not None and before.text == said:
            database.touch_facts(tree, [name], now)
            return replace(_fact(before, tree), used_at=now)
        database.put_fact(tree, name, said, now, node)
        if node is None and len(held) >= MOST:
            evict(database, tree, MOST)
        scope: Scope = "store" if tree is None else "tree" if node is None else "branch"
        return Fact(name, said, scope, now, now, before=before.text if before else None, node=node)

    return database.together(work, writing=True, tree=STORE if tree is None else tree)


def _one_with(held: Sequence[FactRow], text: str, key: str | None, readings: Readings) -> FactRow | None:
    """The fact that a text is one with: by its key, else the newest that it says again or anew."""
    if key is not None:
        return next((row for row in held if row.key == key), None)
    own = readings(text)
    return next((row for row in reversed(held) if compare(readings(row.text or ""), own) != "other"), None)


def remember_at(
    database: Database, tree: int, text: str, key: str | None, scope: Scope, head: str | None,
    on_path: Container[str], readings: Readings,
) -> Fact:  # fmt: skip
    """Keep a fact in a scope, seen from a head. Raises `StoreError` for a branch without a node."""
    if scope not in SCOPES:
        raise StoreError(f"no scope {scope!r}; it is branch, tree or store")
    if scope == "store":
        return remember(database, None, text, key, readings=readings)
    if scope == "tree":
        return remember(database, tree, text, key, readings=readings)
    if head is None:
        raise StoreError("a fact of a branch holds from a node on, and this branch has none yet")
    return remember(database, tree, text, key, node=head, on_path=on_path, readings=readings)


def forget(database: Database, tree: int, key: str, head: str | None, on_path: Container[str]) -> None:
    """Let go of a fact of the branch from its head on, else of the tree."""
    own = any(fact.key == key and fact.scope == "branch" for fact in facts(database, tree, on_path))
    database.forget_fact(tree, key, node=head if own else None)


def evict(database: Database, tree: int | None, keep: int) -> tuple[Fact, ...]:
    """Let go of all facts of a scope but the `keep` that were used last; those let go of. Their history stays."""
    if keep < 0:
        raise StoreError(f"keep is {keep}; it must be 0 or more")
    gone = facts(database, tree)[keep:]  # without a path: no branch's
    for fact in gone:
        database.forget_fact(tree, fact.key)
    return gone


def history(database: Database, tree: int, key: str, on_path: Container[str]) -> tuple[Fact, ...]:
    """Every wording that a key had, in the store, the tree and on a path, oldest first; an empty text where it was let go of."""
    found = [_fact(row, None) for row in database.fact_rows(None, key)]
    found += [
        _fact(row, tree) for row in database.fact_rows(tree, key) if row.node is None or row.node in on_path
    ]
    return tuple(sorted(found, key=lambda fact: fact.created_at or _NEVER))


def nearest(found: Iterable[Fact], readings: Readings) -> tuple[Fact, ...]:
    """The facts without those that a nearer scope says otherwise, or again. Cost: one look-up each."""
    kept: list[Fact] = []
    index: dict[object, list[Fact]] = {}
    for fact in sorted(found, key=lambda fact: SCOPES.index(fact.scope)):
        own = readings(fact.text)
        names = [fact.key, own.plain, own.slots, *([own.subject] if own.subject else [])]
        nearer = [one for name in names for one in index.get(name, ()) if one.scope != fact.scope]
        if any(one.key == fact.key or compare(readings(one.text), own) != "other" for one in nearer):
            continue
        kept.append(fact)
        for name in names:
            index.setdefault(name, []).append(fact)
    return tuple(kept)


def fitting(found: Sequence[Fact], words: str, readings: Readings) -> tuple[bool, ...]:
    """Which facts fit the words: those that share about as much with them as the best does, a term that many have less."""
    asked = readings.terms(words)
    shared = [asked & readings(fact.text).terms for fact in found]
    common = Counter(term for terms in shared for term in terms)
    weights = [sum(1 / common[term] for term in terms) for terms in shared]
    least = FLOOR * max(weights, default=0.0)
    return tuple(weight >= least > 0 for weight in weights)


def ranked(found: Sequence[Fact], words: str, readings: Readings) -> tuple[Fact, ...]:
    """Those that fit the words first, then those used last."""
    fits = fitting(found, words, readings)
    pairs = sorted(
        zip(fits, found, strict=True),
        key=lambda pair: (pair[0], pair[1].used_at or _NEVER, pair[1].key),
        reverse=True,
    )
    return tuple(fact for _, fact in pairs)


def touch(database: Database, tree: int, found: Sequence[Fact], words: str, readings: Readings) -> None:
    """Note that those facts that fit the words were used now."""
    now = database.clock()
    fits = fitting(found, words, readings)
    used = [
        fact for fact, fit in zip(found, fits, strict=True) if fit and now - (fact.used_at or _NEVER) > FRESH
    ]
    for scope in (tree, None):
        database.touch_facts(
            scope, [fact.key for fact in used if (fact.scope == "store") == (scope is None)], now
        )
