"""What a line of a Claude Code log is: a message, something to splice through, or a fact about the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ctxtree.importers.lines import Record
from ctxtree.importers.moments import moment

Kind = Literal["assistant", "user", "results", "splice", "compaction", "attachment"]

CHAIN = frozenset({"user", "assistant", "system", "attachment", "progress"})
ASIDE = frozenset({
    "summary", "custom-title", "ai-title", "agent-name", "file-history-snapshot", "file-history-delta",
    "queue-operation", "last-prompt", "mode", "permission-mode", "pr-link", "bridge-session",
    "content-replacement", "init", "frame-link", "started", "result", "relocated", "worktree-state", "tag",
})  # fmt: skip
TITLES = (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("summary", "summary"))
"""Where a title may stand, the best first."""

GENERATED = (
    "<command-name>", "<command-message>", "<local-command-stdout>", "<local-command-caveat>",
    "<system-reminder>", "<task-notification>", "<bash-input>", "<bash-stdout>",
    "[Request interrupted by user",
)  # fmt: skip
"""How texts begin that stand as the user's and were written by the program."""

CONSTANT = ("sessionId", "cwd", "gitBranch", "version", "userType", "entrypoint")
"""Fields that every row repeats; a source mark names them only where they change."""

HELD = frozenset({
    "uuid", "parentUuid", "type", "message", "timestamp", "isSidechain", "isMeta",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the chain, as small as it can be kept: what linking needs, and where to read it again.

    `answers` are the ids of the calls that a user's row answers; `words`: it holds more than results.
    """

    id: str
    parent: str | None
    line: int
    offset: int
    length: int
    at: float
    lane: str
    kind: Kind
    message_id: str | None = None
    answers: tuple[str, ...] = ()
    words: bool = True
    hidden: bool = False


def row_of(record: Record, before: str | None) -> Row | None:
    """The row that a record is, or None if it stands outside the chain or is damaged.

    `before` is the row before in the file: the parent of what has lost its own.
    """
    data = spoken(record.data)
    identity = data.get("uuid")
    kind = _kind(data)
    if kind is None or (not _is_id(identity) and kind in ("splice", "compaction")):
        return None
    content = _content(data)
    blocks = [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if kind == "user" and results:
        kind = "results"
    return Row(
        id=str(identity) if _is_id(identity) else f"line:{record.line}",
        parent=_parent(data, kind, before),
        line=record.line,
        offset=record.offset,
        length=record.length,
        at=_at(data.get("timestamp")),
        lane=_lane(data),
        kind=kind,
        message_id=_message_id(data) if kind == "assistant" else None,
        answers=tuple(str(block["tool_use_id"]) for block in results if block.get("tool_use_id")),
        words=not results or len(results) < len(blocks),
        hidden=bool(data.get("isMeta")) and kind == "user",
    )


def _at(stamp: Any) -> float:
    """Seconds since 1970, for the order of siblings; 0 for what is no time."""
    found = moment(stamp)
    return found.timestamp() if found else 0.0


def passing(data: Mapping[str, Any]) -> tuple[str, str] | None:
    """Id and parent of a row that says nothing and that messages hang on all the same: most rows of a long log."""
    name, parent = data.get("uuid"), data.get("parentUuid")
    if data.get("type") != "progress" or "message" in data or not _is_id(name) or not _is_id(parent):
        return None
    return (str(name), str(parent)) if name != parent else None


def spoken(data: dict[str, Any]) -> dict[str, Any]:
    """A row with its message. What a user typed while the model worked stands only in an attachment."""
    held = data.get("attachment")
    if (
        data.get("type") != "attachment"
        or not isinstance(held, Mapping)
        or held.get("type") != "queued_command"
    ):
        return data
    origin = held.get("origin")
    written = isinstance(origin, Mapping) and origin.get("kind") not in (None, "human")
    words = held.get("prompt")
    if written or held.get("commandMode") not in (None, "prompt") or not isinstance(words, str | list):
        return data
    left = {name: value for name, value in data.items() if name != "attachment"}
    return {**left, "message": {"role": "user", "content": words}, "queued": True}


def _kind(data: Mapping[str, Any]) -> Kind | None:
    form = data.get("type")
    if form == "attachment" and "message" in data:
        return "user"
    if form == "attachment" and isinstance(data.get("attachment"), Mapping):
        return "attachment"
    if form in ("user", "assistant"):
        if data.get("isCompactSummary"):
            return "compaction"
        if not isinstance(data.get("message"), Mapping):
            return "splice" if _is_id(data.get("uuid")) else None
        return "user" if form == "user" else "assistant"
    if form == "system" and data.get("subtype") == "compact_boundary":
        return "compaction"
    # a row of any other type with an id can be somebody's parent; snapshots have none of their own
    return "splice" if _is_id(data.get("uuid")) else None


def _parent(data: Mapping[str, Any], kind: Kind, before: str | None) -> str | None:
    parent = data.get("parentUuid")
    if _is_id(parent):
        return str(parent)
    if kind == "compaction":
        bridge = data.get("logicalParentUuid")
        return str(bridge) if _is_id(bridge) else before
    return before if "parentUuid" not in data and not _is_id(data.get("uuid")) else None


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _content(data: Mapping[str, Any]) -> Any:
    message = data.get("message")
    return message.get("content") if isinstance(message, Mapping) else None


def _message_id(data: Mapping[str, Any]) -> str | None:
    message = data.get("message")
    identity = message.get("id") if isinstance(message, Mapping) else None
    return identity if _is_id(identity) else None


def _lane(data: Mapping[str, Any]) -> str:
    """Rows of one subagent or team member belong together; the main line is the empty lane."""
    if data.get("isSidechain"):
        return f"side:{data.get('agentId') or ''}"
    return f"team:{data.get('agentName') or ''}" if data.get("teamName") else ""


def is_generated(content: Any) -> bool:
    """True for texts in the user's name that the program wrote."""
    first = content
    if isinstance(content, list):
        first = next((block.get("text") for block in content if isinstance(block, Mapping)), None)
    return isinstance(first, str) and first.lstrip().startswith(GENERATED)
