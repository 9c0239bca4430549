"""Purge: erasure, the one exception to append-only."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select, update

from ctxtree.errors import StoreError
from ctxtree.model import Mark, texts
from ctxtree.store import dialects, reading
from ctxtree.store import marks as said
from ctxtree.store.codec import Codec, erased, is_erased, name_out
from ctxtree.store.dialects import STORE
from ctxtree.store.engine import Transactions, chunks
from ctxtree.store.schema import (
    blobs,
    counts,
    epochs,
    facts,
    marks,
    nodes,
    segments,
    summaries,
    turns,
    vectors,
)
from ctxtree.store.turns import delete_turns

_ERASED = [
    table.name for table in (nodes, blobs, marks, counts, vectors, segments, summaries, epochs, turns, facts)
]


class Purges(Transactions):
    """The part of `Database` that erases."""

    def purge(self, tree: int, identity: str, reason: str) -> None:
        """Wipes what a node says, for good; the node stays as a tombstone marked `erased`.

        With it go its marks and counts, large strings that no other node uses, the tree's vectors, index,
        summaries, epochs and turns, any of which may quote it, and facts whose words stand in it. An equal message elsewhere stays:
        it is another node. The file is rewritten, which costs its whole size in time and, for that long,
        in space. Raises NotFound for an unknown node, and StoreError if a reader in another process
        still holds the old pages; the erasure itself has happened then, and purging again finishes it.
        """

        def work(connection: Connection) -> None:
            seq, _ = reading.require(connection, tree, identity)
            _forget(connection, self._codec, tree, seq)
            _erase(connection, self._codec, tree, seq)
            # Numbered before the others go: who has read those must see that this one is new.
            mark = Mark(node=identity, name="erased", value={"reason": reason}, at=self.clock())
            said.store_marks(connection, self._codec, tree, [(seq, mark)])
            connection.execute(delete(marks).where(marks.c.node == seq, marks.c.name != "erased"))
            connection.execute(delete(counts).where(counts.c.node == seq))
            connection.execute(delete(vectors).where(vectors.c.tree == tree))
            connection.execute(delete(segments).where(segments.c.tree == tree))
            connection.execute(delete(summaries).where(summaries.c.tree == tree))
            connection.execute(delete(epochs).where(epochs.c.tree == tree))
            delete_turns(connection, tree)

        self._write(work, tree)
        if not self._alone(lambda: dialects.shrink(self._engine, _ERASED)):
            raise StoreError(
                f"{self.place}: node {identity} is erased, but another process still reads the old pages; "
                "purge it again when that has ended"
            )


def _erase(connection: Connection, codec: Codec, tree: int, seq: int) -> None:
    """Puts the message hash where the content was; the content moves on if another node shares it."""
    row = reading.read_rows(connection, [seq])[0]
    if row.content is None or is_erased(row.content):
        return
    digest = _message_hash(connection, codec, row)
    held = connection.execute(select(nodes.c.data, nodes.c.fingerprint).where(nodes.c.seq == seq)).one()
    sharers = sorted(connection.scalars(select(nodes.c.seq).where(nodes.c.tree == tree, nodes.c.same == seq)))
    if held.data is not None and sharers:
        _set(connection, sharers[:1], same=None, data=held.data)
        _set(connection, sharers[1:], same=sharers[0])
    _set(connection, [seq], same=None, fingerprint=None, data=erased(digest))
    _drop_unused(connection, codec, tree, codec.blob_hashes(row.content))


def _forget(connection: Connection, codec: Codec, tree: int, seq: int) -> None:
    """Deletes the facts, of the tree or of the whole store, whose words stand in what a node says."""
    row = reading.read_rows(connection, [seq])[0]
    if row.content is None or is_erased(row.content):
        return
    said = _plain(" ".join(texts(reading.placed(connection, codec, [row])[0].node.message)))
    query = select(facts).where(facts.c.tree.in_((tree, STORE)), facts.c.text.is_not(None))
    drawn = [
        (one.tree, one.key)
        for one in connection.execute(query)
        if _plain(name_out(codec.unpack(one.text))) in said
    ]
    for scope, key in drawn:
        connection.execute(delete(facts).where(facts.c.tree == scope, facts.c.key == key))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _message_hash(connection: Connection, codec: Codec, row: reading.NodeRow) -> bytes:
    """What the tombstone keeps, so that its id can still be checked; zeros if the content is damaged."""
    try:
        return bytes.fromhex(reading.placed(connection, codec, [row])[0].node.message.hash)
    except StoreError:
        return bytes(32)


def _set(connection: Connection, seqs: list[int], **values: object) -> None:
    for some in chunks(seqs):
        connection.execute(update(nodes).where(nodes.c.seq.in_(some)).values(**values))


def _drop_unused(connection: Connection, codec: Codec, tree: int, hashes: tuple[bytes, ...]) -> None:
    """Deletes those large strings that no content of the tree refers to any more."""
    unused = set(hashes)
    if not unused:
        return
    # Content with large strings always has a fingerprint, so few rows are looked at.
    query = select(nodes.c.data).where(
        nodes.c.tree == tree, nodes.c.fingerprint.is_not(None), nodes.c.data.is_not(None)
    )
    for data in connection.scalars(query):
        unused -= set(codec.blob_hashes(data))
    for digest in sorted(unused):
        connection.execute(delete(blobs).where(blobs.c.tree == tree, blobs.c.hash == digest))
