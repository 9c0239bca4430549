"""Segments of paths: the outline and the words of every `SIZE` nodes, so that the nodes need not be read."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, delete, insert, select

from ctxtree.bm25 import SIZE
from ctxtree.model import Node
from ctxtree.store import reading
from ctxtree.store.engine import Transactions, chunks
from ctxtree.store.records import SegmentRow
from ctxtree.store.schema import nodes, segments

TRIES = 4
"""Segments that may be missing at the end of a path before the whole of it is read instead."""

# From a node up to the nearest one that ends a segment, or to the root.
_start = (
    select(nodes.c.seq, nodes.c.parent, nodes.c.depth)
    .where(nodes.c.seq == bindparam("leaf"))
    .cte("up", recursive=True)
)
_up = _start.union_all(
    select(nodes.c.seq, nodes.c.parent, nodes.c.depth)
    .join(_start, nodes.c.seq == _start.c.parent)
    .where(_start.c.depth % SIZE != SIZE - 1)
)
_WALK = select(_up.c.seq, _up.c.parent, _up.c.depth).order_by(_up.c.seq)

_last = (
    select(segments.c.node, segments.c.above)
    .where(segments.c.node == bindparam("end"), segments.c.version == bindparam("version"))
    .cte("chain", recursive=True)
)
_chain = _last.union_all(
    select(segments.c.node, segments.c.above)
    .join(_last, segments.c.node == _last.c.above)
    .where(segments.c.version == bindparam("version"))
)
_OUTLINES = (
    select(segments.c.outline).join(_chain, segments.c.node == _chain.c.node).order_by(segments.c.node)
)


class Segments(Transactions):
    """The part of `Database` that keeps segments."""

    def line(
        self, tree: int, identity: str, version: int
    ) -> tuple[tuple[bytes, ...], tuple[Node, ...]] | None:
        """A path as the outlines of its segments and the nodes that follow them.

        None if more than a few segments are missing: the path is to be read then. Raises NotFound for an unknown node.
        """

        def work(connection: Connection) -> tuple[tuple[bytes, ...], tuple[Node, ...]] | None:
            leaf: int | None = reading.require(connection, tree, identity)[0]
            after: list[int] = []
            for _ in range(TRIES):
                walked = list(connection.execute(_WALK, {"leaf": leaf}))
                end = walked.pop(0) if walked[0].depth % SIZE == SIZE - 1 else None
                after = [row.seq for row in walked] + after
                if end is None:
                    return (), self._said(connection, after)
                given = {"version": version, "end": end.seq}
                outlines = connection.scalars(_OUTLINES, given).all()
                if len(outlines) * SIZE == end.depth + 1:
                    return tuple(bytes(one) for one in outlines), self._said(connection, after)
                after, leaf = [end.seq, *after], end.parent
            return None

        return self._read(work)

    def words(self, tree: int, version: int, ends: Sequence[str]) -> dict[str, bytes]:
        """The words of the segments that end in these nodes, as far as there are any."""

        def work(connection: Connection) -> dict[str, bytes]:
            places = reading.find_many(connection, tree, ends)
            names = {seq: identity for identity, (seq, _) in places.items()}
            found: dict[str, bytes] = {}
            held = select(segments.c.node, segments.c.words).where(segments.c.version == version)
            for some in chunks(sorted(names)):
                query = held.where(segments.c.node.in_(some))
                found |= {names[seq]: bytes(data) for seq, data in connection.execute(query)}
            return found

        return self._read(work)

    def put_segments(self, tree: int, version: int, rows: Sequence[SegmentRow]) -> None:
        """Keeps segments; one that is there in this version stays. Raises NotFound for an unknown node."""

        def work(connection: Connection) -> None:
            ids = {one for row in rows for one in (row.node, row.above) if one is not None}
            places = {name: seq for name, (seq, _) in reading.find_many(connection, tree, ids).items()}
            for row in rows:
                where = segments.c.node == places[row.node]
                held = connection.scalar(select(segments.c.version).where(where))
                if held == version:
                    continue
                connection.execute(delete(segments).where(where))
                values = {"above": places.get(row.above or ""), "outline": row.outline, "words": row.words}
                connection.execute(
                    insert(segments),
                    {"tree": tree, "node": places[row.node], "version": version, **values},
                )

        if rows:
            self._write(work, tree)

    def _said(self, connection: Connection, seqs: list[int]) -> tuple[Node, ...]:
        return tuple(
            row.node for row in reading.placed(connection, self._codec, reading.read_rows(connection, seqs))
        )
