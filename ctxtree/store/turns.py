"""Turns: the report of every compile, and what providers billed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from ctxtree.errors import StoreError
from ctxtree.store import reading
from ctxtree.store.codec import name_in, name_out, time_in, time_out
from ctxtree.store.dialects import STORE
from ctxtree.store.engine import Transactions
from ctxtree.store.records import TurnRow, UsageRow
from ctxtree.store.schema import meta, nodes, turns, usage

_LISTED = select(turns.c.seq, turns.c.branch, nodes.c.id, turns.c.at, turns.c.payload_hash).select_from(
    turns.outerjoin(nodes, nodes.c.seq == turns.c.node)
)
_WHOLE = _LISTED.add_columns(turns.c.data)
_META = select(meta.c.value).where(meta.c.name == bindparam("name"))
_LAST = select(func.max(turns.c.seq)).where(turns.c.tree == bindparam("in_tree"))


class Turns(Transactions):
    """The part of `Database` that remembers what was sent and what it cost."""

    def put_turn(
        self, tree: int, branch: str, node: str | None, at: datetime | None, payload_hash: str, data: bytes
    ) -> int:
        """Stores the report of a compile; returns the turn's number in its tree."""

        def work(connection: Connection) -> int:
            number = _next_turn(connection, tree)
            row = {
                "tree": tree,
                "seq": number,
                "branch": name_in(branch),
                "node": reading.require_seq(connection, tree, node),
                "at": time_in(at),
                "payload_hash": name_in(payload_hash),
                "data": self._codec.pack(data),
            }
            connection.execute(insert(turns), row)
            return number

        return self._write(work, tree)

    def turns(
        self, tree: int, branch: str | None = None, limit: int | None = None, before: int | None = None
    ) -> tuple[TurnRow, ...]:
        """Turns without their data, newest first; only those numbered below `before`."""
        query = _LISTED.where(turns.c.tree == tree).order_by(turns.c.seq.desc())
        if branch is not None:
            query = query.where(turns.c.branch == name_in(branch))
        if before is not None:
            query = query.where(turns.c.seq < before)
        if limit is not None:
            query = query.limit(limit)
        rows = self._read(lambda connection: connection.execute(query).all())
        return tuple(_turn(row, b"") for row in rows)

    def turn(self, tree: int, seq: int) -> TurnRow | None:
        """One turn with its data."""
        return self._read(lambda connection: self._turn(connection, tree, seq))

    def last_turn(self, tree: int, nodes: Sequence[str]) -> TurnRow | None:
        """The newest turn that was compiled at one of these nodes, with its data."""
        wanted = set(nodes)

        def work(connection: Connection) -> TurnRow | None:
            query = _LISTED.where(turns.c.tree == tree).order_by(turns.c.seq.desc())
            with connection.execute(query.execution_options(yield_per=100)) as rows:
                seqs = (row.seq for row in rows if row.id is not None and row.id.hex() in wanted)
                newest = next(seqs, None)
            return None if newest is None else self._turn(connection, tree, newest)

        return self._read(work) if wanted else None

    def prune_turns(self, keep: int) -> int:
        """Deletes all turns but the newest `keep` of each tree; returns how many went.

        Each tree is a transaction of its own.
        """
        if keep < 0:
            raise StoreError(f"keep is {keep}; it must be 0 or more")
        query = select(turns.c.tree).distinct().order_by(turns.c.tree)
        trees = self._read(lambda connection: list(connection.scalars(query)))
        return sum(self._prune(tree, keep) for tree in trees)

    def _prune(self, tree: int, keep: int) -> int:
        def work(connection: Connection) -> int:
            newest = select(turns.c.seq).where(turns.c.tree == tree).order_by(turns.c.seq.desc())
            kept = list(connection.scalars(newest.limit(keep)))
            return delete_turns(connection, tree, below=min(kept, default=None))

        return self._write(work, tree)

    def put_usage(
        self,
        tree: int,
        node: str | None,
        turn: int | None,
        model: str,
        data: bytes,
        at: datetime | None = None,
    ) -> int:
        """Stores what a provider billed for `node`; returns the row's number in its tree."""

        def work(connection: Connection) -> int:
            last = connection.scalar(select(func.max(usage.c.seq)).where(usage.c.tree == tree))
            number = (last or 0) + 1
            row = {
                "tree": tree,
                "seq": number,
                "node": reading.require_seq(connection, tree, node),
                "turn": turn,
                "model": name_in(model),
                "data": self._codec.pack(data),
                "at": time_in(at),
            }
            connection.execute(insert(usage), row)
            return number

        return self._write(work, tree)

    def usage(self, tree: int) -> tuple[UsageRow, ...]:
        """All bills of a tree, oldest first."""
        query = (
            select(usage.c.seq, nodes.c.id, usage.c.turn, usage.c.model, usage.c.data, usage.c.at)
            .select_from(usage.outerjoin(nodes, nodes.c.seq == usage.c.node))
            .where(usage.c.tree == tree)
            .order_by(usage.c.seq)
        )
        rows = self._read(lambda connection: connection.execute(query).all())
        return tuple(
            UsageRow(
                row.seq,
                _hex(row.id),
                row.turn,
                name_out(row.model),
                self._codec.unpack(row.data),
                time_out(row.at),
            )
            for row in rows
        )

    def learned(self, key: str) -> str | None:
        """What was learned from bills under a key, as `learn` left it."""
        given = {"name": _learned(key)}
        found: str | None = self._read(lambda connection: connection.scalar(_META, given))
        return found

    def learn(self, key: str, step: Callable[[str | None], str]) -> None:
        """Puts `step` of what was learned under a key in its place; at most 200 characters."""

        def work(connection: Connection) -> None:
            name = _learned(key)
            old = connection.scalar(select(meta.c.value).where(meta.c.name == name))
            connection.execute(delete(meta).where(meta.c.name == name))
            connection.execute(insert(meta), {"name": name, "value": step(old)})

        self._write(work, STORE)

    def _turn(self, connection: Connection, tree: int, seq: int) -> TurnRow | None:
        row = connection.execute(_WHOLE.where(turns.c.tree == tree, turns.c.seq == seq)).first()
        return _turn(row, self._codec.unpack(row.data)) if row else None


def _learned(key: str) -> str:
    return f"learned {blake2b(key.encode(), digest_size=16).hexdigest()}"


def _next_turn(connection: Connection, tree: int) -> int:
    """The next number. Those of deleted turns are not given again, because bills refer to them."""
    deleted = connection.scalar(_META, {"name": f"turns {tree}"})
    last = connection.scalar(_LAST, {"in_tree": tree})
    return max(last or 0, int(deleted or 0)) + 1


def delete_turns(connection: Connection, tree: int, below: int | None = None) -> int:
    """Deletes the turns of a tree, or those numbered lower; returns how many."""
    last = str(_next_turn(connection, tree) - 1)
    name = f"turns {tree}"
    connection.execute(delete(meta).where(meta.c.name == name))
    connection.execute(insert(meta), {"name": name, "value": last})
    where = turns.c.tree == tree
    return connection.execute(
        delete(turns).where(where if below is None else where & (turns.c.seq < below))
    ).rowcount


def _turn(row: Any, data: bytes) -> TurnRow:
    return TurnRow(
        row.seq, name_out(row.branch), _hex(row.id), time_out(row.at), name_out(row.payload_hash), data
    )


def _hex(raw: bytes | None) -> str | None:
    return None if raw is None else raw.hex()
