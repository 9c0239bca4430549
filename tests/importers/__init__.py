from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ctxtree.importers import Conversation, Draft, read

LOGS = Path(__file__).parents[2] / "examples" / "logs"


def lines(path: Path, rows: Iterable[dict[str, Any] | bytes], end: bytes = b"\n") -> Path:
    """A file of JSON lines; bytes stand as they are."""
    raw = [row if isinstance(row, bytes) else json.dumps(row, ensure_ascii=False).encode() for row in rows]
    path.write_bytes(b"".join(one + end for one in raw))
    return path


def one(path: Path) -> tuple[Conversation, list[Draft]]:
    """The only conversation of a file, and its drafts."""
    (conversation,) = read(path)
    return conversation, list(conversation.drafts)


def chain(drafts: Iterable[Draft]) -> list[tuple[str, str | None]]:
    return [(draft.source, draft.parent) for draft in drafts]


def found(conversation: Conversation) -> list[tuple[str, int]]:
    return [(issue.code, issue.line) for issue in conversation.issues]
