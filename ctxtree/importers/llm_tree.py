"""Trees of messages of `llm` 0.32 and newer: messages name their parents, threads name tips."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from ctxtree.importers.base import Conversation, Draft, Log, source_mark
from ctxtree.importers.files import Source
from ctxtree.importers.link import in_order, resolve
from ctxtree.importers.linked import Linked
from ctxtree.importers.llm_responses import attachment
from ctxtree.importers.moments import moment
from ctxtree.importers.wire.parsed import ROLES
from ctxtree.importers.wire.parts import arguments_of, string
from ctxtree.model import Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, clean, sendable

ORIGIN = "llm"


def trees(source: Source, database: sqlite3.Connection, strict: bool) -> Iterator[Conversation]:
    """A conversation for each root; a thread's name is a label at its tip. Memory: the ids of all messages."""
    log = Log(source.name, strict)
    listed = database.execute("select hash, parent_hash from messages order by rowid")
    rows = [Linked(row["hash"], row["parent_hash"], number, 0, 0) for number, row in enumerate(listed, 1)]
    parents = resolve(rows, log, repair="root")
    ordered = in_order([row.id for row in rows], parents, key=lambda name: name)
    roots: dict[str, str] = {}
    for name in ordered:
        above = parents[name]
        roots[name] = name if above is None else roots[above]
    threads = _threads(database, roots, log)
    for root, members in _grouped(ordered, roots).items():
        held = threads.get(root, [])
        named = [(row["name"], row["tip_message_hash"]) for row in held if row["name"]]
        yield Conversation(
            name=held[0]["id"] if held else root,
            title=named[0][0] if named else None,
            source=source.name,
            drafts=_drafts(database, members, parents, log),
            head=held[-1]["tip_message_hash"] if held else None,
            log=log,
            labels=tuple(named) if len(held) > 1 else (),
        )
        log = Log(source.name, strict)


def _threads(
    database: sqlite3.Connection, roots: Mapping[str, str], log: Log
) -> dict[str, list[sqlite3.Row]]:
    """The threads of each tree by its root, oldest first."""
    rows = database.execute("select * from threads order by datetime_utc, id").fetchall()
    found: dict[str, list[sqlite3.Row]] = {}
    for row in rows:
        root = roots.get(row["tip_message_hash"])
        if root is not None:
            found.setdefault(root, []).append(row)
        elif row["tip_message_hash"] is not None:
            log.add("dangling_head", f"thread {row['id']} ends in a message that is not there", "left out")
    return found


def _grouped(ordered: list[str], roots: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in ordered:
        found.setdefault(roots[name], []).append(name)
    return found


def _drafts(
    database: sqlite3.Connection, members: list[str], parents: Mapping[str, str | None], log: Log
) -> Iterator[Draft]:
    for number, name in enumerate(members, 1):
        row = database.execute("select * from messages where hash = ?", (name,)).fetchone()
        turn = database.execute(
            "select * from turns where tip_message_hash = ? order by datetime_utc limit 1", (name,)
        ).fetchone()
        parts = tuple(_parts(database, name))
        role = ROLES.get(row["role"])
        hidden: tuple[tuple[str, Any], ...] = ()
        if role is None:
            log.add("unknown_role", f"message {name}", "kept as a hidden note", number)
            hidden = (("hidden", True),)
        kept = parts if role != "tool" else tuple(part for part in parts if isinstance(part, ToolResult))
        message = Message(role=role or "note", parts=kept)
        marks = (*hidden, *_billed(turn), source_mark(name, number, {}))
        yield Draft(
            name, parents[name], message, moment(turn["datetime_utc"]) if turn else None, marks, number
        )


def _billed(turn: sqlite3.Row | None) -> tuple[tuple[str, Any], ...]:
    """Model and usage of the turn that ended here."""
    if turn is None:
        return ()
    usage = {name: turn[name] for name in ("input_tokens", "output_tokens") if turn[name] is not None}
    given = (("model", turn["resolved_model"] or turn["model"]), ("usage", usage))
    return tuple((name, value) for name, value in given if value)


def _parts(database: sqlite3.Connection, message: str) -> Iterator[Part]:
    for row in database.execute("select * from parts where message_hash = ? order by position", (message,)):
        payload = _payload(row["payload"])
        words = row["text"] if row["text"] is not None else _words(database, payload)
        yield _part(database, row["type"], clean(words)[0], payload)


def _payload(text: Any) -> Mapping[str, Any]:
    """The structure of a part; one that is no JSON object holds nothing but the text itself."""
    try:
        held = sendable(text) if text else {}
    except (ValueError, TypeError, RecursionError):
        held = None
    return held if isinstance(held, dict) else {"text": str(text)}


def _words(database: sqlite3.Connection, payload: Mapping[str, Any]) -> str:
    """The text: as it stands, or put together from literals and fragments that are kept once."""
    pieces = payload.get("text_ref")
    if not isinstance(pieces, list):
        return string(payload.get("text")) or ""
    found = []
    for piece in pieces:
        if isinstance(piece, Mapping) and isinstance(piece.get("fragment"), int | str):
            row = database.execute(
                "select content from fragments where id = ?", (piece["fragment"],)
            ).fetchone()
            found.append(str(row["content"]) if row else "")
        elif isinstance(piece, Mapping):
            found.append(str(piece.get("literal", "")))
    return "".join(found)


def _part(database: sqlite3.Connection, kind: str, words: str, payload: Mapping[str, Any]) -> Part:
    if kind == "text":
        return Text(text=words)
    if kind == "reasoning":
        return Reasoning(text=words, origin=ORIGIN)
    if kind == "tool_call":
        call = string(payload.get("tool_call_id")) or ""
        return ToolCall(
            id=call,
            name=string(payload.get("name")) or "tool",
            arguments=arguments_of(payload.get("arguments")),
        )
    if kind == "tool_result":
        return ToolResult(
            call_id=string(payload.get("tool_call_id")) or "",
            parts=(Text(text=str(payload.get("output") or "")),),
            error=payload.get("exception") is not None,
            name=string(payload.get("name")),
        )
    held = payload.get("attachment")
    if kind == "attachment" and isinstance(held, Mapping):
        row = database.execute("select * from attachments where id = ?", (str(held.get("id")),)).fetchone()
        if row is not None:
            return attachment(row)
    return Opaque(origin=ORIGIN, kind=kind, data=dict(payload))
