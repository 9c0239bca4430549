"""Mask: a text, a message or a plain value, the same without its secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ctxtree.errors import NotFound
from ctxtree.masking import detectors
from ctxtree.masking.pem import without_keys
from ctxtree.masking.table import EMAIL, NAME, TABLE, WORD, is_secret, name_in
from ctxtree.model import Media, Message, Node, Opaque, Part, Reasoning, Text, ToolCall, ToolResult

VERSION = 1
"""Grows when the table changes: what was derived under an older one is made anew."""
OPTIONAL = ("email", "detect-secrets")

Finder = Callable[[str], Iterator[tuple[str, str]]]
"""Text -> kinds and secrets that stand in it."""


def mask_for(also: Sequence[str] = ()) -> Mask:
    """A mask by the table, and by `also`: "email", "detect-secrets". Raises NotFound for another name."""
    unknown = [name for name in also if name not in OPTIONAL]
    if unknown:
        raise NotFound(
            f"nothing to mask is called {unknown[0]!r}; beside the table there are {', '.join(OPTIONAL)}"
        )
    finder = detectors.finder() if "detect-secrets" in also else None
    return Mask("email" in also, finder)


class Mask:
    """Gives each secret as `[redacted: kind]`. Equal texts give equal texts, and masking twice changes nothing.

    Cost: about half a second a megabyte.
    """

    def __init__(self, email: bool = False, finder: Finder | None = None) -> None:
        self._shapes = (*TABLE, EMAIL) if email else TABLE
        self._finder = finder
        self.key = f"masked {VERSION}{' email' * email}{' detect-secrets' * (finder is not None)}"
        """Under which what is derived from masked texts is kept apart from the rest."""

    def text(self, text: str) -> str:
        """The text with each secret replaced by its kind."""
        text = without_keys(text, tag("private-key"))
        for kind, shape in self._shapes:
            text = shape.sub(lambda found, kind=kind: _replaced(found, kind), text)  # type: ignore[misc]
        for kind, secret in self._finder(text) if self._finder else ():
            text = text.replace(secret, tag(kind))
        return text

    def value(self, value: Any, name: str = "") -> Any:
        """JSON data with every string masked; a string in a field of a telling name is one whole."""
        if isinstance(value, str):
            whole = NAME.search(name) and is_secret(name, value, True)
            return tag("password" if WORD.search(name) else "secret") if whole else self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(inner, key) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.value(inner, name) for inner in value)
        return value

    def message(self, message: Message, sealed: bool = False) -> Message:
        """A message masked. What a provider has signed is not edited, unless it is only to be read (`sealed`)."""
        if message.role == "state":
            parts: tuple[Part, ...] = tuple(
                Text(text=self._json(part.text)) if isinstance(part, Text) else part for part in message.parts
            )
        else:
            parts = tuple(self._part(part, sealed) for part in message.parts)
        return (
            message if parts == message.parts else Message(role=message.role, parts=parts, name=message.name)
        )

    def node(self, node: Node, sealed: bool = False) -> Node:
        """The node at its place with its message masked; the id stays that of the original."""
        said = self.message(node.message, sealed)
        return node if said is node.message else node.model_copy(update={"message": said})

    def to_read(self, node: Node) -> Node:
        """A node that is masked but for what is sealed, with that masked too: to be looked at, never to be sent."""
        sealed = any(isinstance(part, Reasoning) and part.sealed for part in node.message.parts)
        return self.node(node, sealed=True) if sealed else node

    def _part(self, part: Any, sealed: bool) -> Any:
        match part:
            case Text():
                return part.model_copy(update={"text": self.text(part.text)})
            case Reasoning() if not part.sealed or sealed:
                summary = tuple(map(self.text, part.summary))
                return part.model_copy(update={"text": self.text(part.text), "summary": summary})
            case ToolCall():
                held = part.arguments
                masked = self._json(held) if isinstance(held, str) else self.value(held)
                fields = {name: getattr(part, name) for name in ToolCall.model_fields}
                return ToolCall(**{**fields, "arguments": masked})
            case ToolResult():
                return part.model_copy(update={"parts": tuple(self._part(one, sealed) for one in part.parts)})
            case Media():
                texts = {name: getattr(part, name) for name in ("url", "name", "transcript")}
                return part.model_copy(
                    update={name: text and self.text(text) for name, text in texts.items()}
                )
            case Opaque():
                return part.model_copy(update={"data": self.value(part.data)})
        return part

    def _json(self, text: str) -> str:
        """JSON text masked string by string, so that it can still be read; any other text as it is."""
        try:
            held = json.loads(text)
        except (ValueError, RecursionError):
            return self.text(text)
        masked = self.value(held)
        return text if masked == held else json.dumps(masked, ensure_ascii=False)


def tag(kind: str) -> str:
    """What stands for a secret."""
    return f"[redacted: {kind}]"


def _replaced(found: re.Match[str], kind: str) -> str:
    groups = found.groupdict()
    group = next((name for name in ("secret", "escaped") if groups.get(name) is not None), None)
    if group is None:
        return found[0] if found[0].startswith("[redacted") else tag(kind)
    secret = groups[group]
    if secret.startswith("[redacted"):
        return found[0]
    name = name_in(found) if "name" in groups else None
    quoted = bool(groups.get("quote")) or group == "escaped"
    if name is not None and not (name and is_secret(name, secret, quoted)):
        return found[0]
    start, end = found.start(group) - found.start(), found.end(group) - found.start()
    kind = "password" if name and WORD.search(name) else kind
    return found[0][:start] + tag(kind) + found[0][end:]
