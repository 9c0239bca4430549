"""A whole tree as one JSON object, loss-free, and back: the format `ctxtree`, version 1.

`tree.schema.json` beside this file says what it looks like. A tree that is written, read into an empty
store and written again gives the same bytes. Fields in their order: a head, then lists of records, nodes
first and parents before children, so that a file is read and written as a stream.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, BinaryIO

from pydantic import ValidationError

from ctxtree import memory
from ctxtree.errors import FormatError
from ctxtree.importers.sections import sections
from ctxtree.model import Mark, Message, Node, Opaque, clean, lean, node_id
from ctxtree.naming import next_name, tree_name

VERSION = 1
LISTS = ("nodes", "marks", "branches", "moves", "keys", "facts", "summaries", "epochs", "turns", "usage")
PACKED = frozenset({"summaries", "epochs", "turns"})
"""Records whose data is packed by `memory`; in the file it is JSON."""

Record = dict[str, Any]


def head_of(database: Any, row: Any) -> Record:
    """The fields before the lists."""
    return {
        "format": "ctxtree",
        "version": VERSION,
        "name": row.name,
        "active": row.active,
        "created_at": _when(row.created_at),
        "turns_given": database.turns_given(row.id),
    }


def records_of(database: Any, tree: int, name: str) -> Iterator[Record]:
    """The records of one list, a page of them in memory at a time."""
    if name == "nodes":
        yield from (_node_out(node, tomb) for node, tomb in database.placed_with_tombs(tree))
    elif name == "marks":
        for mark in database.all_marks(tree):
            yield {"node": mark.node, "name": mark.name, "value": mark.value, "at": _when(mark.at)}
    elif name == "branches":
        for row in database.branches(tree):
            yield {
                "name": row.name, "head": row.head, "parent": row.parent, "fork": row.fork,
                "status": row.status, "updated": _when(row.updated),
            }  # fmt: skip
    else:
        for record in database.records(tree, name):
            yield {key: _out(name, key, value) for key, value in record.items()}


def as_data(database: Any, row: Any) -> Record:
    """The whole tree as one dict; it holds everything in memory."""
    return head_of(database, row) | {name: list(records_of(database, row.id, name)) for name in LISTS}


def as_text(database: Any, row: Any) -> Iterator[str]:
    """The same as pieces of JSON text, a record a line, in bounded memory."""
    yield json.dumps(head_of(database, row), ensure_ascii=False)[:-1]
    for name in LISTS:
        yield f',\n"{name}": ['
        before = "\n"
        for record in records_of(database, row.id, name):
            yield before + json.dumps(record, ensure_ascii=False)
            before = ",\n"
        yield "]"
    yield "}\n"


def masked(held: Record, message: Callable[[Message], Message], value: Callable[[Any], Any]) -> Record:
    """A whole tree with its words changed: a sound tree of its own, with the ids that follow.

    `message` changes what was said, `value` any other JSON data. What quotes words in other forms
    (summaries, epochs, turns) and callers' keys are left out.
    """
    ids: dict[Any, str | None] = {None: None}
    nodes: list[Record] = []
    for record in held["nodes"]:
        made = _renewed(
            record, [str(ids[parent]) for parent in record["parents"]], message, set(ids.values())
        )
        ids[record["id"]] = made["id"]
        nodes.append(made)
    lists: dict[str, list[Record]] = {name: [] for name in LISTS} | {"nodes": nodes}
    for name in ("marks", "branches", "moves", "facts", "usage"):
        links = ("node", "head", "fork", "old", "new")
        for record in held[name]:
            fields = {key: ids.get(one) if key in links else one for key, one in record.items()}
            lists[name].append({key: one if key in links else value(one) for key, one in fields.items()})
    return {key: value(one) for key, one in held.items() if key not in LISTS} | lists


def _renewed(
    record: Record, parents: list[str], message: Callable[[Message], Message], taken: set[str | None]
) -> Record:
    """A node of the file with changed words; siblings that differed only in these are numbered anew."""
    said: Record = {"role": record.get("role"), "erased": record.get("erased")}
    digest = record.get("erased")
    if digest is None:
        changed = message(Message.model_validate(record["message"]))
        said, digest = {"message": lean(changed)}, changed.hash
    attempt = record["attempt"]
    while (identity := node_id(digest, tuple(parents), attempt)) in taken:
        attempt += 1
    return {
        "id": identity,
        "parents": parents,
        "attempt": attempt,
        **said,
        "created_at": record["created_at"],
    }


def _node_out(node: Node, tomb: str | None) -> Record:
    made: Record = {"id": node.id, "parents": list(node.parents), "attempt": node.attempt}
    said = {"role": node.role, "erased": tomb} if tomb is not None else {"message": lean(node.message)}
    return {**made, **said, "created_at": _when(node.created_at)}


def _out(name: str, key: str, value: Any) -> Any:
    """A value of a record as JSON data."""
    if isinstance(value, datetime):
        return _when(value)
    if not isinstance(value, bytes):
        return value
    if (name, key) == ("facts", "text"):
        return value.decode("utf-8", "replace")
    try:
        return memory.unpack(value) if name in PACKED else json.loads(value)
    except (ValueError, zlib.error):
        return {"base64": base64.b64encode(value).decode()}


def _in(name: str, key: str, value: Any) -> Any:
    """What `_out` was given."""
    if key in ("at", "created", "used"):
        return _time(value)
    if (name, key) == ("facts", "text"):
        return None if value is None else str(value).encode()
    if key != "data":
        return value
    if isinstance(value, Mapping) and value.keys() == {"base64"}:
        return base64.b64decode(value["base64"])
    return memory.pack(value) if name in PACKED else json.dumps(value).encode()


def _when(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()


def _time(text: Any) -> datetime | None:
    return None if text is None else datetime.fromisoformat(str(text))


# -- reading -----------------------------------------------------------------------------


def node_in(record: Mapping[str, Any]) -> tuple[Node, str | None]:
    """A node of the file, and for a tombstone the hash that it keeps. ValueError, KeyError or TypeError if damaged."""
    tomb = record.get("erased")
    if tomb is not None:
        message = Message(role=record["role"], parts=(Opaque(origin="ctxtree", kind="erased"),))
    else:
        message = Message.model_validate(clean(record["message"])[0])
    parents, attempt = tuple(map(str, record["parents"])), int(record["attempt"])
    derived = node_id(str(tomb) if tomb is not None else message.hash, parents, attempt)
    zeros = tomb is not None and not str(tomb).strip("0")
    if derived != record["id"] and not zeros:
        raise ValueError(f"node {str(record['id'])[:64]} does not have the id that its content gives")
    node = Node.model_construct(
        id=str(record["id"]),
        parents=parents,
        message=message,
        attempt=attempt,
        created_at=_time(record["created_at"]),
    )
    return node, str(tomb) if tomb is not None else None


class Restoring:
    """What is found while a file is read into a tree.

    `fresh`: it had no nodes before; `unused`: nor has any of its branches stood anywhere. `wrong` are (line, what) of records that were left out."""

    def __init__(self, database: Any, place: str, strict: bool) -> None:
        self.database = database
        self.place = place
        self.strict = strict
        self.head: Record = {}
        self.tree = -1
        self.name = ""
        self.fresh = self.unused = True
        self.seen: set[bytes] = set()
        self.added = 0
        self.wrong: list[tuple[int, str]] = []

    def read(self, stream: BinaryIO, name: str | None, batch: int, step: Any = None) -> None:
        """Everything of a file; lists are stored in batches, a transaction each."""
        held: list[tuple[int, Any]] = []
        current = ""
        try:
            for field, line, value in sections(stream, exact=True):
                if field != current or len(held) >= batch:
                    name_before, records = current, held
                    current, held = field, []
                    self._store(name_before, records)
                    if step is not None and self.name:
                        step(self.name, len(self.seen))
                if field in LISTS:
                    self._open(name)
                    held.append((line, value))
                elif self.tree < 0:
                    self.head[field] = value
        except ValueError as problem:
            self._skip(0, f"the file is cut or damaged: {problem}")
        self._store(current, held)
        self._open(name)
        if self.unused:
            self.database.close_tree(
                self.tree, _time(self.head.get("created_at")), int(self.head.get("turns_given", 0))
            )

    def _open(self, name: str | None) -> None:
        """Find or make the tree, once the head is there."""
        if self.tree >= 0:
            return
        if self.head.get("format") != "ctxtree" or self.head.get("version") != VERSION:
            told = f"format {self.head.get('format')!r}, version {self.head.get('version')!r}"
            raise FormatError(self.place, 1, f"{told}; this library reads ctxtree, version {VERSION}")
        self.name = tree_name(name or str(self.head.get("name") or ""), "tree")
        row = self.database.create_tree(self.name)
        self.tree, self.fresh = row.id, row.nodes == 0
        refs = self.database.branches(self.tree)
        self.unused = [(one.name, one.head) for one in refs] == [("main", None)]

    def _store(self, name: str, held: Sequence[tuple[int, Any]]) -> None:
        if not held:
            return
        records = [
            (line, value) for line, value in held if isinstance(value, dict) or self._skip(line, "no object")
        ]
        if name == "nodes":
            self._nodes(records)
        elif name == "marks":
            self._marks(records)
        elif name == "branches":
            given = [{**record, "updated": _time(record.get("updated"))} for _, record in records]
            self.database.put_branches(self.tree, given, str(self.head.get("active") or "main"), next_name)
        else:
            given = [{key: _in(name, key, value) for key, value in record.items()} for _, record in records]
            self.database.put_records(self.tree, name, given)

    def _nodes(self, records: Sequence[tuple[int, Record]]) -> None:
        good: list[tuple[Node, str | None]] = []
        for line, record in records:
            try:
                node, tomb = node_in(record)
            except (ValidationError, ValueError, KeyError, TypeError) as problem:
                self._skip(
                    line,
                    str(problem).splitlines()[0] if not isinstance(problem, KeyError) else f"no {problem}",
                )
                continue
            if any(bytes.fromhex(parent) not in self.seen for parent in node.parents):
                self._skip(line, f"node {node.id} hangs on one that is not in the file or was left out")
                continue
            self.seen.add(bytes.fromhex(node.id))
            good.append((node, tomb))
        self.added += self.database.put_nodes(self.tree, good)

    def _marks(self, records: Sequence[tuple[int, Record]]) -> None:
        good = []
        for line, record in records:
            if bytes.fromhex(str(record.get("node"))) in self.seen:
                at = _time(record.get("at"))
                good.append(Mark(node=record["node"], name=record["name"], value=record.get("value"), at=at))
            else:
                self._skip(line, f"a mark of a node that is not there: {str(record.get('node'))[:64]}")
        self.database.put_marks(self.tree, good, self.fresh)

    def _skip(self, line: int, what: str) -> bool:
        if self.strict:
            raise FormatError(self.place, line, what)
        self.wrong.append((line, what))
        return False


def restore(
    database: Any, stream: BinaryIO, place: str, name: str | None, strict: bool, batch: int, step: Any = None
) -> Restoring:
    """Read a file into the tree of its name, or of `name`. What the tree holds already stays as it is.

    Raises `FormatError` for a file of another format or version, and with `strict` at the first defect.
    """
    made = Restoring(database, place, strict)
    made.read(stream, name, batch, step)
    return made
