"""The way in: `connect` opens a `Store`, and a store gives its trees."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self

from ctxtree import facts, folders, importing
from ctxtree.errors import NotFound
from ctxtree.handle import Tree
from ctxtree.history import History
from ctxtree.importing import Progress
from ctxtree.model import Node
from ctxtree.naming import check_name
from ctxtree.results import Fact, ImportReport
from ctxtree.store import connect as open_database

__all__ = ["Store", "Tree", "connect"]


def connect(url: str | Path, sync: Literal["normal", "full"] = "normal") -> Store:
    """A store: a path, `":memory:"`, or a SQLAlchemy URL.

    `sync="full"` also survives a loss of power; `"normal"` survives the death of the process.
    Raises `StoreError` if it cannot be opened, is no ctxtree store, or is newer than this library.
    """
    return Store(open_database(str(url), sync))


class Store:
    """All trees of one database. May be shared by threads; `Tree` handles may not."""

    def __init__(self, database: Any) -> None:
        self._database = database

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def trees(self) -> tuple[str, ...]:
        """The names of all trees, in the order in which they were made."""
        return tuple(row.name for row in self._database.trees())

    def tree(self, name: str | None = None, system: str | None = None, create: bool = True) -> Tree:
        """The tree of this name, made with branch `main` if it is not there; None: the one used last.

        `system` is its system prompt; a changed text takes the old one's place from here on.
        """
        if name is None:
            last = self._database.last_tree()
            if last is None:
                raise NotFound("the store holds no tree yet; name one")
            name = last.name
        check_name(name, "tree")
        row = self._database.tree(name)
        if row is None:
            if not create:
                raise NotFound(f"no tree {name!r}")
            row = self._database.create_tree(name)
        tree = Tree(self, History(self._database, row.id), name, row.active)
        if system is not None:
            tree._set_system(system)
        return tree

    def import_file(
        self,
        path: str | Path | BinaryIO,
        format: str = "auto",
        name: str | None = None,
        strict: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Every conversation of a log becomes a tree; one that is known gets what is new in it.

        `progress` is called after each batch with the tree's name and how many messages are in.

        Raises `FormatError` if the format cannot be told, or at the first defect if `strict`.
        """
        return importing.import_file(self._database, path, format, name, strict, progress)

    def export(
        self, folder: str | Path, format: str = "markdown", *, trees: Sequence[str] | None = None,
        redact: bool | Collection[str] = False, **choice: Any,
    ) -> tuple[Path, ...]:  # fmt: skip
        """Write each tree (or those named) to a file of its own in a folder; the files, in the order of the trees.

        `format`, `redact` and `choice` as for `tree.export`. A tree's name never leads out of the folder, whatever it
        is. Raises `StoreError` if the folder cannot be written.
        """
        names = self.trees() if trees is None else trees
        found = (self.tree(name, create=False) for name in names)
        made = ((tree.name, tree.export(format, redact=redact, **choice)) for tree in found)
        return folders.write_all(folder, format, made)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Facts that hold in all trees, last used first."""
        return facts.facts(self._database, None)

    def remember(self, text: str, key: str | None = None) -> Fact:
        """Keep a fact for all trees; see `Tree.remember`."""
        return facts.remember(self._database, None, text, key)

    def forget(self, key: str) -> None:
        """Let go of a fact of the store; its history stays."""
        self._database.forget_fact(None, key)

    def evict_facts(self, keep: int) -> tuple[Fact, ...]:
        """Let go of all facts of the store but the `keep` used last; those let go of."""
        return facts.evict(self._database, None, keep)

    def verify(self) -> tuple[Any, ...]:
        """Everything that does not hold: ids that do not follow from their content, missing parents, lost refs."""
        return tuple(self._database.verify())

    def purge(self, ref: str | Node, reason: str, tree: str | None = None, below: bool = False) -> None:
        """Erase the words of one node for good, and all that was drawn from them: see `docs/safety.md`.

        `below`: of all nodes below it too. The nodes stay as tombstones, so that branches, ids and `verify` hold.
        Raises `NotFound` for an empty `ref`, which elsewhere means the head.
        """
        if isinstance(ref, str) and not ref.strip():
            raise NotFound("an erasure needs the id, label or branch of a node")
        handle = self.tree(tree, create=False)
        self._database.purge(handle._history.tree, handle.node(ref).id, reason, below)

    def prune_turns(self, keep: int) -> int:
        """Drop all but the newest `keep` turn reports of each tree; the number dropped."""
        return int(self._database.prune_turns(keep))
