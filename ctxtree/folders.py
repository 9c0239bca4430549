"""Trees as files of a folder. Names are data: whatever a tree is called, its file lies in the folder."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ctxtree.errors import StoreError

_ENDINGS = {"markdown": ".md", "html": ".html", "mermaid": ".mmd", "dot": ".dot"}
_ODD = re.compile(r"[^\w.-]|^[.-]|[.]$|\.(?=\.)")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|clock\$|com\d|lpt\d)(?:\..*)?", re.I)
LONGEST = 60
"""Characters of a name that stand in a file's name; with four bytes each they are still fewer than any system takes."""


def write_all(folder: str | Path, form: str, made: Iterable[tuple[str, Any]]) -> tuple[Path, ...]:
    """Write each name's export to a file of its own; the files. A file that is there is replaced, never followed.

    A file appears whole or not at all. Raises `StoreError` if the folder cannot be written.
    """
    place = Path(folder)
    written: list[Path] = []
    taken: set[str] = set()
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, held in made:
            file = place / (file_name(name, taken) + _ENDINGS.get(form, ".json"))
            _write(file, held if isinstance(held, str) else json.dumps(held, ensure_ascii=False))
            written.append(file)
    except OSError as error:
        raise StoreError(f"{place}: cannot be written: {error.strerror}") from error
    return tuple(written)


def file_name(name: str, taken: set[str] | None = None) -> str:
    """The name as one that is safe on any system, without its ending.

    Letters and digits of any script stay. If anything else had to change, or the name is reserved or taken, eight
    digits of its SHA-256 follow. What is given is added to `taken`, without regard to case.
    """
    held = unicodedata.normalize("NFC", name)
    safe = _ODD.sub("_", held)[:LONGEST]
    if safe != held or not safe or _RESERVED.fullmatch(safe) or safe.casefold() in (taken or ()):
        safe = f"{safe or 'tree'}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    if taken is not None:
        taken.add(safe.casefold())
    return safe


def _write(file: Path, text: str) -> None:
    """By way of a new file beside it, so that a link of that name is replaced and leads nowhere."""
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=".export-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
        os.replace(draft, file)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
