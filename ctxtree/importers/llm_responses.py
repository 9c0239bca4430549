"""Conversations of an older `llm`: a row of `responses` is a prompt and its answer."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Iterator
from typing import Any

from ctxtree.importers.base import Conversation, Draft, Log, Marks, source_mark
from ctxtree.importers.files import Source
from ctxtree.importers.moments import moment
from ctxtree.importers.wire.parts import arguments_of
from ctxtree.model import (
    Media,
    MediaKind,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    clean,
    sendable,
)

ORIGIN = "llm"
Row = sqlite3.Row


def conversations(source: Source, database: sqlite3.Connection, strict: bool) -> Iterator[Conversation]:
    """Each conversation that has responses, oldest first; responses without one are one each."""
    reader = _Reader(database)
    rows = database.execute(
        "select coalesce(conversation_id, id) as name, min(datetime_utc) as first from responses"
        " group by coalesce(conversation_id, id) order by first, name"
    ).fetchall()
    titles = dict(map(tuple, database.execute("select id, name from conversations").fetchall()))
    for row in rows:
        log = Log(source.name, strict)
        last = database.execute(
            f"select id from responses where {_WHOSE} order by {_NEWEST}", (row["name"],)
        ).fetchone()
        yield Conversation(
            name=row["name"],
            title=titles.get(row["name"]) or None,
            source=source.name,
            drafts=reader.drafts(row["name"]),
            head=last["id"],
            log=log,
        )


_WHOSE = "coalesce(conversation_id, id) = ?"
_NEWEST = "datetime_utc desc, id desc limit 1"


class _Reader:
    """Rows of the tables that this database has; versions of `llm` differ in tables and columns."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        names = database.execute("select name from sqlite_master where type = 'table'").fetchall()
        self.tables = {row["name"] for row in names}

    def rows(self, query: str, *values: Any) -> list[Row]:
        return self.database.execute(query, values).fetchall()

    def drafts(self, name: str) -> Iterator[Draft]:
        parent: str | None = None
        system = None
        cursor = self.database.execute(
            f"select * from responses where {_WHOSE} order by datetime_utc, id", (name,)
        )
        for number, row in enumerate(cursor, 1):
            held = _fields(row)
            told = self._joined(held, "system", "system_fragments")
            for part, message in self._asked(held, told if told != system else ""):
                own = f"{held['id']}.{part}"
                yield Draft(own, parent, message, moment(held.get("datetime_utc")), (), number)
                parent = own
            system = told
            yield self._answer(held, parent, number)
            parent = held["id"]

    def _asked(self, held: dict[str, Any], system: str) -> Iterator[tuple[str, Message]]:
        """What a request added: a new system prompt, results of the calls before, the user's words."""
        if system:
            yield "system", Message.of("system", system)
        results = self._results(held["id"])
        if results:
            yield "results", Message(role="tool", parts=tuple(results))
        words = self._joined(held, "prompt", "prompt_fragments")
        parts: tuple[Part, ...] = (*((Text(text=words),) if words else ()), *self._attached(held["id"]))
        if parts or not results:
            yield "prompt", Message(role="user", parts=parts or (Text(text=""),))

    def _answer(self, held: dict[str, Any], parent: str | None, number: int) -> Draft:
        reasoning = (Reasoning(text=held["reasoning"], origin=ORIGIN),) if held.get("reasoning") else ()
        calls = tuple(self._calls(held["id"]))
        words = held.get("response")
        text = (Text(text=words),) if words or not calls else ()
        message = Message(role="assistant", parts=(*reasoning, *text, *calls))
        return Draft(
            held["id"], parent, message, moment(held.get("datetime_utc")), _marks(held, number), number
        )

    def _joined(self, held: dict[str, Any], column: str, table: str) -> str:
        """The fragments that a text was put together from, and the text."""
        pieces = []
        if {table, "fragments"} <= self.tables:
            query = f'select content from fragments join {table} on fragment_id = fragments.id where response_id = ? order by "order"'
            pieces = [_text(row["content"]) for row in self.rows(query, held["id"])]
        return "\n".join(piece for piece in (*pieces, _text(held.get(column))) if piece)

    def _calls(self, response: str) -> Iterator[Part]:
        if "tool_calls" not in self.tables:
            return
        for row in map(
            _fields, self.rows("select * from tool_calls where response_id = ? order by id", response)
        ):
            yield ToolCall(
                id=_call_id(row), name=row["name"] or "tool", arguments=_arguments(row.get("arguments"))
            )

    def _results(self, response: str) -> Iterator[Part] | list[Part]:
        if "tool_results" not in self.tables:
            return []
        rows = map(
            _fields, self.rows("select * from tool_results where response_id = ? order by id", response)
        )
        return [
            ToolResult(
                call_id=row.get("tool_call_id") or "",
                parts=(Text(text=_text(row.get("output"))),),
                error=bool(row.get("exception")),
                name=row.get("name"),
            )
            for row in rows
        ]

    def _attached(self, response: str) -> Iterator[Part]:
        if not {"attachments", "prompt_attachments"} <= self.tables:
            return
        query = (
            "select attachments.* from attachments join prompt_attachments on attachment_id = attachments.id"
            ' where response_id = ? order by "order"'
        )
        for row in self.rows(query, response):
            yield attachment(row)


def attachment(row: Row) -> Media:
    """A file that was sent along: its bytes, or where it is."""
    mime, content = _text(row["type"]), row["content"]
    kinds: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
    return Media(
        kind=kinds.get(mime.split("/")[0], "file"), mime=mime,
        data=base64.b64encode(content).decode() if isinstance(content, bytes) else None,
        url=row["url"] or None, name=row["path"] or None,
    )  # fmt: skip


def _fields(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in row.keys()}  # noqa: SIM118


def _text(value: Any) -> str:
    return str(clean(value)[0]) if isinstance(value, str) else ""


def _call_id(row: dict[str, Any]) -> str:
    return row.get("tool_call_id") or f"call_{row['id']}"


def _arguments(value: Any) -> dict[str, Any] | str:
    try:
        return arguments_of(sendable(value)) if isinstance(value, str) else {}
    except ValueError:
        return str(value)


def _marks(held: dict[str, Any], number: int) -> Marks:
    usage = {name: held[name] for name in ("input_tokens", "output_tokens") if held.get(name) is not None}
    given = (("model", held.get("resolved_model") or held.get("model")), ("usage", usage))
    fields = {name: held[name] for name in ("options_json", "duration_ms", "schema_id") if held.get(name)}
    return (*((name, value) for name, value in given if value), source_mark(held["id"], number, fields))
