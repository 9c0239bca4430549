"""Where bytes come from: a path, an open stream, or a member of a zip archive."""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from ctxtree.errors import FormatError


@dataclass(frozen=True, slots=True)
class Source:
    """Something that can be read from its start, as often as needed. `name` is for people and messages.

    A path is opened anew each time. A stream must be seekable and stays open; it is read from `origin`.
    """

    name: str
    where: Path | BinaryIO
    member: str | None = None
    origin: int = 0

    @property
    def stem(self) -> str:
        """The name without folders and endings: what a conversation without an id is called."""
        base = Path(self.member or self.name).name
        return base.split(".")[0] or base

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The bytes from the start. `FormatError` if the file cannot be opened."""
        if self.member is not None:
            with zipfile.ZipFile(self.where) as archive, archive.open(self.member) as stream:
                yield cast(BinaryIO, stream)
        elif isinstance(self.where, Path):
            with open_path(self.where) as stream:
                yield stream
        else:
            with io.BufferedReader(_View(self.where, self.origin), 1 << 16) as view:
                yield cast(BinaryIO, view)

    def members(self) -> tuple[str, ...]:
        """The names in a zip archive, sorted; none if it is no archive."""
        with self.open() as stream:
            if stream.read(4) != b"PK\x03\x04":
                return ()
            stream.seek(self.origin)
            try:
                with zipfile.ZipFile(stream) as archive:
                    return tuple(sorted(archive.namelist()))
            except zipfile.BadZipFile as problem:
                raise FormatError(self.name, 0, f"a damaged zip archive: {problem}") from None

    def within(self, member: str) -> Source:
        return Source(f"{self.name}:{member}", self.where, member)


class _View(io.RawIOBase):
    """A stream read at a place of its own, so that several readers of it do not disturb each other."""

    def __init__(self, stream: BinaryIO, place: int) -> None:
        self.stream = stream
        self.place = place

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_CUR:
            offset, whence = self.place + offset, io.SEEK_SET
        self.place = self.stream.seek(offset, whence)
        return self.place

    def tell(self) -> int:
        return self.place

    def readinto(self, buffer: Any) -> int:
        self.stream.seek(self.place)
        raw = self.stream.read(len(buffer))
        buffer[: len(raw)] = raw
        self.place += len(raw)
        return len(raw)


def open_path(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as problem:
        raise FormatError(str(path), 0, f"cannot be opened: {problem.strerror}") from None


@contextmanager
def sourced(path: str | Path | BinaryIO) -> Iterator[Source]:
    """A source for what the caller gave. A stream that cannot seek is copied to a temporary file first."""
    if isinstance(path, str | Path):
        yield Source(str(path), Path(path))
        return
    name = str(getattr(path, "name", "stream"))
    if path.seekable():
        yield Source(name, path, origin=path.tell())
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(path, copy)
        yield Source(name, cast(BinaryIO, copy))
