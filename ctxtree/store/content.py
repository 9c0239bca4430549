"""What equal messages share: content of some length is stored once in a tree."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from ctxtree.model import Message
from ctxtree.store import codec as forms
from ctxtree.store.codec import Codec
from ctxtree.store.engine import chunks
from ctxtree.store.hot import Hot
from ctxtree.store.schema import blobs

WORTH_SHARING = 256  # packed bytes from which equal content is looked for


@dataclass(frozen=True, slots=True)
class Content:
    """A message ready to be stored. `holder` is the node of the tree that keeps the same bytes already."""

    packed: bytes
    apart: dict[bytes, str]
    fingerprint: int | None
    holder: int | None


def prepare(hot: Hot, codec: Codec, tree: int, message: Message) -> Content:
    """The message packed, and who says the same already."""
    packed, apart = codec.message_in(message)
    mark = fingerprint(message, packed, apart)
    if mark is None:
        return Content(packed, apart, None, None)
    alike = hot.rows("alike", in_tree=tree, fingerprint=mark)
    holder = min((seq for seq, data in alike if says_same(codec, data, packed)), default=None)
    return Content(packed, apart, mark, holder)


def fingerprint(message: Message, packed: bytes, apart: dict[bytes, str]) -> int | None:
    """By what equal content is found; None for content too short to be worth it."""
    return forms.fingerprint(message.hash) if apart or len(packed) >= WORTH_SHARING else None


def says_same(codec: Codec, held: bytes, packed: bytes) -> bool:
    """True if both bytes stand for one message, whichever way they were compressed."""
    if held == packed:
        return True
    if forms.is_erased(held) or held[0] // 2 != packed[0] // 2:
        return False
    try:
        return codec.unpack(held) == codec.unpack(packed)
    except ValueError:
        return False


def store_apart(connection: Connection, codec: Codec, tree: int, apart: dict[bytes, str]) -> None:
    """Keeps the large strings that the tree does not have yet."""
    known: set[bytes] = set()
    for some in chunks(sorted(apart)):
        known |= set(
            connection.scalars(select(blobs.c.hash).where(blobs.c.tree == tree, blobs.c.hash.in_(some)))
        )
    for digest in sorted(apart.keys() - known):
        connection.execute(
            insert(blobs), {"tree": tree, "hash": digest, "data": codec.blob_in(apart[digest])}
        )
