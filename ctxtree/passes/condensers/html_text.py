"""Web pages: the title and the visible text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from ctxtree.passes.condensers.cut import Shortener
from ctxtree.passes.condensers.kinds import is_prose
from ctxtree.passes.condensers.log import log
from ctxtree.passes.condensers.plain import plain

_HIDDEN = frozenset({"script", "style", "template", "svg", "noscript", "iframe", "object"})
_BLOCKS = re.compile(
    "address|article|aside|blockquote|br|d[dlt]|div|fieldset|figcaption|footer|form|h[1-6r]|header|li|main|nav"
    "|[ou]l|option|p|pre|section|table|title|tr"
)
_READ = 400_000
_END = 60_000


def html(text: str) -> Shortener:
    """A shortener for the visible text of a page; of over 460,000 characters only both ends are read."""
    shown = visible(text)
    lines = [line for line in shown.split("\n") if line.strip()]
    return plain(shown) if is_prose(lines[:60]) else log(shown)


def visible(text: str) -> str:
    """The words that a browser would show, a block a line and " | " between cells; the title stands first."""
    reader = _Reader()
    if len(text) > _READ + _END:
        cut = text.find("<", len(text) - _END)
        head = text.rfind(">", 0, _READ) + 1 or _READ
        text = text[:head] + "\n" + text[max(cut, len(text) - _END) :]
    reader.feed(text)
    reader.close()
    lines = (" ".join(line.split()).strip(" |") for line in "".join(reader.pieces).split("\n"))
    shown = "\n".join(line for line in lines if line)
    return shown if any(map(str.isalnum, shown)) else text


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in _HIDDEN:
            self._hidden.append(tag)
        elif _BLOCKS.fullmatch(tag):
            self.pieces.append("\n")
            if re.fullmatch("h[1-3]", tag):
                self.pieces.append("# ")
        elif tag in ("td", "th"):
            self.pieces.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]
        elif _BLOCKS.fullmatch(tag):
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(re.sub(r"\s+", " ", data))
