"""The arguments of a call as targets want them: always a JSON object."""

from __future__ import annotations

import json
from typing import Any

from ctxtree.model import ToolCall
from ctxtree.tokens import arguments_text


def arguments_object(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object that strict JSON can hold; what is none stands under `_raw`.

    The text that is sent elsewhere spells the same object.
    """
    if isinstance(call.arguments, str) or not _odd(call.arguments):
        return call.object
    held: dict[str, Any] = json.loads(arguments_text(call))
    return held


def wrapped(call: ToolCall) -> bool:
    """True if the arguments were no JSON object."""
    return (
        isinstance(call.arguments, str) and list(call.object) == ["_raw"] and '"_raw"' not in call.arguments
    )


def repaired(call: ToolCall) -> bool:
    """True if the arguments were an object with values that JSON, or any text, cannot hold."""
    if isinstance(call.arguments, str):
        return bool(call.arguments) and not wrapped(call) and arguments_text(call) != call.arguments
    return _odd(call.arguments)


def _odd(arguments: dict[str, Any]) -> bool:
    """True where NaN or an infinity may stand, which Python writes and JSON does not know."""
    text = json.dumps(arguments, default=str)
    return "NaN" in text or "Infinity" in text
