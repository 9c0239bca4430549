"""Long-term facts of a branch, a tree, or the whole store. The newest row of a key holds; older ones stay."""

from __future__ import annotations

from collections.abc import Container, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, insert, select, update

from ctxtree.store import reading
from ctxtree.store.codec import Codec, name_in, name_out, time_in, time_out
from ctxtree.store.dialects import STORE
from ctxtree.store.engine import Transactions, chunks
from ctxtree.store.records import FactRow
from ctxtree.store.schema import facts, nodes


class Facts(Transactions):
    """The part of `Database` that holds facts. `tree=None` means those of the whole store."""

    def facts(self, tree: int | None, on_path: Container[str] = ()) -> tuple[FactRow, ...]:
        """The facts that hold now, those written last at the end.

        Those of the tree or the store, and of those that belong to a node the newest of each key on a path.
        """
        found = [row for row in self.fact_rows(tree) if row.node is None or row.node in on_path]
        newest = {(row.key, row.node is None): row.seq for row in found}
        held = set(newest.values())
        return tuple(row for row in found if row.seq in held and row.text is not None)

    def fact_rows(self, tree: int | None, key: str | None = None) -> tuple[FactRow, ...]:
        """Every wording that there ever was, oldest first; of one key, or the newest of each key at each node."""
        query = _ROWS.where(facts.c.tree == _scope(tree)).order_by(facts.c.seq)
        query = query.where(facts.c.seq.in_(_newest(tree)) if key is None else facts.c.key == name_in(key))
        rows = self._read(lambda connection: connection.execute(query).all())
        return tuple(_row(self._codec, row) for row in rows)

    def put_fact(
        self, tree: int | None, key: str, text: str, at: datetime | None = None, node: str | None = None
    ) -> None:
        """A new fact, or the new wording of one. Raises NotFound for an unknown node."""
        self._put(tree, key, self._codec.pack(name_in(text)), at, node)

    def forget_fact(
        self, tree: int | None, key: str, at: datetime | None = None, node: str | None = None
    ) -> None:
        """From now on the key holds nothing (below `node`, if one); its history stays. Nothing happens if it held nothing."""
        if node is not None or any(row.key == key for row in self.facts(tree)):
            self._put(tree, key, None, at, node)

    def touch_facts(self, tree: int | None, keys: Sequence[str], at: datetime | None = None) -> None:
        """Notes that these facts were used just now."""

        def work(connection: Connection) -> None:
            seqs = set(connection.scalars(_newest(tree)))
            for some in chunks(sorted({name_in(key) for key in keys})):
                query = select(facts.c.seq).where(facts.c.tree == _scope(tree), facts.c.key.in_(some))
                held = sorted(seqs & set(connection.scalars(query)))
                for few in chunks(held):
                    connection.execute(
                        update(facts)
                        .where(facts.c.tree == _scope(tree), facts.c.seq.in_(few))
                        .values(used=time_in(at or self.clock()))
                    )

        if keys:
            self._write(work, _scope(tree))

    def _put(
        self, tree: int | None, key: str, text: bytes | None, at: datetime | None, node: str | None
    ) -> None:
        moment = time_in(at or self.clock())

        def work(connection: Connection) -> None:
            place = None if tree is None else reading.require_seq(connection, tree, node)
            last = connection.scalar(select(func.max(facts.c.seq)).where(facts.c.tree == _scope(tree)))
            row = {
                "tree": _scope(tree),
                "seq": (last or 0) + 1,
                "key": name_in(key),
                "text": text,
                "node": place,
            }
            connection.execute(insert(facts), {**row, "created": moment, "used": moment})

        self._write(work, _scope(tree))


_ROWS = select(
    facts.c.key, facts.c.text, facts.c.created, facts.c.used, facts.c.seq, nodes.c.id.label("node")
).join(nodes, nodes.c.seq == facts.c.node, isouter=True)  # fmt: skip


def _newest(tree: int | None) -> Select[Any]:
    """The numbers of the newest row of each key at each node."""
    return (
        select(func.max(facts.c.seq)).where(facts.c.tree == _scope(tree)).group_by(facts.c.key, facts.c.node)
    )


def _row(codec: Codec, row: Any) -> FactRow:
    text = None if row.text is None else name_out(codec.unpack(row.text))
    node = None if row.node is None else row.node.hex()
    return FactRow(name_out(row.key), text, time_out(row.created), time_out(row.used), row.seq, node)


def _scope(tree: int | None) -> int:
    return STORE if tree is None else tree
