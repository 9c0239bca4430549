"""Foreign text made harmless to look at: nothing moves a cursor, turns a line around or hides."""

from __future__ import annotations

import unicodedata

from ctxtree.model import Message
from ctxtree.tree import brief_call

_JOINERS = "\u200c\u200d"
_NAMES = {
    "\0": "NUL",
    "\a": "BEL",
    "\b": "BS",
    "\t": "TAB",
    "\n": "LF",
    "\r": "CR",
    "\x1b": "ESC",
    "\x7f": "DEL",
}


def visible(text: str, keep: str = "") -> str:
    """The text with what cannot be seen shown: ESC as ‹ESC›, U+202E as ‹U+202E›.

    Odd spaces become a space; joiners inside words and emoji stay. `keep`: control characters that stay as they are.
    """
    return text if text.isprintable() else text.translate(_Shown({ord(char): char for char in keep}))


class _Shown(dict[int, str]):
    """Code point -> what stands for it, found out once for each."""

    def __missing__(self, code: int) -> str:
        shown = self[code] = _shown(chr(code))
        return shown


def _shown(char: str) -> str:
    if char.isprintable() or char in _JOINERS:
        return char
    kind = unicodedata.category(char)
    if kind in ("Zs", "Cs"):
        return " " if kind == "Zs" else "\ufffd"
    return f"‹{_NAMES.get(char) or f'U+{ord(char):04X}'}›"


def one_line(text: str, limit: int) -> str:
    """The text on one line of at most `limit` characters before what is hidden is shown."""
    line = " ".join(text[: limit * 4].split())
    return visible(line if len(line) <= limit else line[: limit - 1] + "…")


def headline(message: Message, limit: int = 60) -> str:
    """One line of a message: its words, else its calls, else its results."""
    text = message.text or ", ".join(brief_call(call, 30) for call in message.calls)
    text = text or " | ".join(result.text[: limit * 2] for result in message.results)
    return one_line(text, limit)
