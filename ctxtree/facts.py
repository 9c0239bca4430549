"""Long-term facts, of one tree or of the whole store."""

from __future__ import annotations

from datetime import UTC, datetime

from ctxtree.errors import StoreError
from ctxtree.model import clean
from ctxtree.naming import fact_key
from ctxtree.results import Fact
from ctxtree.store import Database


def facts(database: Database, tree: int | None) -> tuple[Fact, ...]:
    """Facts that hold now, last used first; `tree=None`: those of the store."""
    rows = database.facts(tree)
    scope = "store" if tree is None else "tree"
    return tuple(Fact(row.key, row.text, scope, row.created_at, row.used_at) for row in reversed(rows))


def remember(database: Database, tree: int | None, text: str, key: str | None) -> Fact:
    """Keep a fact. The same words, or the same key, are one fact."""
    said, _ = clean(text)
    if not isinstance(said, str) or not said.strip():
        raise StoreError("a fact needs words")
    name = key or fact_key(said)
    now = datetime.now(UTC)
    database.put_fact(tree, name, said, now)
    return Fact(name, said, "store" if tree is None else "tree", now, now)
