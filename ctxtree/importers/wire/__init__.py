"""Messages as the APIs take them, turned into `Message` values.

`WIRE` names the readers. Each takes records and gives (index of the record, `Parsed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxtree.errors import FormatError
from ctxtree.importers.lines import DEPTH, depth_over
from ctxtree.importers.wire import blocks, chat, responses
from ctxtree.importers.wire.parsed import Parsed
from ctxtree.model import Message, clean

Reader = Callable[[Iterable[Mapping[str, Any]]], Iterator[tuple[int, Parsed]]]

WIRE: Mapping[str, Reader] = {
    "openai.chat": chat.parse,
    "anthropic": blocks.parse,
    "openai.responses": responses.parse,
}


def parsed_from(items: Sequence[Mapping[str, Any]], format: str = "openai.chat") -> list[Parsed]:
    """The messages of an API's list with what stood beside them: marks, time, fields that remain.

    Unpaired surrogates become U+FFFD. Cost: one pass over the items. `FormatError` (with the item's
    number, from 1, as `line`) for an item that is no object, has no known role, or nests too deep.
    """
    reader = WIRE.get("openai.chat" if format == "openai" else format)
    if reader is None:
        raise FormatError("messages", 0, f"{format!r} is none of {', '.join(WIRE)}")
    checked = [_checked(index, item) for index, item in enumerate(items, 1)]
    found: list[Parsed] = []
    for index, parsed in reader(checked):
        if parsed.fault:
            role = checked[index].get("role")
            shown = repr(role) if isinstance(role, str) and len(role) <= 20 else type(role).__name__
            raise FormatError("messages", index + 1, f"the role is {shown}; it must be one that {format} has")
        found.append(parsed)
    return found


def messages_from(items: Sequence[Mapping[str, Any]], format: str = "openai.chat") -> list[Message]:
    """The messages of an API's list: `openai.chat`, `anthropic` or `openai.responses`.

    A record may give two messages (Anthropic results and words), several Responses items one.
    Fields of a message that are not known are kept as `Opaque(kind="fields")`, unknown parts whole.
    Errors as for `parsed_from`.

    >>> [message.role for message in messages_from([{"role": "user", "content": "hi"}])]
    ['user']
    """
    return [parsed.message for parsed in parsed_from(items, format)]


def _checked(number: int, item: Any) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        raise FormatError("messages", number, f"a {type(item).__name__}; it must be an object")
    if depth_over(dict(item), DEPTH):
        raise FormatError("messages", number, f"nested deeper than {DEPTH} levels")
    mended: Mapping[str, Any] = clean(dict(item))[0]
    return mended
