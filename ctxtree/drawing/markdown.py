"""A path as CommonMark. Words are shown as they were typed: no heading, image, link or tag of theirs comes to life.

Code in fences stays code; prose has its punctuation escaped where that would mean something (CommonMark 0.31, 2.4).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxtree.drawing.pieces import Piece, pieces
from ctxtree.drawing.sketch import Spot
from ctxtree.drawing.visible import one_line

_ACTIVE = re.compile(r"[\\`*\[\]<~|$]|(?<![^\W_])_|_(?![^\W_])|&(?=[#A-Za-z])")
_START = re.compile(r"^(?:([#>=+-])|(\d{1,9})([.)]))")
_GAP = re.compile(r"\n(?:[ \t]*\n)+")
_INDENTED = re.compile(r"^(?: {4}| {0,3}\t)", re.M)


def markdown(path: Sequence[Spot]) -> str:
    """A heading for each message with its label and status, then its words, calls and results."""
    blocks = []
    for spot in path:
        tags = " ".join(tag for tag in spot.tags if not tag.startswith("("))
        blocks.append(f"### {spot.node.role}" + (f" {_escaped(tags)}" if tags else ""))
        blocks += [block for piece in pieces(spot.node.message) for block in _blocks(piece)]
    return "\n\n".join(blocks) + "\n"


def _blocks(piece: Piece) -> list[str]:
    text = piece.text
    match piece.kind:
        case "prose":
            return [_paragraph(one) for one in _GAP.split(text) if one.strip()]
        case "code":
            return [fenced(text, piece.title)]
        case "thought":
            return (
                ["\n>\n".join(_quoted(one) for one in _GAP.split(text) if one.strip())]
                if text.strip()
                else []
            )
        case "call":
            return [f"Call {inline(piece.title)}"]
        case "result" | "error":
            name = f" of {inline(piece.title)}" if piece.title else ""
            return [("Error" if piece.kind == "error" else "Result") + name, fenced(text)]
        case _:
            return [f"({_escaped(one_line(piece.title, 200))})", *([_paragraph(text)] if text else [])]


def _quoted(text: str) -> str:
    return "\n".join(f"> {row}" for row in _paragraph(text).split("\n"))


def fenced(text: str, info: str = "") -> str:
    """A code block whose fence no line of the text can close."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    language = re.sub(r"[^\w+#.-]", "", info.split()[0]) if info.split() else ""
    return f"{fence}{language}\n{text}\n{fence}"


def inline(text: str) -> str:
    """A code span; the run of backticks around it is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{one_line(text, 400)}{pad}{fence}" if text.strip() else ""


def _paragraph(text: str) -> str:
    if _INDENTED.search(text):
        return fenced(text.strip("\n"))
    return "\\\n".join(_row(row) for row in text.strip("\n").split("\n") if row.strip())


def _row(row: str) -> str:
    bare = row.strip(" \t")
    indent = "&nbsp;" * (len(row) - len(row.lstrip(" ")))
    return indent + _escaped(bare)


def _escaped(text: str) -> str:
    """One line of text with everything that means something in Markdown made literal."""
    text = _ACTIVE.sub(lambda found: "\\" + found[0], text)
    return _START.sub(lambda found: f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}", text)
