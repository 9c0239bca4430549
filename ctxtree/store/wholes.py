"""A whole tree out of the store and into one: every row that is more than a result that can be worked out again.

Token counts and vectors are left out: the next compile makes them anew. Facts of the whole store belong to
no tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select, update

from ctxtree.errors import StoreError
from ctxtree.model import Mark, Node, node_id
from ctxtree.store import bulk, heads, reading
from ctxtree.store.append import node_row, parent_rows
from ctxtree.store.codec import erased, id_in, is_erased, name_in, name_out, time_in, time_out
from ctxtree.store.engine import Transactions, chunks
from ctxtree.store.marks import store_marks
from ctxtree.store.schema import (
    branches,
    epochs,
    facts,
    keys,
    marks,
    meta,
    moves,
    nodes,
    parents,
    summaries,
    trees,
    turns,
    usage,
)

Row = dict[str, Any]
NUMBERED: Mapping[str, Table] = {
    "moves": moves, "facts": facts, "epochs": epochs, "turns": turns, "usage": usage,
}  # fmt: skip
"""Records that have a number of their own in their tree."""

_AT_NODES = frozenset({"keys", "epochs", "facts"})
"""Records that mean nothing, or another thing, without the node that they name."""

_PAGE = 500


class Wholes(Transactions):
    """The part of `Database` that gives a tree as records and takes it back."""

    def placed_with_tombs(self, tree: int) -> Iterator[tuple[Node, str | None]]:
        """Every node in order of creation; of an erased one also the hash that its tombstone keeps."""
        query = select(nodes.c.seq).where(nodes.c.tree == tree)
        seqs = sorted(self._read(lambda connection: list(connection.scalars(query))))
        for some in chunks(seqs):

            def work(connection: Connection, some: list[int] = some) -> list[tuple[Node, str | None]]:
                rows = reading.read_rows(connection, some)
                found = reading.placed(connection, self._codec, rows)
                tombs = [
                    bytes(row.content)[1:].hex()
                    if row.content is not None and is_erased(row.content)
                    else None
                    for row in rows
                ]
                return [(one.node, tomb) for one, tomb in zip(found, tombs, strict=True)]

            yield from self._read(work)

    def all_marks(self, tree: int) -> Iterator[Mark]:
        """Every mark, oldest first, a page in memory at a time."""
        query = select(marks, nodes.c.id.label("identity")).join(nodes, nodes.c.seq == marks.c.node)

        def work(connection: Connection) -> list[Any]:
            page = query.where(marks.c.tree == tree, marks.c.seq > after).order_by(marks.c.seq)
            return list(connection.execute(page.limit(_PAGE)))

        after = 0
        while rows := self._read(work):
            for row in rows:
                value = self._codec.value_out(row.value)
                yield Mark(node=row.identity.hex(), name=row.name, value=value, at=time_out(row.at))
            after = rows[-1].seq

    def records(self, tree: int, name: str) -> Iterator[Row]:
        """The rows of `keys`, `summaries` or one of `NUMBERED`, ids as hex, times aware, data as bytes."""
        table = {"keys": keys, "summaries": summaries, **NUMBERED}[name]
        order = table.c.seq if name in NUMBERED else table.c.key
        query = select(table).where(table.c.tree == tree).order_by(order).limit(_PAGE)

        def work(connection: Connection) -> list[Row]:
            page = query if after is None else query.where(order > after)
            rows = connection.execute(page).all()
            ids = reading.names_of(connection, [row._mapping[link] for row in rows for link in _links(name)])
            return [self._record(name, row._mapping, ids) | {"": row._mapping[order.name]} for row in rows]

        after: Any = None
        while rows := self._read(work):
            for row in rows:
                after = row.pop("")
                yield row

    def _record(self, name: str, row: Any, ids: Mapping[int | None, str]) -> Row:
        made: Row = {"number": row["seq"]} if name in NUMBERED else {}
        for column in row:
            value = row[column]
            if column in ("tree", "seq"):
                continue
            if column in _links(name):
                made[column] = ids.get(value)
            elif column in ("at", "created", "used"):
                made[column] = time_out(value)
            elif column == "data" or (name, column) == ("facts", "text"):
                made[column] = None if value is None else self._codec.unpack(value)
            else:
                made[column] = name_out(value) if isinstance(value, bytes) else value
        return made

    def put_nodes(self, tree: int, given: Sequence[tuple[Node, str | None]]) -> int:
        """Adds nodes, parents first, tombstones among them; how many were new. All or nothing.

        Raises StoreError for an id that does not follow from its content, NotFound for a missing parent.
        """

        def work(connection: Connection) -> int:
            added = 0
            for tomb, run in _runs(given):
                seq = reading.next_number(connection, nodes.c.seq, tree)
                if tomb is None:
                    added += bulk.insert_nodes(connection, self._codec, tree, run, seq)
                else:
                    added += _bury(connection, tree, run[0], tomb, seq)
            return added

        return self._write(work, tree)

    def put_marks(self, tree: int, given: Sequence[Mark], fresh: bool) -> int:
        """Adds marks in their order; of a tree that is not `fresh` only those that do not stand yet."""

        def work(connection: Connection) -> int:
            places = reading.find_many(connection, tree, {mark.node for mark in given})
            known = set() if fresh else self._standing(connection, tree, [seq for seq, _ in places.values()])
            new = []
            for mark in given:
                seq = places[mark.node][0]
                key = (seq, mark.name, self._codec.value_in(mark.value), time_in(mark.at))
                if fresh or key not in known:
                    known.add(key)
                    new.append((seq, mark))
            store_marks(connection, self._codec, tree, new)
            return len(new)

        return self._write(work, tree)

    def _standing(
        self, connection: Connection, tree: int, seqs: Sequence[int]
    ) -> set[tuple[int, str, bytes, Any]]:
        found: set[tuple[int, str, bytes, Any]] = set()
        for some in chunks(sorted(set(seqs))):
            query = select(marks.c.node, marks.c.name, marks.c.value, marks.c.at)
            rows = connection.execute(query.where(marks.c.tree == tree, marks.c.node.in_(some)))
            found |= {(node, name, bytes(value), at) for node, name, value, at in rows}
        return found

    def put_records(self, tree: int, name: str, given: Sequence[Row]) -> int:
        """Adds rows of `keys`, `summaries` or one of `NUMBERED`; what stands under a key or number stays."""
        table = {"keys": keys, "summaries": summaries, **NUMBERED}[name]
        by = table.c.seq if name in NUMBERED else table.c.key

        def work(connection: Connection) -> int:
            links = {record[link] for record in given for link in _links(name) if record.get(link)}
            places = reading.find_many(connection, tree, links)
            rows = [self._row(tree, name, record, places) for record in given]
            if name in _AT_NODES:
                rows = [row for row, record in zip(rows, given, strict=True) if _stands(row, record)]
            held = {bytes(one) if isinstance(one, bytes) else one for one in connection.scalars(
                select(by).where(table.c.tree == tree)
            )}  # fmt: skip
            new = [row for row in rows if row[by.name] not in held]
            if new:
                connection.execute(insert(table), new)
            return len(new)

        return self._write(work, tree) if given else 0

    def _row(self, tree: int, name: str, record: Row, places: Mapping[str, tuple[int, int]]) -> Row:
        made: Row = {"tree": tree}
        for column, value in record.items():
            if column == "number":
                made["seq"] = value
            elif column in _links(name):
                made[column] = places[value][0] if value in places else None
            elif column in ("at", "created", "used"):
                made[column] = time_in(value)
            elif column == "data" or (name, column) == ("facts", "text"):
                made[column] = None if value is None else self._codec.pack(value)
            else:
                made[column] = name_in(value) if isinstance(value, str) else value
        return made

    def put_branches(
        self, tree: int, given: Sequence[Row], active: str, free: Callable[[str, set[str]], str]
    ) -> int:
        """Adds branches; a branch that stands elsewhere stays, and a leaf that no branch names gets one.

        In a tree whose only branch is an empty `main`, as a new one is, they come as they were given.
        """

        def work(connection: Connection) -> int:
            query = select(branches).where(branches.c.tree == tree)
            held = {name_out(row.name): row.head for row in connection.execute(query)}
            fresh = held == {"main": None}
            links = {record[link] for record in given for link in ("head", "fork") if record.get(link)}
            places = {
                identity: seq for identity, (seq, _) in reading.find_many(connection, tree, links).items()
            }
            if fresh:
                connection.execute(branches.delete().where(branches.c.tree == tree))
                held = {}
            added = 0
            for record in given:
                head = places.get(record["head"])
                if record["name"] in held and held[record["name"]] == head:
                    continue
                if record["name"] in held and (head is None or head in held.values()):
                    continue
                name = free(record["name"], set(held)) if record["name"] in held else record["name"]
                added += 1
                held[name] = head
                _add_branch(connection, tree, name, record, head, places.get(record["fork"]))
            if fresh:
                connection.execute(update(trees).where(trees.c.id == tree).values(active=name_in(active)))
            return added

        return self._write(work, tree)

    def turns_given(self, tree: int) -> int:
        """The highest number that a turn of this tree has had; pruned ones count, for bills name them."""

        def work(connection: Connection) -> int:
            last = connection.scalar(select(func.max(turns.c.seq)).where(turns.c.tree == tree)) or 0
            said = connection.scalar(select(meta.c.value).where(meta.c.name == f"turns {tree}"))
            return max(int(last), int(said or 0))

        return self._read(work)

    def close_tree(self, tree: int, created: Any, turns_given: int) -> None:
        """The last step of a restore: when the tree was made, and the number that no new turn may have."""

        def work(connection: Connection) -> None:
            connection.execute(update(trees).where(trees.c.id == tree).values(created=time_in(created)))
            last = connection.scalar(select(func.max(turns.c.seq)).where(turns.c.tree == tree)) or 0
            if turns_given > last:
                connection.execute(meta.delete().where(meta.c.name == f"turns {tree}"))
                connection.execute(insert(meta), {"name": f"turns {tree}", "value": str(turns_given)})
            heads.touch_tree(connection, self._hot(connection), tree)

        self._write(work, tree)


def _links(name: str) -> tuple[str, ...]:
    """The columns of a table that name nodes."""
    return {"moves": ("old", "new"), "summaries": ("first", "last")}.get(name, ("node",))


def _stands(row: Row, record: Row) -> bool:
    """Whether the node that a record names, if it names one, is there."""
    return record.get("node") is None or row["node"] is not None


def _runs(given: Sequence[tuple[Node, str | None]]) -> Iterator[tuple[str | None, list[Node]]]:
    """Nodes in a row that have their content, and each tombstone by itself."""
    run: list[Node] = []
    for node, tomb in given:
        if tomb is None:
            run.append(node)
            continue
        if run:
            yield None, run
            run = []
        yield tomb, [node]
    if run:
        yield None, run


def _bury(connection: Connection, tree: int, node: Node, tomb: str, seq: int) -> int:
    """A tombstone where it was; the id must follow from the hash that it keeps."""
    raw = id_in(tomb)
    if raw is None or (any(raw) and node_id(tomb, node.parents, node.attempt) != node.id):
        raise StoreError(f"tombstone {node.id[:64]!r} does not have the id that its hash gives")
    places = reading.find_many(connection, tree, {node.id, *node.parents})
    if node.id in places:
        return 0
    above = bulk.placed_parents(places, node)
    parent, depth = above[0] if above else (None, -1)
    connection.execute(insert(nodes), node_row(tree, node, seq, parent, depth + 1, None, None, erased(raw)))
    further = parent_rows(seq, [other for other, _ in above[1:]])
    if further:
        connection.execute(insert(parents), further)
    return 1


def _add_branch(
    connection: Connection, tree: int, name: str, record: Row, head: int | None, fork: int | None
) -> None:
    parent = name_in(record["parent"]) if record.get("parent") is not None else None
    heads.add_branch(connection, tree, name_in(name), head, parent, fork, time_in(record.get("updated")))
    connection.execute(
        update(branches)
        .where(branches.c.tree == tree, branches.c.name == name_in(name))
        .values(status=name_in(record.get("status") or "open"))
    )
