"""A database seen through a mask: whatever is read of words is masked, and nothing said can be written.

What is derived from masked words (summaries, epochs, counts, vectors) is kept under keys of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxtree.errors import StoreError
from ctxtree.masking.mask import Mask
from ctxtree.model import Node

_WRITES = frozenset(
    {
        "append", "insert", "move", "create_branch", "create_tree", "add_marks", "put_fact", "forget_fact", "purge",
        "put_usage", "learn", "close", "put_nodes", "put_marks", "put_records", "put_branches", "close_tree",
    }
)  # fmt: skip
_WORDLESS = frozenset(
    {
        "branch", "branches", "tree", "trees", "last_tree", "prefix", "labels", "newest_mark", "turn", "turns", "last_turn",
        "put_turn", "prune_turns", "touch_facts", "usage", "learned", "together", "verify", "clock", "place",
    }
)  # fmt: skip
"""What may be read as it is: names and figures. Anything else that a database can do has to be masked here first."""


class Masked:
    """Stands where a `Database` would."""

    def __init__(self, database: Any, mask: Mask) -> None:
        self._held, self.mask = database, mask

    def __getattr__(self, name: str) -> Any:
        if name in _WRITES:
            raise StoreError(f"a redacted view only reads; {name} needs the tree itself")
        if name not in _WORDLESS:
            raise AttributeError(f"{name} has no masked form")
        return getattr(self._held, name)

    @property
    def unmasked(self) -> Any:
        """The database itself, for an export that masks all of what it takes from it."""
        return self._held

    def activate(self, tree: int, branch: str) -> None:
        """Nothing: the tree's own active branch stays."""

    def node(self, tree: int, identity: str) -> Node | None:
        found = self._held.node(tree, identity)
        return found and self.mask.node(found)

    def nodes(self, tree: int, ids: Sequence[str]) -> dict[str, Node]:
        return {name: self.mask.node(node) for name, node in self._held.nodes(tree, ids).items()}

    def path(self, tree: int, identity: str, after: str | None = None) -> tuple[Node, ...]:
        return tuple(map(self.mask.node, self._held.path(tree, identity, after)))

    def children(self, tree: int, identity: str | None) -> tuple[Node, ...]:
        return tuple(map(self.mask.node, self._held.children(tree, identity)))

    def all_nodes(self, tree: int) -> Iterator[Node]:
        return map(self.mask.node, self._held.all_nodes(tree))

    def marks(self, *at: Any, **only: Any) -> tuple[Any, ...]:
        return tuple(replace(row, value=self.mask.value(row.value)) for row in self._held.marks(*at, **only))

    def facts(self, *at: Any, **only: Any) -> tuple[Any, ...]:
        return tuple(replace(row, text=self.mask.text(row.text)) for row in self._held.facts(*at, **only))

    def fact_rows(self, *at: Any, **only: Any) -> tuple[Any, ...]:
        rows = self._held.fact_rows(*at, **only)
        return tuple(
            replace(row, text=None if row.text is None else self.mask.text(row.text)) for row in rows
        )

    def counts(self, tree: int, encoding: str, ids: Sequence[str]) -> dict[str, int]:
        return dict(self._held.counts(tree, self._own(encoding), ids))

    def put_counts(self, tree: int, encoding: str, tokens: Mapping[str, int]) -> None:
        self._held.put_counts(tree, self._own(encoding), tokens)

    def vectors(self, tree: int, embedder: str, ids: Sequence[str]) -> dict[str, bytes]:
        return dict(self._held.vectors(tree, self._own(embedder), ids))

    def put_vectors(self, tree: int, embedder: str, data: Mapping[str, bytes]) -> None:
        self._held.put_vectors(tree, self._own(embedder), data)

    def summary(self, tree: int, key: str) -> Any:
        return self._held.summary(tree, self._own(key))

    def put_summary(self, tree: int, key: str, *held: Any) -> None:
        self._held.put_summary(tree, self._own(key), *held)

    def epochs(self, tree: int, key: str, after: int = 0) -> tuple[Any, ...]:
        return tuple(self._held.epochs(tree, self._own(key), after=after))

    def epoch_at(self, tree: int, key: str, nodes: Sequence[str]) -> Any:
        return self._held.epoch_at(tree, self._own(key), nodes)

    def put_epoch(self, tree: int, node: str, key: str, data: bytes) -> int:
        return int(self._held.put_epoch(tree, node, self._own(key), data))

    def line(self, *_at: Any) -> None:
        """None: segments hold what was said unmasked, so the path itself is read."""

    def words(self, *_at: Any) -> dict[str, bytes]:
        return {}

    def put_segments(self, *_at: Any) -> None:
        """Nothing, for the same reason."""

    def _own(self, key: str) -> str:
        return f"{key}/{self.mask.key}"
