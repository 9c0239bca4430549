"""Looking at nodes: one, many, a path, children, all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, bindparam, select

from ctxtree.errors import NotFound
from ctxtree.model import Node
from ctxtree.store import reading
from ctxtree.store.codec import id_in
from ctxtree.store.engine import Transactions, chunks
from ctxtree.store.records import Placed
from ctxtree.store.schema import SHORT_ID, nodes, short_id

_start = select(nodes.c.seq, nodes.c.parent).where(nodes.c.seq == bindparam("leaf")).cte("up", recursive=True)
# Parents have smaller numbers, so the walk can end at the number of `after`, whether it meets it or not.
_up = _start.union_all(
    select(nodes.c.seq, nodes.c.parent)
    .join(_start, nodes.c.seq == _start.c.parent)
    .where(nodes.c.seq > bindparam("stop"))
)
_WALK = select(_up.c.seq, _up.c.parent)


class Reads(Transactions):
    """The part of `Database` that reads nodes."""

    def node(self, tree: int, identity: str) -> Node | None:
        found = self.placed(tree, identity)
        return found.node if found else None

    def placed(self, tree: int, identity: str) -> Placed | None:
        """A node with its number and depth, or None."""

        def work(connection: Connection) -> Placed | None:
            found = reading.find(connection, tree, identity)
            return self._nodes(connection, [found[0]])[0] if found else None

        return self._read(work)

    def nodes(self, tree: int, ids: Sequence[str]) -> dict[str, Node]:
        """Those of the nodes that are there, by id."""

        def work(connection: Connection) -> dict[str, Node]:
            found = reading.find_many(connection, tree, ids)
            rows = self._nodes(connection, [seq for seq, _ in found.values()])
            return {row.node.id: row.node for row in rows}

        return self._read(work)

    def path(self, tree: int, identity: str, after: str | None = None) -> tuple[Node, ...]:
        """Root to node, or only what follows the ancestor `after`; linear in what is returned.

        Raises NotFound for an unknown node, and for an `after` that is no ancestor of it.
        """

        def work(connection: Connection) -> tuple[Node, ...]:
            leaf, _ = reading.require(connection, tree, identity)
            stop = reading.require(connection, tree, after)[0] if after is not None else 0
            if leaf == stop:
                return ()
            walked = connection.execute(_WALK, {"leaf": leaf, "stop": stop}).all()
            if after is not None and min(walked)[1] != stop:
                raise NotFound(f"node {after} is no ancestor of {identity}")
            return tuple(row.node for row in self._nodes(connection, [seq for seq, _ in walked]))

        return self._read(work)

    def children(self, tree: int, identity: str | None) -> tuple[Node, ...]:
        """The nodes whose first parent it is, oldest first; for None the roots."""

        def work(connection: Connection) -> tuple[Node, ...]:
            query = select(nodes.c.seq).where(nodes.c.tree == tree)
            if identity is None:
                query = query.where(nodes.c.parent.is_(None))
            else:
                query = query.where(nodes.c.parent == reading.require(connection, tree, identity)[0])
            return tuple(row.node for row in self._nodes(connection, list(connection.scalars(query))))

        return self._read(work)

    def all_nodes(self, tree: int) -> Iterator[Node]:
        """Every node that is there at the start, in order of creation; a few hundred in memory at a time."""
        seqs = self._read(lambda connection: self._seqs(connection, tree))
        for some in chunks(seqs):
            for row in self._read(lambda connection, some=some: self._nodes(connection, some)):  # type: ignore[misc]
                yield row.node

    def prefix(self, tree: int, digits: str, limit: int = 20) -> tuple[str, ...]:
        """Ids that begin with these hex digits, at most `limit`, oldest first."""
        digits = digits.lower()
        low, high = id_in(digits.ljust(64, "0")), id_in(digits.ljust(64, "f"))
        if low is None or high is None:
            return ()
        query = (
            select(nodes.c.id)
            .where(
                nodes.c.tree == tree,
                short_id.between(low[:SHORT_ID], high[:SHORT_ID]),
                nodes.c.id.between(low, high),
            )
            .order_by(nodes.c.seq)
            .limit(limit)
        )
        return self._read(lambda connection: tuple(raw.hex() for raw in connection.scalars(query)))

    def links(self, tree: int) -> list[tuple[str, str | None, str]]:
        """Id, first parent and role of every node, in order of creation; contents are not read."""
        query = select(nodes.c.seq, nodes.c.id, nodes.c.parent, nodes.c.role).where(nodes.c.tree == tree)
        rows = sorted(self._read(lambda connection: connection.execute(query).all()))
        ids = {seq: raw.hex() for seq, raw, _, _ in rows}
        return [(ids[seq], ids.get(parent), reading.ROLES[role]) for seq, _, parent, role in rows]

    def _nodes(self, connection: Connection, seqs: list[int]) -> list[Placed]:
        return reading.placed(connection, self._codec, reading.read_rows(connection, seqs))

    def _seqs(self, connection: Connection, tree: int) -> list[int]:
        return sorted(connection.scalars(select(nodes.c.seq).where(nodes.c.tree == tree)))
