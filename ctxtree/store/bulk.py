"""Insert: many nodes that have their ids already, as an import brings them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, insert, select

from ctxtree.errors import NotFound, StoreError
from ctxtree.model import Mark, Node, node_id
from ctxtree.store import content, dialects, heads, reading
from ctxtree.store.append import node_row, parent_rows
from ctxtree.store.codec import Codec
from ctxtree.store.engine import Transactions, chunks
from ctxtree.store.marks import standing, store_marks
from ctxtree.store.schema import nodes, parents

numbers = nodes.c.seq
Places = dict[str, tuple[int, int]]
Holders = defaultdict[int | None, list[tuple[int, bytes]]]


class Inserts(Transactions):
    """The part of `Database` that takes whole conversations."""

    def insert(self, tree: int, nodes: Iterable[Node], marks: Iterable[Mark] = (), batch: int = 1000) -> int:
        """Adds nodes, parents first, and marks; returns how many nodes were new. All or nothing.

        Known ids are passed over, and so are marks that stand already (same node, name and value).
        Moves no branch. Raises StoreError for an id that the content does not give, NotFound for a
        parent or marked node that is not there.
        """
        given, said = list(nodes), list(marks)  # before the lock: making them may take long, or read here

        def work(connection: Connection) -> int:
            hot = self._hot(connection)
            heads.require_tree(hot, tree)
            dialects.plan_each(connection)
            added, seq = 0, reading.next_number(connection, numbers, tree)
            for start in range(0, len(given), batch):
                new = insert_nodes(connection, self._codec, tree, given[start : start + batch], seq)
                added, seq = added + new, seq + new
            for start in range(0, len(said), batch):
                _insert_marks(connection, self._codec, tree, said[start : start + batch])
            heads.touch_tree(connection, hot, tree)
            return added

        return self._write(work, tree)


def insert_nodes(connection: Connection, codec: Codec, tree: int, batch: Sequence[Node], seq: int) -> int:
    """Adds a batch whose first new node gets the number `seq`; how many were new."""
    wanted = {identity for node in batch for identity in (node.id, *node.parents)}
    places = reading.find_many(connection, tree, wanted)
    fresh: dict[str, Node] = {}
    for node in batch:
        if node.id not in places:
            fresh.setdefault(node.id, node)
    packed = {node.id: codec.message_in(node.message) for node in fresh.values()}
    marks = {node.id: content.fingerprint(node.message, *packed[node.id]) for node in fresh.values()}
    holders = _holders(connection, tree, marks.values())
    rows: list[dict[str, object]] = []
    further: list[dict[str, int]] = []
    apart: dict[bytes, str] = {}
    for number, node in enumerate(fresh.values(), seq):
        held = _above(places, node)
        data, strings = packed[node.id]
        mark = marks[node.id]
        same = next((held for held, other in holders[mark] if content.says_same(codec, other, data)), None)
        if same is None:
            apart |= strings
            if mark is not None:
                holders[mark].append((number, data))
        parent, depth = held[0] if held else (None, -1)
        rows.append(node_row(tree, node, number, parent, depth + 1, mark, same, data))
        further += parent_rows(number, [other for other, _ in held[1:]])
        places[node.id] = (number, depth + 1)
    content.store_apart(connection, codec, tree, apart)
    if rows:
        connection.execute(insert(nodes), rows)
    if further:
        connection.execute(insert(parents), further)
    return len(rows)


def _above(places: Places, node: Node) -> list[tuple[int, int]]:
    """Number and depth of each parent, once the id is found right."""
    if node_id(node.message.hash, node.parents, node.attempt) != node.id:
        raise StoreError(f"node {node.id[:64]!r} does not have the id that its content gives")
    return placed_parents(places, node)


def placed_parents(places: Places, node: Node) -> list[tuple[int, int]]:
    """Number and depth of each parent. Raises NotFound for one that is not there."""
    for parent in node.parents:
        if parent not in places:
            raise NotFound(
                f"node {node.id} comes before its parent {parent[:64]!r}, or the parent is missing"
            )
    return [places[parent] for parent in node.parents]


def _holders(connection: Connection, tree: int, marks: Iterable[int | None]) -> Holders:
    """The nodes that hold content which might equal that of the new ones, by fingerprint."""
    found: Holders = defaultdict(list)
    for some in chunks(sorted({mark for mark in marks if mark is not None})):
        rows = connection.execute(
            select(nodes.c.fingerprint, nodes.c.seq, nodes.c.data).where(
                nodes.c.tree == tree, nodes.c.fingerprint.in_(some), nodes.c.same.is_(None)
            )
        )
        for mark, seq, data in rows:
            found[mark].append((seq, data))
    return found


def _insert_marks(connection: Connection, codec: Codec, tree: int, said: Sequence[Mark]) -> None:
    places = reading.find_many(connection, tree, {mark.node for mark in said})
    for mark in said:
        if mark.node not in places:
            raise NotFound(f"no node {mark.node[:64]!r} in tree {tree} to mark")
    known = standing(connection, tree, [places[mark.node][0] for mark in said])
    new = []
    for mark in said:
        key = (places[mark.node][0], mark.name, codec.value_in(mark.value))
        if key not in known:
            known.add(key)
            new.append((key[0], mark))
    store_marks(connection, codec, tree, new)
