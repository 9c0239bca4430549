"""Long-term facts of a tree, or of the whole store. The newest row of a key holds; older ones stay."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, func, insert, select, update

from ctxtree.store.codec import Codec, name_in, name_out, time_in, time_out
from ctxtree.store.dialects import STORE
from ctxtree.store.engine import Transactions, chunks
from ctxtree.store.records import FactRow
from ctxtree.store.schema import facts


class Facts(Transactions):
    """The part of `Database` that holds facts. `tree=None` means those of the whole store."""

    def facts(self, tree: int | None) -> tuple[FactRow, ...]:
        """The facts that hold now, those written last at the end."""
        newest = select(func.max(facts.c.seq)).where(facts.c.tree == _scope(tree)).group_by(facts.c.key)
        query = (
            select(facts)
            .where(facts.c.tree == _scope(tree), facts.c.seq.in_(newest), facts.c.text.is_not(None))
            .order_by(facts.c.seq)
        )
        rows = self._read(lambda connection: connection.execute(query).all())
        return tuple(
            FactRow(
                name_out(row.key),
                _text_out(self._codec, row.text),
                time_out(row.created),
                time_out(row.used),
                row.seq,
            )
            for row in rows
        )

    def put_fact(self, tree: int | None, key: str, text: str, at: datetime | None = None) -> None:
        """A new fact, or the new wording of one."""
        self._put(tree, key, self._codec.pack(name_in(text)), at)

    def forget_fact(self, tree: int | None, key: str, at: datetime | None = None) -> None:
        """From now on the key holds nothing; its history stays. Nothing happens if it held nothing."""
        if any(row.key == key for row in self.facts(tree)):
            self._put(tree, key, None, at)

    def touch_facts(self, tree: int | None, keys: Sequence[str], at: datetime | None = None) -> None:
        """Notes that these facts were used just now."""

        def work(connection: Connection) -> None:
            newest = select(func.max(facts.c.seq)).where(facts.c.tree == _scope(tree)).group_by(facts.c.key)
            seqs = set(connection.scalars(newest))
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

    def _put(self, tree: int | None, key: str, text: bytes | None, at: datetime | None) -> None:
        moment = time_in(at or self.clock())

        def work(connection: Connection) -> None:
            last = connection.scalar(select(func.max(facts.c.seq)).where(facts.c.tree == _scope(tree)))
            row = {"tree": _scope(tree), "seq": (last or 0) + 1, "key": name_in(key), "text": text}
            connection.execute(insert(facts), {**row, "created": moment, "used": moment})

        self._write(work, _scope(tree))


def _scope(tree: int | None) -> int:
    return STORE if tree is None else tree


def _text_out(codec: Codec, packed: bytes) -> str:
    return name_out(codec.unpack(packed))
