"""What is said, and where it stands in the tree.

A `Message` is words without a place. A `Node` is a message at a place: its id
is a hash of its parents, its message and its attempt number, so equal histories
have equal ids everywhere. What is learned about a node later is a `Mark`.

The canonical form (version 1)
    JSON, keys sorted, no spaces, UTF-8, fields that hold their default left out.
    message hash = sha256("ctxtree message 1\\n" + canonical(message))
    node id      = sha256("ctxtree node 1\\n" + canonical({attempt, message: hash, parents}))
    Both are written as 64 hex digits. `tests/data/vectors.json` fixes examples.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

HASH_VERSION = 1

Role = Literal["system", "developer", "user", "assistant", "tool", "state", "note"]
MediaKind = Literal["image", "audio", "video", "file"]


class Value(BaseModel):
    """A frozen value that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class Text(Value):
    type: Literal["text"] = "text"
    text: str


class Reasoning(Value):
    """A model's thinking. Signed or encrypted forms go back verbatim or not at all.

    `origin` names the API that it came from; only that API gets it back.
    """

    type: Literal["reasoning"] = "reasoning"
    text: str = ""
    summary: tuple[str, ...] = ()
    signature: str | None = None
    encrypted: str | None = None
    id: str | None = None
    origin: str | None = None

    @property
    def sealed(self) -> bool:
        """True if a provider checks it, so that not one byte may change."""
        return self.signature is not None or self.encrypted is not None


class ToolCall(Value):
    """A call that the model asked for.

    `arguments` is an object, or the provider's own string when that is how it
    came (valid JSON or not): it is given back as it was.
    """

    type: Literal["tool_call"] = "tool_call"
    id: str = ""
    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict)
    origin: str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)

    @cached_property
    def object(self) -> dict[str, Any]:
        """The arguments as an object; what is no object stands under `_raw`."""
        if isinstance(self.arguments, dict):
            return self.arguments
        try:
            parsed = sendable(self.arguments or "{}")
        except (ValueError, RecursionError):
            return {"_raw": self.arguments}
        return parsed if isinstance(parsed, dict) else {"_raw": parsed}


class Media(Value):
    """A picture, a sound or a file: inline (`data`, base64), by `url` or by a provider's `file_id`."""

    type: Literal["media"] = "media"
    kind: MediaKind = "image"
    mime: str = ""
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    name: str | None = None
    transcript: str | None = None
    width: int | None = None
    height: int | None = None
    detail: str | None = None
    origin: str | None = None


class Opaque(Value):
    """A provider's part that we do not know: kept, and sent back only to the API in `origin`.

    `kind="fields"` holds unknown fields of the message itself.
    """

    type: Literal["opaque"] = "opaque"
    origin: str
    kind: str
    data: Any = None


ResultPart = Annotated[Text | Media | Opaque, Field(discriminator="type")]


class ToolResult(Value):
    type: Literal["tool_result"] = "tool_result"
    call_id: str = ""
    parts: tuple[ResultPart, ...] = ()
    error: bool = False
    name: str | None = None

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


Part = Annotated[Text | Reasoning | ToolCall | ToolResult | Media | Opaque, Field(discriminator="type")]


class Message(Value):
    """What was said, by whom; no identity and no place.

    Content that was `None` has no parts; an empty string is one empty `Text`.
    """

    role: Role
    parts: tuple[Part, ...] = ()
    name: str | None = None

    @classmethod
    def of(cls, role: Role, text: str) -> Message:
        """A message of plain text."""
        return cls(role=role, parts=(Text(text=text),))

    @property
    def text(self) -> str:
        """Its own words: the texts, joined by line breaks, without results and reasoning."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    @cached_property
    def hash(self) -> str:
        """64 hex digits over the canonical form."""
        return digest("message", self.canonical)

    @cached_property
    def canonical(self) -> str:
        """The canonical JSON: what is hashed, and what a store keeps."""
        return canonical(lean(self))


class Node(Value):
    """A message at a place. The first parent is the path; further ones make it a merge.

    `attempt` counts equal siblings, so that two tries with the same words are two nodes.
    `created_at` is outside the id.
    """

    id: str
    parents: tuple[str, ...] = ()
    message: Message
    attempt: int = 0
    created_at: datetime | None = None

    @classmethod
    def make(
        cls,
        message: Message,
        parents: tuple[str, ...] = (),
        attempt: int = 0,
        created_at: datetime | None = None,
    ) -> Node:
        """The node with its id worked out."""
        identity = node_id(message.hash, parents, attempt)
        return cls.model_construct(
            id=identity, parents=parents, message=message, attempt=attempt, created_at=created_at
        )

    @property
    def parent(self) -> str | None:
        return self.parents[0] if self.parents else None

    @property
    def role(self) -> Role:
        return self.message.role

    @property
    def text(self) -> str:
        return self.message.text

    @property
    def merged_from(self) -> tuple[str, ...]:
        return self.parents[1:]


class Mark(Value):
    """What is said about a node later. The newest mark of a name holds.

    Names: `status` ({status: ok|failed|abandoned, reason}), `label`, `pin`,
    `importance`, `hidden`, `incomplete`, `stop`, `model`, `usage`, `source`,
    `annotation`, `attachments`, `sidechain`, `erased`, `effects` (what was done and not undone),
    `merged` (what a merge brought), `picked` (the original of a copy).
    """

    node: str
    name: str
    value: Any = True
    at: datetime | None = None


def canonical(value: Any) -> str:
    """JSON with one spelling: sorted keys, no spaces, no escapes beyond JSON's own."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(domain: str, text: str) -> str:
    """SHA-256 in hex, tagged with what is hashed and the version of the form."""
    tagged = f"ctxtree {domain} {HASH_VERSION}\n{text}"
    return hashlib.sha256(tagged.encode("utf-8")).hexdigest()


