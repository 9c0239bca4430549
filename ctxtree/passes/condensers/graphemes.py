"""Where a text may be cut without breaking a character as a reader sees it.

The rules are those of UAX #29 for extended grapheme clusters, a little on the safe side: a place
that is doubtful counts as no border. Everything here costs a few characters' look-around.
"""

from __future__ import annotations

import unicodedata

_ZWJ = "\u200d"
_FLAGS = 10_000
# Letters by category that still belong to what stands before them (Thai and Lao AM, halfwidth sound marks).
_TRAILING = frozenset("\u0e33\u0eb3\uff9e\uff9f\u200c" + _ZWJ)
_PREPENDED = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e")


def is_border(text: str, at: int) -> bool:
    """True if cutting before `text[at]` splits no grapheme; both ends of the text are borders."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return not (before == "\r" and after == "\n")
    if before == _ZWJ or _joins_before(after) or before in _PREPENDED:
        return False
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    if _is_regional(before) and _is_regional(after):
        return _regional_run(text, at) % 2 == 0
    if "\u1100" <= before <= "\u115f" and ("\u1100" <= after <= "\u115f" or "\uac00" <= after <= "\ud7a3"):
        return False
    return not (unicodedata.combining(before) == 9 and unicodedata.category(after) == "Lo")


def border_before(text: str, at: int) -> int:
    """The nearest border at or before `at`."""
    at = min(max(at, 0), len(text))
    while not is_border(text, at):
        at -= 1
    return at


def border_after(text: str, at: int) -> int:
    """The nearest border at or after `at`."""
    at = min(max(at, 0), len(text))
    while not is_border(text, at):
        at += 1
    return at


def _joins_before(char: str) -> bool:
    if char in _TRAILING or "\u1160" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7fb":
        return True
    if "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f":
        return True
    return unicodedata.category(char) in ("Mn", "Me", "Mc")


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _regional_run(text: str, stop: int) -> int:
    """How many halves of flags stand before `stop`; of more than 10,000 the last ones are taken for whole."""
    start = stop
    while start and stop - start < _FLAGS and _is_regional(text[start - 1]):
        start -= 1
    return stop - start
