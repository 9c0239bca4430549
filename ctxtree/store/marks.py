"""Marks: what is said about nodes later. Rows are only added; the newest of a name holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select

from ctxtree.errors import NotFound
from ctxtree.model import Mark
from ctxtree.store import reading
from ctxtree.store.codec import Codec, time_in, time_out
from ctxtree.store.engine import Transactions, chunks
from ctxtree.store.records import MarkRow
from ctxtree.store.schema import is_label, marks, nodes

_ROWS = select(marks.c.seq, nodes.c.id, marks.c.name, marks.c.value, marks.c.at).join(
    nodes, nodes.c.seq == marks.c.node
)
_AFTER = _ROWS.where(marks.c.tree == bindparam("in_tree"), marks.c.seq > bindparam("after"))


class Marks(Transactions):
    """The part of `Database` that holds marks."""

    def marks(
        self, tree: int, nodes: Sequence[str] | None = None, after: int = 0, without: Sequence[str] = ()
    ) -> tuple[MarkRow, ...]:
        """Marks in the order they were made: of these nodes, or of all; only those numbered above `after`.

        Those named in `without` are left out.
        """

        def work(connection: Connection) -> list[Any]:
            query = _AFTER.where(marks.c.name.not_in(without)) if without else _AFTER
            given = {"in_tree": tree, "after": after}
            if nodes is None:
                return list(connection.execute(query, given))
            found: list[Any] = []
            seqs = [seq for seq, _ in reading.find_many(connection, tree, nodes).values()]
            for some in chunks(sorted(seqs)):
                found += connection.execute(query.where(marks.c.node.in_(some)), given)
            return found

        return tuple(self._mark(row) for row in sorted(self._read(work), key=lambda row: row.seq))

    def newest_mark(self, tree: int) -> int:
        """The number of the tree's newest mark; 0 without one."""
        query = select(marks.c.seq).where(marks.c.tree == tree).order_by(marks.c.seq.desc()).limit(1)
        return self._read(lambda connection: connection.scalar(query)) or 0

    def add_marks(self, tree: int, marks: Sequence[Mark]) -> None:
        """Adds marks, all or none. Raises NotFound for an unknown node."""

        def work(connection: Connection) -> None:
            known = reading.find_many(connection, tree, {mark.node for mark in marks})
            for mark in marks:
                if mark.node not in known:
                    raise NotFound(f"no node {mark.node[:64]!r} in tree {tree} to mark")
            store_marks(connection, self._codec, tree, [(known[mark.node][0], mark) for mark in marks])

        if marks:
            self._write(work, tree)

    def labels(self, tree: int) -> dict[str, str]:
        """Node by label.

        A node has its newest label (None takes it away); of two nodes the later labelled wins.
        """
        query = _ROWS.where(marks.c.tree == tree, is_label)
        rows = self._read(lambda connection: connection.execute(query).all())
        newest = {row.id: row for row in sorted(rows, key=lambda row: row.seq)}
        held = [self._mark(row) for row in sorted(newest.values(), key=lambda row: row.seq)]
        return {str(mark.value): mark.node for mark in held if mark.value is not None}

    def _mark(self, row: Any) -> MarkRow:
        value = self._codec.value_out(row.value)
        return MarkRow(row.seq, row.id.hex(), row.name, value, time_out(row.at))


def store_marks(connection: Connection, codec: Codec, tree: int, said: Sequence[tuple[int, Mark]]) -> None:
    """Adds marks about nodes given by number."""
    if not said:
        return
    first = reading.next_number(connection, marks.c.seq, tree)
    rows = [
        {
            "seq": seq,
            "tree": tree,
            "node": node,
            "name": mark.name,
            "value": codec.value_in(mark.value),
            "at": time_in(mark.at),
        }
        for seq, (node, mark) in enumerate(said, first)
    ]
    connection.execute(insert(marks), rows)


def standing(connection: Connection, tree: int, seqs: Sequence[int]) -> set[tuple[int, str, bytes]]:
    """Node number, name and packed value of the marks that these nodes have."""
    found: set[tuple[int, str, bytes]] = set()
    for some in chunks(sorted(set(seqs))):
        rows = connection.execute(
            select(marks.c.node, marks.c.name, marks.c.value).where(
                marks.c.tree == tree, marks.c.node.in_(some)
            )
        )
        found |= {(node, name, bytes(value)) for node, name, value in rows}
    return found
