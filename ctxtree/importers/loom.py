"""Trees of texts nested in each other: loom, and OpenAssistant's message trees.

Each node holds its children; conversations go as deep as they are long, so they are read and walked
without recursion. A loom writes texts and not messages: what a model wrote is an assistant's, the rest a user's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxtree.importers.base import Conversation, Format, Log, Sample, without
from ctxtree.importers.entries import entries
from ctxtree.importers.files import Source
from ctxtree.importers.grown import Branching, Whole, grown
from ctxtree.importers.lines import Record
from ctxtree.importers.moments import moment
from ctxtree.importers.wire.parsed import Parsed, beside
from ctxtree.importers.wire.parts import parts_of, string
from ctxtree.model import Message, Role

ORIGIN = "loom"
CHILDREN = ("children", "replies")
IDS = ("id", "message_id", "uuid")
ROOTS = ("root", "prompt")
HELD = frozenset(
    {*CHILDREN, *IDS, "text", "content", "role", "created_date", "timestamp", "parent_id", "model"}
)

SPEAKERS: Mapping[str, Role] = {
    "system": "system", "user": "user", "human": "user", "prompter": "user", "prompt": "user",
    "assistant": "assistant", "model": "assistant", "ai": "assistant", "bot": "assistant", "gpt": "assistant",
}  # fmt: skip


def fits(sample: Sample) -> bool:
    """A node with children of its own kind, or an object around the root of such a tree."""
    begun = '"children"' in sample.text and '"selected_node_id"' in sample.text
    return any(_root(record) is not None for record in sample.records) or (not sample.records and begun)


def _root(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The outermost node of a record."""
    for held in (*(record.get(key) for key in ROOTS), record):
        if (
            isinstance(held, Mapping)
            and _is_node(held)
            and any(isinstance(held.get(k), list) for k in CHILDREN)
        ):
            return held
    return None


def _is_node(held: Any) -> bool:
    return isinstance(held, Mapping) and (isinstance(held.get("text"), str) or "content" in held)


def _holds(record: Mapping[str, Any]) -> bool:
    return _root(record) is not None


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each tree, named by its id. Memory: the largest, twice."""
    return entries(source, strict, _holds, _tree, deep=True)


def _tree(source: Source, number: int, record: Record, log: Log) -> Conversation:
    data = record.data
    root = _root(data) or {}
    name = string(data.get("message_tree_id")) or string(data.get("name")) or string(data.get("id"))
    whole = Whole(
        name=name or (source.stem if number == 1 else f"{source.stem}-{number}"),
        title=string(data.get("title")),
        nodes=_nodes(root, record, log),
        pointer=data.get("selected_node_id"),
        has_pointer="selected_node_id" in data,
        meta={key: data[key] for key in ("tree_state",) if data.get(key)},
    )
    return grown(source, record, whole, log)


def _nodes(root: Mapping[str, Any], record: Record, log: Log) -> list[Branching]:
    found: dict[str, Branching] = {}
    place = (record.line, record.offset)
    todo: list[tuple[Any, str | None, Role]] = [(root, None, "user")]
    while todo:
        raw, above, role = todo.pop()
        if not isinstance(raw, Mapping):
            log.add("bad_record", f"a node is a {type(raw).__name__}", "left out", *place, skipped=1)
            continue
        name = next((raw[key] for key in IDS if string(raw.get(key))), f"node:{len(found) + 1}")
        if name in found:
            log.add("duplicate_id", f"{name} twice", f"named {name}:{len(found) + 1}", *place)
            name = f"{name}:{len(found) + 1}"
        said = _said(raw, role)
        at = said[0].created_at if said else None
        found[name] = Branching(name, above, *place, said, at)
        children: list[Any] = next((raw[key] for key in CHILDREN if isinstance(raw.get(key), list)), [])
        todo.extend((child, name, "assistant") for child in reversed(children))
    return list(found.values())


def _said(raw: Mapping[str, Any], otherwise: Role) -> tuple[Parsed, ...]:
    """The node's message; a node without words (a loom's root often) is spliced through."""
    words = raw.get("text", raw.get("content"))
    if words in (None, ""):
        return ()
    told = raw.get("metadata", raw.get("meta"))
    metadata: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    speaker = string(raw.get("role")) or string(metadata.get("source"))
    role = SPEAKERS.get(speaker.lower()) if speaker else otherwise
    at = raw.get("created_date", raw.get("timestamp", metadata.get("creation_timestamp")))
    base = beside({"model": raw.get("model") or metadata.get("model")})
    base = replace(base, created_at=moment(at), fields=without(raw, HELD))
    parts = parts_of(words, ORIGIN)
    if role is None:
        note = Message(role="note", parts=parts)
        return (replace(base, message=note, marks=(*base.marks, ("hidden", True)), fault="unknown_role"),)
    return (replace(base, message=Message(role=role, parts=parts)),)


FORMAT = Format("loom and OpenAssistant: trees of texts nested in each other", fits, read)
