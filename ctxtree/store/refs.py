"""Trees and branches: names, and where they point. Every move of a head is logged."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, insert, select, update

from ctxtree.errors import ConflictError
from ctxtree.store import heads, reading
from ctxtree.store.codec import name_in, name_out, time_in, time_out
from ctxtree.store.dialects import STORE
from ctxtree.store.engine import Transactions
from ctxtree.store.records import BranchRow, MoveRow, TreeRow
from ctxtree.store.schema import branches, meta, moves, nodes, trees


class Refs(Transactions):
    """The part of `Database` that holds trees and branches."""

    def trees(self) -> tuple[TreeRow, ...]:
        """All trees, oldest first, each with its number of nodes."""

        def work(connection: Connection) -> tuple[TreeRow, ...]:
            sizes = select(nodes.c.tree, func.count()).group_by(nodes.c.tree)
            counted = {row[0]: row[1] for row in connection.execute(sizes)}
            rows = connection.execute(select(trees).order_by(trees.c.id))
            return tuple(_tree_row(row, counted.get(row.id, 0)) for row in rows)

        return self._read(work)

    def tree(self, name: str) -> TreeRow | None:
        return self._read(lambda connection: _tree(connection, trees.c.name == name_in(name)))

    def create_tree(self, name: str) -> TreeRow:
        """The tree of that name; if it is new, with the empty branch `main`, which is active."""

        def work(connection: Connection) -> TreeRow:
            found = _tree(connection, trees.c.name == name_in(name))
            if found:
                return found
            number = (connection.scalar(select(func.max(trees.c.id))) or 0) + 1
            moment = time_in(self.clock())
            connection.execute(
                insert(trees), {"id": number, "name": name_in(name), "active": b"main", "created": moment}
            )
            heads.add_branch(connection, number, b"main", None, None, None, moment)
            heads.touch_tree(connection, self._hot(connection), number)
            return TreeRow(number, name, "main", time_out(moment), 0)

        return self.tree(name) or self._write(work, STORE)

    def last_tree(self) -> TreeRow | None:
        """The tree that was written to or activated last."""

        def work(connection: Connection) -> TreeRow | None:
            number = connection.scalar(select(meta.c.value).where(meta.c.name == "last_tree"))
            return _tree(connection, trees.c.id == int(number)) if number else None

        return self._read(work)

    def branches(self, tree: int) -> tuple[BranchRow, ...]:
        """All branches, oldest first."""

        def work(connection: Connection) -> tuple[BranchRow, ...]:
            query = select(branches).where(branches.c.tree == tree).order_by(branches.c.number)
            return _branch_rows(connection, query)

        return self._read(work)

    def branch(self, tree: int, name: str) -> BranchRow | None:
        def work(connection: Connection) -> BranchRow | None:
            query = select(branches).where(branches.c.tree == tree, branches.c.name == name_in(name))
            found = _branch_rows(connection, query)
            return found[0] if found else None

        return self._read(work)

    def create_branch(
        self,
        tree: int,
        name: str,
        head: str | None,
        parent: str | None = None,
        fork: str | None = None,
        at: datetime | None = None,
    ) -> BranchRow:
        """A new name for `head`; copies nothing.

        Raises ConflictError if the name is taken, NotFound for an unknown node.
        """

        def work(connection: Connection) -> BranchRow:
            hot = self._hot(connection)
            heads.require_tree(hot, tree)
            if heads.has_branch(hot, tree, name):
                raise ConflictError(f"there is already a branch {name!r}; choose another name")
            moment = time_in(at or self.clock())
            seq = reading.require_seq(connection, tree, head)
            origin = name_in(parent) if parent is not None else None
            heads.add_branch(
                connection,
                tree,
                name_in(name),
                seq,
                origin,
                reading.require_seq(connection, tree, fork),
                moment,
            )
            heads.log_move(hot, tree, name_in(name), None, seq, moment, b"create")
            return BranchRow(name, head, parent, fork, "open", time_out(moment))

        return self._write(work, tree)

    def move(
        self,
        tree: int,
        name: str,
        expected: str | None,
        head: str | None,
        reason: str = "",
        at: datetime | None = None,
    ) -> None:
        """Points a branch at `head` if it still points at `expected`; else raises ConflictError."""

        def work(connection: Connection) -> None:
            hot = self._hot(connection)
            old = heads.require_head(hot, tree, name)
            if old != reading.require_seq(connection, tree, expected):
                stands = reading.names_of(connection, [old]).get(old)
                raise ConflictError(
                    f"branch {name!r} stands at {stands}, not at {expected}: another writer moved it"
                )
            new = reading.require_seq(connection, tree, head)
            moment = time_in(at or self.clock())
            heads.move_head(hot, tree, name, old, new, moment, name_in(reason))

        self._write(work, tree)

    def activate(self, tree: int, name: str) -> None:
        """Makes a branch the one where a new handle starts."""

        def work(connection: Connection) -> None:
            heads.require_head(self._hot(connection), tree, name)
            connection.execute(update(trees).where(trees.c.id == tree).values(active=name_in(name)))
            heads.touch_tree(connection, self._hot(connection), tree)

        self._write(work, tree)

    def set_status(self, tree: int, name: str, status: str) -> None:
        def work(connection: Connection) -> None:
            heads.require_head(self._hot(connection), tree, name)
            connection.execute(
                update(branches)
                .where(branches.c.tree == tree, branches.c.name == name_in(name))
                .values(status=name_in(status))
            )

        self._write(work, tree)

    def moves(self, tree: int, branch: str | None = None) -> tuple[MoveRow, ...]:
        """Every move of a head, oldest first: what is needed to undo one. A run of appends is one row."""

        def work(connection: Connection) -> tuple[MoveRow, ...]:
            query = select(moves).where(moves.c.tree == tree).order_by(moves.c.seq)
            if branch is not None:
                query = query.where(moves.c.branch == name_in(branch))
            rows = connection.execute(query).all()
            ids = reading.names_of(connection, [seq for row in rows for seq in (row.old, row.new)])
            return tuple(
                MoveRow(
                    row.seq,
                    name_out(row.branch),
                    ids.get(row.old),
                    ids.get(row.new),
                    time_out(row.at),
                    name_out(row.reason),
                )
                for row in rows
            )

        return self._read(work)


def _tree(connection: Connection, condition: ColumnElement[bool]) -> TreeRow | None:
    row = connection.execute(select(trees).where(condition)).first()
    if row is None:
        return None
    count = connection.scalar(select(func.count()).where(nodes.c.tree == row.id)) or 0
    return _tree_row(row, count)


def _tree_row(row: Any, count: int) -> TreeRow:
    return TreeRow(row.id, name_out(row.name), name_out(row.active), time_out(row.created), count)


def _branch_rows(connection: Connection, query: Select[Any]) -> tuple[BranchRow, ...]:
    rows = connection.execute(query).all()
    ids = reading.names_of(connection, [seq for row in rows for seq in (row.head, row.fork)])
    return tuple(
        BranchRow(
            name_out(row.name),
            ids.get(row.head),
            name_out(row.parent) if row.parent is not None else None,
            ids.get(row.fork),
            name_out(row.status),
            time_out(row.updated),
        )
        for row in rows
    )
