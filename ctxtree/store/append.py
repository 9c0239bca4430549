"""Append: drafts become nodes and the branch moves to the last one, all in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, insert

from ctxtree.errors import ConflictError, NotFound, StoreError
from ctxtree.model import Mark, Node
from ctxtree.store import content, dialects, heads, reading
from ctxtree.store.codec import Codec, id_in, name_in, time_in
from ctxtree.store.engine import Transactions
from ctxtree.store.hot import Hot
from ctxtree.store.marks import store_marks
from ctxtree.store.reading import ROLES
from ctxtree.store.records import Appended, Draft, Placed
from ctxtree.store.schema import SHORT_ID, parents


@dataclass(frozen=True, slots=True)
class Spot:
    """A place under which the next node goes; all None and -1 above the roots."""

    id: str | None = None
    seq: int | None = None
    depth: int = -1


class Appends(Transactions):
    """The part of `Database` that adds what is said."""

    def append(
        self,
        tree: int,
        parent: str | None,
        drafts: Sequence[Draft],
        branch: str | None,
        if_moved: Literal["fork", "raise"] = "fork",
    ) -> Appended:
        """Chains the drafts under `parent`; they are durable when the call returns.

        A draft's attempt is the number of equal siblings before it. A draft whose `key` the tree knows
        gives the node stored then, and the next draft chains below that. `branch` moves to the last
        node if it stands at `parent`. If another writer moved it, the nodes go to a new branch
        `<branch>.2`, `.3`…, or, with "raise", nothing is stored and ConflictError raised. With None no
        branch moves. Raises NotFound for an unknown parent or branch.
        """

        def work(connection: Connection) -> Appended:
            writer = _Writer(connection, self._hot(connection), self._codec, tree, time_in(self.clock()))
            return writer.append(parent, drafts, branch, if_moved)

        return self._write(work, tree)


@dataclass(frozen=True, slots=True)
class _Writer:
    """One append, inside its transaction."""

    connection: Connection
    hot: Hot
    codec: Codec
    tree: int
    moment: int | None

    def append(
        self, parent: str | None, drafts: Sequence[Draft], branch: str | None, if_moved: str
    ) -> Appended:
        start = self.spot(parent)
        head: int | None = None
        if branch is None:
            heads.require_tree(self.hot, self.tree)
        else:
            head = heads.require_head(self.hot, self.tree, branch)
        made: list[Node] = []
        last, first_new = start, None
        for draft in drafts:
            known = self.known(draft.key)
            if known is None:
                first_new = first_new or last
                node, last = self.add(last, draft)
            else:
                node, last = known.node, Spot(known.node.id, known.seq, known.depth)
            made.append(node)
        heads.touch_tree(self.connection, self.hot, self.tree)
        if branch is None or not made or (first_new is None and head != start.seq):
            return Appended(tuple(made), branch or "", False)
        name = self.move(branch, head, start, first_new or start, last, if_moved)
        return Appended(tuple(made), name, name != branch)

    def move(
        self, branch: str, head: int | None, start: Spot, first_new: Spot, last: Spot, if_moved: str
    ) -> str:
        """The branch that ends in the last node: this one, or a new one where another writer was faster.

        Known drafts may come before new ones (a lost acknowledgement), so the branch may stand at the
        parent that the caller named or at the one of the first new node.
        """
        if head in (start.seq, first_new.seq):
            heads.move_head(self.hot, self.tree, branch, head, last.seq, self.moment)
            return branch
        if if_moved == "raise":
            raise ConflictError(f"branch {branch!r} no longer stands at {start.id}: another writer moved it")
        return heads.new_branch(
            self.connection, self.hot, self.tree, branch, last.seq, first_new.seq, self.moment
        )

    def spot(self, identity: str | None) -> Spot:
        if identity is None:
            return Spot()
        return Spot(identity, *self.require(identity))

    def require(self, identity: str) -> tuple[int, int]:
        """Number and depth of a node. Raises NotFound."""
        raw = id_in(identity)
        found = None if raw is None else self.find(raw)
        if found is None:
            raise NotFound(f"no node {identity[:64]!r} in tree {self.tree}")
        return found

    def find(self, raw: bytes) -> tuple[int, int] | None:
        row = self.hot.row("node", in_tree=self.tree, short=raw[:SHORT_ID], id=raw)
        return (row[0], row[1]) if row else None

    def known(self, key: str | None) -> Placed | None:
        """The node that was stored with this key."""
        if key is None:
            return None
        row = self.hot.row("key", in_tree=self.tree, key=name_in(key))
        if row is None:
            return None
        return reading.placed(self.connection, self.codec, reading.read_rows(self.connection, [row[0]]))[0]

    def add(self, spot: Spot, draft: Draft) -> tuple[Node, Spot]:
        """One node under `spot`, with its content, further parents, key and marks."""
        further = tuple(identity for identity in dict.fromkeys(draft.merged) if identity != spot.id)
        others = [self.require(identity)[0] for identity in further]
        if others and spot.id is None:
            raise StoreError("a merge needs a first parent to stand under")
        held = content.prepare(self.hot, self.codec, self.tree, draft.message)
        node = self.numbered(spot, further, draft)
        if held.holder is None:
            content.store_apart(self.connection, self.codec, self.tree, held.apart)
        low, high = dialects.room(self.connection, self.tree)
        seq, depth = (self.hot.row("last", low=low, high=high)[0] or low) + 1, spot.depth + 1
        row = node_row(self.tree, node, seq, spot.seq, depth, held.fingerprint, held.holder, held.packed)
        self.hot.run("add_node", row)
        if others:
            self.connection.execute(insert(parents), parent_rows(seq, others))
        if draft.key is not None:
            self.hot.run("add_key", {"tree": self.tree, "key": name_in(draft.key), "node": seq})
        if draft.marks:
            self.mark(seq, node, draft)
        return node, Spot(node.id, seq, depth)

    def mark(self, seq: int, node: Node, draft: Draft) -> None:
        said = [
            Mark(node=node.id, name=name, value=value, at=draft.created_at) for name, value in draft.marks
        ]
        store_marks(self.connection, self.codec, self.tree, [(seq, mark) for mark in said])

    def numbered(self, spot: Spot, further: tuple[str, ...], draft: Draft) -> Node:
        """The node with the first attempt number that is free.

        An id names parents, message and attempt, so looking ids up counts the equal siblings: in steps
        that double, then by halving, since the numbers are taken without gaps.
        """
        above = (spot.id, *further) if spot.id is not None else ()

        def attempt(number: int) -> Node:
            return Node.make(draft.message, above, number, draft.created_at)

        def taken(node: Node) -> bool:
            return self.find(bytes.fromhex(node.id)) is not None

        node = attempt(0)
        if not taken(node):
            return node
        low, high = 0, 1
        while taken(attempt(high)):
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if taken(attempt(middle)) else (low, middle)
        return attempt(high)


def parent_rows(seq: int, others: Sequence[int]) -> list[dict[str, int]]:
    return [{"node": seq, "position": place, "parent": other} for place, other in enumerate(others, 1)]


def node_row(
    tree: int,
    node: Node,
    seq: int,
    parent: int | None,
    depth: int,
    fingerprint: int | None,
    same: int | None,
    packed: bytes,
) -> dict[str, object]:
    """A row of `nodes`; the bytes stand in it unless an earlier node holds them."""
    return {
        "seq": seq,
        "tree": tree,
        "id": bytes.fromhex(node.id),
        "parent": parent,
        "depth": depth,
        "attempt": node.attempt,
        "role": ROLES.index(node.message.role),
        "merged": max(0, len(node.parents) - 1),
        "created": time_in(node.created_at),
        "fingerprint": fingerprint,
        "same": same,
        "data": packed if same is None else None,
    }
