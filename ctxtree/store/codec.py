"""Bytes in the columns: compression, large strings kept apart, names, ids and times.

Packed bytes begin with a tag:
    0  as they are          1  raw deflate with dictionary 1
    2, 3  the same two, for a message whose large strings stand in `blobs`
    4, 5  the first two, for a message of one text and nothing else: the text alone
    6  erased; the 32 bytes of the message hash follow
    7  (blobs only) the bytes that a base64 text stands for
A dictionary never changes; a better one gets a new tag.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any

from ctxtree.errors import StoreError
from ctxtree.model import Message, Role, Text, canonical

PLAIN, DEFLATED, APART, APART_DEFLATED, TEXT, TEXT_DEFLATED, ERASED, BASE64 = range(8)
LARGE = 4096  # characters from which a string is kept apart
SHORT = 48  # bytes below which compressing is not worth a try
BULKY = 65_536  # bytes from which speed counts more than the last per cent

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Codec:
    """Packs and unpacks; holds the dictionary, which is read from the package once a store is opened."""

    __slots__ = ("_dictionary",)

    def __init__(self) -> None:
        self._dictionary = files("ctxtree.store").joinpath("dictionary1.txt").read_bytes()

    def pack(self, data: bytes, tag: int = PLAIN) -> bytes:
        """Tagged and, where that is shorter, compressed."""
        if len(data) >= SHORT:
            level = 6 if len(data) < BULKY else 1
            press = zlib.compressobj(level, zlib.DEFLATED, -15, zdict=self._dictionary)
            small = press.compress(data) + press.flush()
            if len(small) < len(data):
                return bytes((tag + 1,)) + small
        return bytes((tag,)) + data

    def unpack(self, packed: bytes) -> bytes:
        """What `pack` was given. Raises ValueError if the bytes are damaged."""
        if not packed or packed[0] > TEXT_DEFLATED:
            raise ValueError("no packed bytes")
        if packed[0] in (PLAIN, APART, TEXT):
            return packed[1:]
        press = zlib.decompressobj(-15, zdict=self._dictionary)
        try:
            return press.decompress(packed[1:]) + press.flush()
        except zlib.error:
            raise ValueError("the compressed bytes are damaged") from None

    def message_in(self, message: Message) -> tuple[bytes, dict[bytes, str]]:
        """A message as packed bytes, and its large strings by their SHA-256."""
        text = message.canonical
        if len(text) < LARGE:
            if len(message.parts) == 1 and isinstance(message.parts[0], Text) and message.name is None:
                return self.pack(message.parts[0].text.encode(), TEXT), {}
            return self.pack(text.encode()), {}
        whole = json.loads(text)
        places, apart = _take_apart(whole)
        if not places:
            return self.pack(text.encode()), {}
        return self.pack(canonical([whole, places]).encode(), APART), apart

    def message_out(self, packed: bytes, role: Role, blob: Callable[[bytes], str]) -> Message:
        """The message again. Raises ValueError if the bytes are damaged, and what `blob` raises."""
        if packed[0] in (TEXT, TEXT_DEFLATED):
            return Message.of(role, self.unpack(packed).decode())
        value = json.loads(self.unpack(packed))
        if packed[0] in (APART, APART_DEFLATED):
            value, places = value
            for place, digest in places:
                _put(value, place, blob(bytes.fromhex(digest)))
        return Message.model_validate(value)

    def blob_in(self, text: str) -> bytes:
        """A large string; base64 is kept as the bytes that it stands for."""
        data = text.encode()
        raw = _from_base64(data)
        return bytes((BASE64,)) + raw if raw is not None else self.pack(data)

    def blob_out(self, packed: bytes) -> str:
        """The string again. Raises ValueError if the bytes are damaged."""
        if packed[:1] == bytes((BASE64,)):
            return base64.b64encode(packed[1:]).decode()
        return self.unpack(packed).decode()

    def value_in(self, value: Any) -> bytes:
        return self.pack(canonical(value).encode())

    def value_out(self, packed: bytes) -> Any:
        return json.loads(self.unpack(packed))

    def blob_hashes(self, packed: bytes) -> tuple[bytes, ...]:
        """Which large strings a packed message refers to."""
        if packed[0] not in (APART, APART_DEFLATED):
            return ()
        return tuple(bytes.fromhex(digest) for _, digest in json.loads(self.unpack(packed))[1])


def erased(message_hash: bytes) -> bytes:
    return bytes((ERASED,)) + message_hash


def is_erased(packed: bytes) -> bool:
    return packed[:1] == bytes((ERASED,))


def blob_hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def fingerprint(message_hash: str) -> int:
    """31 bits, so that PostgreSQL's integer and four bytes in SQLite hold it."""
    return int(message_hash[:8], 16) >> 1


def _take_apart(whole: Any) -> tuple[list[list[Any]], dict[bytes, str]]:
    """Replaces every large string in `whole` by None; their places, and the strings by hash."""
    places: list[list[Any]] = []
    apart: dict[bytes, str] = {}
    todo: list[tuple[Any, list[Any]]] = [(whole, [])]
    while todo:
        holder, place = todo.pop()
        entries: Iterable[tuple[Any, Any]] = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, item in list(entries):
            if isinstance(item, dict | list):
                todo.append((item, [*place, key]))
            elif isinstance(item, str) and len(item) >= LARGE:
                digest = blob_hash(item)
                apart[digest] = item
                places.append([[*place, key], digest.hex()])
                holder[key] = None
    return places, apart


def _put(whole: Any, place: list[Any], text: str) -> None:
    for step in place[:-1]:
        whole = whole[step]
    whole[place[-1]] = text


def _from_base64(data: bytes) -> bytes | None:
    if len(data) % 4:
        return None
    try:
        raw = base64.b64decode(data, validate=True)
    except (ValueError, binascii.Error):
        return None
    return raw if base64.b64encode(raw) == data else None


def name_in(name: str) -> bytes:
    """A name as bytes; any string will do, for names are data. Raises StoreError for what is no string."""
    if not isinstance(name, str):
        raise StoreError(f"a name or a key is a text, not a {type(name).__name__}")
    return name.encode("utf-8", "surrogatepass")


def name_out(data: bytes) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")


def id_in(hexadecimal: str) -> bytes | None:
    """The 32 bytes of an id, or None for a string that is no id."""
    if len(hexadecimal) != 64:
        return None
    try:
        raw = bytes.fromhex(hexadecimal)
    except ValueError:
        return None
    return raw if raw.hex() == hexadecimal else None


def time_in(moment: datetime | None) -> int | None:
    """Microseconds since 1970; a time without a zone is taken as UTC."""
    if moment is None:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND


def time_out(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)
