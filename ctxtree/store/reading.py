"""From rows to nodes: what every part of the store uses to look nodes up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Column, Connection, bindparam, func, select

from ctxtree.errors import NotFound, StoreError
from ctxtree.model import Message, Node, Opaque, Role
from ctxtree.store import dialects
from ctxtree.store.codec import Codec, id_in, is_erased, time_out
from ctxtree.store.engine import chunks
from ctxtree.store.records import Placed
from ctxtree.store.schema import SHORT_ID, blobs, nodes, parents, short_id

# A role's code is its position. New roles go to the end; the order is part of the schema.
ROLES: tuple[Role, ...] = ("system", "developer", "user", "assistant", "tool", "state", "note")
FEW = 100  # ids in one look-up; for more PostgreSQL would rather read the whole tree

_holder = nodes.alias("holder")
_above = nodes.alias("above")
ROWS = select(
    nodes.c.seq,
    nodes.c.tree,
    nodes.c.id,
    nodes.c.depth,
    nodes.c.attempt,
    nodes.c.role,
    nodes.c.merged,
    nodes.c.created,
    nodes.c.parent,
    _above.c.id.label("above"),
    func.coalesce(nodes.c.data, _holder.c.data).label("content"),
).select_from(
    nodes.outerjoin(_above, _above.c.seq == nodes.c.parent).outerjoin(_holder, _holder.c.seq == nodes.c.same)
)
NodeRow = Any  # a row of `ROWS`
_SHORT = select(nodes.c.id, nodes.c.seq, nodes.c.depth).where(
    nodes.c.tree == bindparam("in_tree"), short_id.in_(bindparam("short", expanding=True))
)
_ONE = select(nodes.c.seq, nodes.c.depth).where(
    nodes.c.tree == bindparam("in_tree"), short_id == bindparam("short"), nodes.c.id == bindparam("id")
)


def placed(connection: Connection, codec: Codec, rows: Sequence[NodeRow]) -> list[Placed]:
    """The nodes of the rows, in their order. A large string that several share is read once."""
    seen: dict[tuple[int, bytes], str] = {}
    further = further_parents(connection, [row.seq for row in rows if row.merged])
    found = []
    for row in rows:
        message = _message(connection, codec, row, seen)
        first = (row.above.hex(),) if row.above is not None else ()
        node = Node.model_construct(
            id=row.id.hex(),
            parents=first + further.get(row.seq, ()),
            message=message,
            attempt=row.attempt,
            created_at=time_out(row.created),
        )
        found.append(Placed(node, row.seq, row.depth))
    return found


def _message(
    connection: Connection, codec: Codec, row: NodeRow, seen: dict[tuple[int, bytes], str]
) -> Message:
    def blob(digest: bytes) -> str:
        if (row.tree, digest) not in seen:
            seen[row.tree, digest] = read_blob(connection, codec, row.tree, digest)
        return seen[row.tree, digest]

    if row.content is None:
        raise StoreError(f"node {row.id.hex()} has lost its content; run verify")
    if is_erased(row.content):
        return Message(role=ROLES[row.role], parts=(Opaque(origin="ctxtree", kind="erased"),))
    try:
        return codec.message_out(row.content, ROLES[row.role], blob)
    except (ValueError, LookupError, TypeError):
        raise StoreError(f"the content of node {row.id.hex()} is damaged; run verify") from None


def read_blob(connection: Connection, codec: Codec, tree: int, digest: bytes) -> str:
    """A large string. Raises ValueError if it is missing or damaged."""
    found = connection.execute(
        select(blobs.c.data).where(blobs.c.tree == tree, blobs.c.hash == digest)
    ).scalar()
    if found is None:
        raise ValueError("a large string is missing")
    return codec.blob_out(found)


def further_parents(connection: Connection, seqs: list[int]) -> dict[int, tuple[str, ...]]:
    """The second and later parents of merges, by node number."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for some in chunks(seqs):
        rows = connection.execute(
            select(parents.c.node, nodes.c.id)
            .join(nodes, nodes.c.seq == parents.c.parent)
            .where(parents.c.node.in_(some))
            .order_by(parents.c.node, parents.c.position)
        )
        for node, identity in rows:
            found[node].append(identity.hex())
    return {node: tuple(ids) for node, ids in found.items()}


def read_rows(connection: Connection, seqs: list[int]) -> list[NodeRow]:
    """The rows with these numbers, by rising number."""
    found: list[NodeRow] = []
    for some in chunks(sorted(seqs)):
        found += connection.execute(ROWS.where(nodes.c.seq.in_(some)).order_by(nodes.c.seq))
    return found


def find(connection: Connection, tree: int, identity: str) -> tuple[int, int] | None:
    """Number and depth of a node, or None."""
    raw = id_in(identity)
    if raw is None:
        return None
    row = connection.execute(_ONE, {"in_tree": tree, "short": raw[:SHORT_ID], "id": raw}).first()
    return (row[0], row[1]) if row else None


def require(connection: Connection, tree: int, identity: str) -> tuple[int, int]:
    """As `find`; raises NotFound."""
    found = find(connection, tree, identity)
    if found is None:
        raise NotFound(f"no node {identity[:64]!r} in tree {tree}")
    return found


def require_seq(connection: Connection, tree: int, identity: str | None) -> int | None:
    """The number of a node that may be None."""
    return None if identity is None else require(connection, tree, identity)[0]


def find_many(connection: Connection, tree: int, ids: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Number and depth of those that are there, by id."""
    wanted = {raw: identity for identity in ids if (raw := id_in(identity)) is not None}
    found: dict[str, tuple[int, int]] = {}
    for some in chunks(list(wanted), FEW):
        rows = connection.execute(_SHORT, {"in_tree": tree, "short": [raw[:SHORT_ID] for raw in some]})
        for raw, seq, depth in rows:
            if raw in wanted:
                found[wanted[raw]] = (seq, depth)
    return found


def next_number(connection: Connection, column: Column[int], tree: int) -> int:
    """The number that the tree's next row of a table gets, if `column` holds them."""
    low, high = dialects.room(connection, tree)
    return (connection.scalar(select(func.max(column)).where(column > low, column < high)) or low) + 1


def names_of(connection: Connection, seqs: Iterable[int | None]) -> dict[int | None, str]:
    """The ids of nodes by number."""
    found: dict[int | None, str] = {}
    for some in chunks(sorted({seq for seq in seqs if seq is not None})):
        rows = connection.execute(select(nodes.c.seq, nodes.c.id).where(nodes.c.seq.in_(some)))
        found |= {seq: raw.hex() for seq, raw in rows}
    return found