def node_id(message_hash: str, parents: tuple[str, ...], attempt: int) -> str:
    form = {"attempt": attempt, "message": message_hash, "parents": list(parents)}
    return digest("node", canonical(form))


def lean(value: Any) -> Any:
    """A value as plain JSON data, without the fields that hold their default (`type` stays)."""
    if isinstance(value, Value):
        fields = type(value).model_fields
        return {
            name: lean(held)
            for name, held in value.__dict__.items()
            if name in fields
            and (name == "type" or held != fields[name].default)
            and not (isinstance(held, dict) and not held)
        }
    if isinstance(value, tuple):
        return [lean(item) for item in value]
    return value


_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def clean(value: Any) -> tuple[Any, int]:
    """A JSON-like value with what JSON cannot hold mended, and how much that was.

    Every unpaired surrogate becomes U+FFFD, paired halves the one character that they spell; NaN and infinities
    become their names. Iterative, so depth does not matter.
    """
    if isinstance(value, str):
        return _clean_text(value)
    count = 0
    root = [value]
    todo: list[tuple[Any, Any]] = [(root, 0)]
    while todo:
        holder, key = todo.pop()
        item = holder[key]
        if isinstance(item, str):
            holder[key], found = _clean_text(item)
            count += found
        elif isinstance(item, float) and not math.isfinite(item):
            holder[key] = json.dumps(item)
            count += 1
        elif isinstance(item, dict):
            copy: dict[str, Any] = {}
            for name, inner in item.items():
                fixed, found = _clean_text(name) if isinstance(name, str) else (name, 0)
                copy[fixed] = inner
                count += found
            holder[key] = copy
            todo.extend((copy, name) for name in copy)
        elif isinstance(item, list | tuple):
            holder[key] = items = list(item)
            todo.extend((items, index) for index in range(len(items)))
    return root[0], count


def sendable(text: str) -> Any:
    """The value of a JSON text that a model wrote, as strict JSON can hold it.

    NaN, infinities and numbers beyond a double become strings, unpaired surrogates U+FFFD. Raises ValueError for
    what is no JSON, RecursionError if it is nested too deep.
    """
    value = json.loads(text, parse_constant=str, parse_float=finite)
    return clean(value)[0] if _SURROGATE_ESCAPE.search(text) else value


def spells_object(text: str) -> bool:
    """True for the JSON text of an object that every reader takes alike: `sendable` changes nothing in it."""
    try:
        held = json.loads(text, parse_constant=_refuse, parse_float=_checked)
    except (ValueError, RecursionError):
        return False
    return isinstance(held, dict) and not (_SURROGATE_ESCAPE.search(text) and clean(held)[1])


def _refuse(text: str) -> Any:
    raise ValueError(text)


def _checked(text: str) -> float:
    number = finite(text)
    return number if isinstance(number, float) else _refuse(text)


def finite(text: str) -> float | str:
    """A number of a JSON text, or the text where it is beyond a double."""
    number = float(text)
    return number if math.isfinite(number) else text


def _clean_text(text: str) -> tuple[str, int]:
    if text.isascii() or not _SURROGATE.search(text):
        return text, 0
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return joined, max(1, joined.count("\ufffd") - text.count("\ufffd"))


def texts(message: Message) -> Iterator[str]:
    """Every piece of text in a message that a reader could search: words, results, transcripts."""
    for part in message.parts:
        if isinstance(part, Text):
            yield part.text
        elif isinstance(part, ToolResult):
            yield from (inner.text for inner in part.parts if isinstance(inner, Text))
        elif isinstance(part, Media) and part.transcript:
            yield part.transcript
