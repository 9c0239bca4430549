"""Purge: erasure, the one exception to append-only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from ctxtree.errors import StoreError
from ctxtree.imitation import FOUND
from ctxtree.model import Mark, Message, texts
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
QUOTE = 32
"""Characters in a row, the same in a note and in what was said, that make the note a quotation."""
SHORTEST = 8
"""Characters of a text that is looked for as a whole within a note."""


class Purges(Transactions):
    """The part of `Database` that erases."""

    def purge(self, tree: int, identity: str, reason: str, below: bool = False) -> None:
        """Wipes what a node says, for good; the node stays as a tombstone marked `erased`.

        `below`: what all nodes below it say too. With the words go the nodes' marks and counts, large strings that
        no other node uses, the tree's vectors, index, summaries, epochs and turns, any of which may quote them, notes of
        merges that do, and facts whose words stand in them. An equal message elsewhere stays: it is another node.
        The file is rewritten, which costs its whole size in time and, for that long, in space; each node costs about
        50 microseconds more. Raises NotFound for an unknown node, and StoreError if a reader in another process
        still holds the old pages; the erasure itself has happened then, and purging again finishes it.
        """

        def work(connection: Connection) -> None:
            seq, _ = reading.require(connection, tree, identity)
            doomed = _subtree(connection, tree, seq) if below else [seq]
            gone = _gone(connection, self._codec, tree, doomed)
            _bury(connection, self._codec, tree, gone)
            # Numbered before the others go: who has read those must see that this one is new.
            marked = [
                (seq, Mark(node=name, name="erased", value={"reason": reason}, at=self.clock()))
                for seq, name in gone.names.items()
            ]
            said.store_marks(connection, self._codec, tree, marked)
            for some in chunks(list(gone.names)):
                connection.execute(delete(marks).where(marks.c.node.in_(some), marks.c.name != "erased"))
                connection.execute(delete(counts).where(counts.c.node.in_(some)))
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


def _subtree(connection: Connection, tree: int, root: int) -> list[int]:
    """The numbers of a node and of all below it. Cost: one look at each later node of the tree."""
    held = {root}
    later = select(nodes.c.seq, nodes.c.parent).where(nodes.c.tree == tree, nodes.c.seq > root)
    for seq, parent in connection.execute(later.order_by(nodes.c.seq)):
        if parent in held:
            held.add(seq)
    return sorted(held)


@dataclass(slots=True)
class _Gone:
    """What is to be erased, by number: ids, message hashes of those that still say something, their large strings."""

    names: dict[int, str] = field(default_factory=dict)
    hashes: dict[int, bytes] = field(default_factory=dict)
    large: set[bytes] = field(default_factory=set)
    facts: set[tuple[int, bytes]] = field(default_factory=set)


def _gone(connection: Connection, codec: Codec, tree: int, doomed: Sequence[int]) -> _Gone:
    """The nodes, and with them the notes and facts that were drawn from their words."""
    gone = _Gone()
    known = list(_facts(connection, codec, tree))
    notes = _notes(connection, codec, tree)
    todo = list(doomed)
    while todo:
        drawn: set[int] = set()
        for row in reading.read_rows(connection, todo):
            gone.names[row.seq] = row.id.hex()
            if row.content is None or is_erased(row.content):
                continue
            message = _message(connection, codec, row)
            # Zeros if the content is damaged; else the tombstone's id can still be checked.
            gone.hashes[row.seq] = bytes.fromhex(message.hash) if message else bytes(32)
            gone.large.update(_large(codec, row.content))
            if message and (known or notes):
                words = _plain(" ".join(texts(message)))
                every = words + _plain(message.canonical)
                gone.facts.update(key for key, text in known if text in every)
                drawn.update(seq for seq, note in notes.items() if _quotes(note, words))
        todo = sorted(drawn - gone.names.keys())
    return gone


def _message(connection: Connection, codec: Codec, row: reading.NodeRow) -> Message | None:
    """What a node says; None if its content is damaged."""
    try:
        return reading.placed(connection, codec, [row])[0].node.message
    except StoreError:
        return None


def _large(codec: Codec, content: bytes) -> tuple[bytes, ...]:
    """Which large strings it refers to; none that can be told if it is damaged."""
    try:
        return codec.blob_hashes(content)
    except (ValueError, LookupError, TypeError):
        return ()


def _facts(connection: Connection, codec: Codec, tree: int) -> Iterator[tuple[tuple[int, bytes], str]]:
    """The facts of the tree and of the whole store: tree and key, and their words."""
    query = select(facts).where(facts.c.tree.in_((tree, STORE)), facts.c.text.is_not(None))
    for row in connection.execute(query):
        yield (row.tree, row.key), _plain(name_out(codec.unpack(row.text)))


def _notes(connection: Connection, codec: Codec, tree: int) -> dict[int, str]:
    """The words of the notes that merges left, by number."""
    found = select(nodes.c.seq).where(nodes.c.tree == tree, nodes.c.merged > 0)
    rows = reading.read_rows(connection, list(connection.scalars(found)))
    read = {row.seq: _message(connection, codec, row) for row in rows}
    return {seq: _plain(_told(" ".join(texts(message)))) for seq, message in read.items() if message}


def _told(note: str) -> str:
    """The lines of a note that somebody said: without the first of a merge's own, which is the same in all of them."""
    return note.partition("\n")[2] if note.startswith(FOUND) else note


def _quotes(note: str, words: str) -> bool:
    """True if a note has the words as a whole, or at least some forty characters of them in a row."""
    if len(words) >= SHORTEST and words in note:
        return True
    return any(note[at : at + QUOTE] in words for at in range(0, len(note) - QUOTE + 1, QUOTE // 4))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _bury(connection: Connection, codec: Codec, tree: int, gone: _Gone) -> None:
    """Puts each message hash where the content was; content that other nodes share moves on to them."""
    for scope, key in gone.facts:
        connection.execute(delete(facts).where(facts.c.tree == scope, facts.c.key == key))
    if not gone.hashes:
        return
    _pass_on(connection, tree, gone.hashes.keys())
    stone: dict[str, Any] = {"same": None, "fingerprint": None, "data": bindparam("stone")}
    connection.execute(
        update(nodes).where(nodes.c.seq == bindparam("gone")).values(stone),
        [{"gone": seq, "stone": erased(digest)} for seq, digest in gone.hashes.items()],
    )
    _drop_unused(connection, codec, tree, gone.large)


def _pass_on(connection: Connection, tree: int, going: Iterable[int]) -> None:
    """Gives the content of nodes that go to the first of those that share it and stay."""
    doomed = set(going)
    shared = select(nodes.c.seq, nodes.c.same).where(nodes.c.tree == tree, nodes.c.same.is_not(None))
    heirs: dict[int, list[int]] = {}
    for seq, holder in connection.execute(shared.order_by(nodes.c.seq)).all():
        if holder in doomed and seq not in doomed:
            heirs.setdefault(holder, []).append(seq)
    for holder, (first, *others) in heirs.items():
        data = connection.scalar(select(nodes.c.data).where(nodes.c.seq == holder))
        _set(connection, [first], same=None, data=data)
        _set(connection, others, same=first)


def _set(connection: Connection, seqs: list[int], **values: object) -> None:
    for some in chunks(seqs):
        connection.execute(update(nodes).where(nodes.c.seq.in_(some)).values(**values))


def _drop_unused(connection: Connection, codec: Codec, tree: int, hashes: Iterable[bytes]) -> None:
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
