"""What stands where something was cut. Fixed wording: the prefix of a request must not change."""

from __future__ import annotations

from ctxtree.model import Media, Opaque

ID_DIGITS = 12


def recall_words(node: str, recall: bool) -> str:
    """`recall 0123456789ab`, or nothing when there is no id or no one to ask."""
    return f"recall {node[:ID_DIGITS]}" if recall and node else ""


def condensed(shown: int, whole: int, node: str, recall: bool) -> str:
    words = recall_words(node, recall)
    return f"[condensed: {shown:,} of {whole:,} tokens shown{f'; whole: {words}' if words else ''}]"


def truncated(whole: int, node: str, recall: bool) -> str:
    words = recall_words(node, recall)
    return f"[… truncated: {whole:,} tokens{f'; whole: {words}' if words else ''}]"


def left_out(whole: int, line: str, node: str, recall: bool) -> str:
    """The one line of a tool result that is not shown."""
    parts = (f"tool output left out: {whole:,} tokens", line, recall_words(node, recall))
    return f"[{'; '.join(part for part in parts if part)}]"


def superseded(newer: str, node: str, recall: bool) -> str:
    words = recall_words(node, recall)
    return f"[superseded by #{newer[:ID_DIGITS]}{f'; as it was then: {words}' if words else ''}]"


def media(part: Media, node: str, recall: bool) -> str:
    """`[image image/png 1024x768, left out; recall 0123456789ab]`."""
    size = f"{part.width}x{part.height}" if part.width and part.height else ""
    words = " ".join(word for word in (part.kind, part.mime, size) if word)
    called = recall_words(node, recall)
    return f"[{words}, left out{f'; {called}' if called else ''}]"


def opaque(part: Opaque, node: str, recall: bool) -> str:
    called = recall_words(node, recall)
    return f"[{part.kind[:40]}, left out{f'; {called}' if called else ''}]"
