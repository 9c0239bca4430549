"""What is worked out from nodes and can be worked out again: token counts, vectors, summaries, epochs."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from ctxtree.store import reading
from ctxtree.store.codec import name_in, name_out
from ctxtree.store.dialects import STORE
from ctxtree.store.engine import Transactions, chunks
from ctxtree.store.records import EpochRow
from ctxtree.store.schema import counts, encodings, epochs, nodes, summaries, vectors


class Derived(Transactions):
    """The part of `Database` that keeps results."""

    def counts(self, tree: int, encoding: str, ids: Sequence[str]) -> dict[str, int]:
        """Stored token counts of these nodes, as far as there are any."""

        def work(connection: Connection) -> dict[str, int]:
            places = reading.find_many(connection, tree, ids)
            names = {seq: identity for identity, (seq, _) in places.items()}
            number = _encoding(connection, encoding)
            found: dict[str, int] = {}
            for some in chunks(sorted(names)):
                query = select(counts.c.node, counts.c.tokens).where(
                    counts.c.encoding == number, counts.c.node.in_(some)
                )
                found |= {names[seq]: tokens for seq, tokens in connection.execute(query)}
            return {identity: found[identity] for identity in ids if identity in found}

        return self._read(work)

    def put_counts(self, tree: int, encoding: str, tokens: Mapping[str, int]) -> None:
        """Stores token counts by node id. Ids that are no nodes of the tree are passed over."""

        def work(connection: Connection) -> None:
            places = reading.find_many(connection, tree, tokens)
            number = self._named(connection, encoding)
            for some in chunks(sorted((seq, tokens[identity]) for identity, (seq, _) in places.items())):
                connection.execute(_UNCOUNT, {"way": number, "some": [seq for seq, _ in some]})
                rows = [{"encoding": number, "node": seq, "tokens": figure} for seq, figure in some]
                connection.execute(insert(counts), rows)

        if tokens:
            self._write(work, tree)

    def _named(self, connection: Connection, name: str) -> int:
        """The number of a way of counting or embedding; a new one if it has none."""
        number = _encoding(connection, name)
        if number is None:
            self._join(connection, STORE)
            number = _encoding(connection, name)  # another tree's writer may have been faster
        if number is None:
            number = (connection.scalar(select(func.max(encodings.c.id))) or 0) + 1
            connection.execute(insert(encodings), {"id": number, "name": name_in(name)})
        return number

    def vectors(self, tree: int, embedder: str, ids: Sequence[str]) -> dict[str, bytes]:
        """Stored vectors (float32) under an embedder's name of these nodes, as far as there are any."""

        def work(connection: Connection) -> dict[str, bytes]:
            places = reading.find_many(connection, tree, ids)
            names = {seq: identity for identity, (seq, _) in places.items()}
            kind = (vectors.c.tree == tree) & (vectors.c.encoding == _encoding(connection, embedder))
            found: dict[str, bytes] = {}
            for some in chunks(sorted(names)):
                query = select(vectors.c.node, vectors.c.data).where(kind, vectors.c.node.in_(some))
                found |= {names[seq]: bytes(data) for seq, data in connection.execute(query)}
            return found

        return self._read(work)

    def put_vectors(self, tree: int, embedder: str, data: Mapping[str, bytes]) -> None:
        """Stores vectors by node id; one that is there is replaced. Ids that are no nodes are passed over."""

        def work(connection: Connection) -> None:
            places = reading.find_many(connection, tree, data)
            number = self._named(connection, embedder)
            for some in chunks(sorted((seq, data[identity]) for identity, (seq, _) in places.items())):
                where = (vectors.c.tree == tree) & (vectors.c.encoding == number)
                where &= vectors.c.node.in_([seq for seq, _ in some])
                connection.execute(delete(vectors).where(where))
                rows = [{"tree": tree, "encoding": number, "node": seq, "data": one} for seq, one in some]
                connection.execute(insert(vectors), rows)

        if data:
            self._write(work, tree)

    def summary(self, tree: int, key: str) -> bytes | None:
        query = select(summaries.c.data).where(summaries.c.tree == tree, summaries.c.key == name_in(key))
        found = self._read(lambda connection: connection.scalar(query))
        return None if found is None else self._codec.unpack(found)

    def put_summary(self, tree: int, key: str, data: bytes, covered_first: str, covered_last: str) -> None:
        """Keeps a summary of the nodes from first to last; one that is there under the key is replaced."""

        def work(connection: Connection) -> None:
            places = reading.find_many(connection, tree, (covered_first, covered_last))
            where = (summaries.c.tree == tree) & (summaries.c.key == name_in(key))
            connection.execute(delete(summaries).where(where))
            row = {
                "tree": tree,
                "key": name_in(key),
                "first": places.get(covered_first, (None, 0))[0],
                "last": places.get(covered_last, (None, 0))[0],
                "data": self._codec.pack(data),
            }
            connection.execute(insert(summaries), row)

        self._write(work, tree)

    def epochs(self, tree: int, key: str, after: int = 0) -> tuple[EpochRow, ...]:
        """The epochs under a key, oldest first; only those numbered above `after`."""
        given = {"in_tree": tree, "key": name_in(key), "after": after}
        rows = self._read(lambda connection: connection.execute(_AFTER, given).all())
        return tuple(self._epoch(row) for row in rows)

    def epoch_at(self, tree: int, key: str, nodes: Container[str]) -> EpochRow | None:
        """The newest epoch under the key that was recorded at one of these nodes."""

        def work(connection: Connection) -> EpochRow | None:
            where = (epochs.c.tree == tree) & (epochs.c.key == name_in(key))
            places = connection.execute(_PLACES.where(where).order_by(epochs.c.seq.desc())).all()
            newest = next((seq for seq, raw in places if raw.hex() in nodes), None)
            if newest is None:
                return None
            row = connection.execute(_EPOCHS.where(epochs.c.tree == tree, epochs.c.seq == newest)).one()
            return self._epoch(row)

        return self._read(work)

    def put_epoch(self, tree: int, node: str, key: str, data: bytes) -> int:
        """Records a compaction at a node; returns its number. Raises NotFound for an unknown node."""

        def work(connection: Connection) -> int:
            place, _ = reading.require(connection, tree, node)
            last = connection.scalar(select(func.max(epochs.c.seq)).where(epochs.c.tree == tree))
            number = (last or 0) + 1
            row = {"tree": tree, "seq": number, "key": name_in(key), "node": place}
            connection.execute(insert(epochs), {**row, "data": self._codec.pack(data)})
            return number

        return self._write(work, tree)

    def _epoch(self, row: Any) -> EpochRow:
        return EpochRow(row.seq, row.id.hex(), name_out(row.key), self._codec.unpack(row.data))


_EPOCHS = select(epochs.c.seq, nodes.c.id, epochs.c.key, epochs.c.data).join(
    nodes, nodes.c.seq == epochs.c.node
)
_AFTER = _EPOCHS.where(
    epochs.c.tree == bindparam("in_tree"), epochs.c.key == bindparam("key"), epochs.c.seq > bindparam("after")
).order_by(epochs.c.seq)
_PLACES = select(epochs.c.seq, nodes.c.id).join(nodes, nodes.c.seq == epochs.c.node)


_ENCODING = select(encodings.c.id).where(encodings.c.name == bindparam("name"))
_UNCOUNT = delete(counts).where(
    counts.c.encoding == bindparam("way"), counts.c.node.in_(bindparam("some", expanding=True))
)


def _encoding(connection: Connection, name: str) -> int | None:
    return connection.scalar(_ENCODING, {"name": name_in(name)})
