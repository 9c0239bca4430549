"""English and Chinese text in sentences and clauses, word for word.

A sentence ends at `. ! ?` before a space, at `。！？` anywhere, and at a line break, unless the line is
prose wrapped in the middle of a sentence. Decimals, file names, initials and common abbreviations end
nothing. Every piece is a substring of the text, except that white space in it is made single spaces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

LONGEST = 400

_FENCED = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.S)
_BULLET = re.compile(r"\s*(?:[-*+•·]|\d{1,3}[.)、]|[a-z]\)|[（(]\d{1,2}[)）])\s+")
_END = re.compile(r"[.!?]+[\"'”’)\]*_`]*(?=\s|$|[⺀-鿿])|[。！？]+[」』”’）)\"']*|…+(?=\s)")
_CLAUSE = re.compile(r"[,;:](?=\s)|[，；：、—]| [-–] | (?=\((?!\s))|(?<=\)) ")
_ABBREVIATIONS_TABLE = (
    "e.g i.e eg ie etc vs cf al mr mrs ms dr prof st no nos fig figs eq sec ch vol pp approx dept "
    "est inc ltd co corp jr sr u.s u.k a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec ver "
    "resp incl min max "
)
_ABBREVIATIONS = frozenset(_ABBREVIATIONS_TABLE.split())
_MAYBE_LAST_TABLE = "etc inc ltd co corp jr sr a.m p.m no min max "
_MAYBE_LAST = frozenset(_MAYBE_LAST_TABLE.split())
_LETTERED_TABLE = (
    "plan option appendix section part version step case class group type figure variant branch point grade "
    "team model vitamin item list column row letter key and or a in is"
)
_LETTERED = frozenset(_LETTERED_TABLE.split())
_CLOSED = tuple(".!?。！？:：;；…")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`listed`: it stands in a list."""

    text: str
    listed: bool = False


def split(text: str, longest: int = LONGEST) -> tuple[str, ...]:
    """The texts of `sentences`."""
    return tuple(sentence.text for sentence in sentences(text, longest))


def sentences(text: str, longest: int = LONGEST) -> tuple[Sentence, ...]:
    """The sentences of a text, in order; list items without their mark; none over `longest` characters.

    What stands in a code fence is left out. A longer sentence is cut at its clauses, and a piece without
    any at the limit. Cost is linear.
    """
    if "```" in text or "~~~" in text:
        text = _FENCED.sub("\n", text)
    found: list[Sentence] = []
    for block in _blocks(text):
        for sentence in _of_block(block.text):
            pieces = _pieces(sentence, longest) if len(sentence) > longest else [sentence]
            found.extend(Sentence(piece, block.listed) for piece in pieces)
    return tuple(found)


def clauses(text: str) -> tuple[str, ...]:
    """The clauses of a sentence, each with the mark that ends it."""
    borders = [found.end() for found in _CLAUSE.finditer(text)]
    cuts = [0, *borders, len(text)]
    pieces = (text[start:end].strip() for start, end in pairwise(cuts))
    return tuple(piece for piece in pieces if piece)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a clause if one ends in the second half, else at a word; ` …` at the cut."""
    if len(text) <= limit:
        return text
    room = max(0, limit - 2)
    borders = [found.start() for found in _CLAUSE.finditer(text, 0, room)]
    if borders and borders[-1] >= limit // 2:
        return text[: borders[-1]].rstrip() + " …"
    space = text.rfind(" ", limit // 2, room)
    return text[: space if space > 0 else room].rstrip() + " …"


def both_ends(text: str, limit: int) -> str:
    """The first two thirds and the last third of `limit` characters, and how much is left out between them."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit - limit * 2 // 3
    return f"{text[:head]} […{len(text) - limit} characters…] {text[len(text) - tail :]}"


def flat(text: str) -> str:
    """The text on one line, with single spaces."""
    return " ".join(text.split())


def _blocks(text: str) -> list[Sentence]:
    """Lines, with wrapped prose joined again."""
    blocks: list[Sentence] = []
    wrapped = False
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped:
            wrapped = False
        elif wrapped and _continues(blocks[-1].text, line):
            blocks[-1] = Sentence(f"{blocks[-1].text} {stripped}", blocks[-1].listed)
        else:
            bullet = _BULLET.match(stripped)
            rest = stripped[bullet.end() :].strip() if bullet else ""
            blocks.append(Sentence(rest, True) if rest else Sentence(stripped))
            wrapped = True
    return blocks


def _continues(before: str, line: str) -> bool:
    """True if a line goes on with the sentence before it: long enough to be wrapped, unfinished, then small letters."""
    if len(before) < 40 or before.endswith(_CLOSED):
        return False
    return line[0].islower() and _BULLET.match(line) is None


def _of_block(block: str) -> list[str]:
    found: list[str] = []
    start = 0
    for end in _END.finditer(block):
        if _abbreviated(block, start, end):
            continue
        piece = flat(block[start : end.end()])
        if piece:
            found.append(piece)
        start = end.end()
    rest = flat(block[start:])
    return [*found, rest] if rest else found


def _abbreviated(block: str, start: int, end: re.Match[str]) -> bool:
    """True if the point belongs to a short form (`e.g.`, `J.`) or to a number that opens the sentence (`1.`)."""
    if end[0] != ".":
        return False
    before = block[max(start, end.start() - 24) : end.start()].split()
    word = before[-1].lstrip("(\"'").lower() if before else ""
    if len(word) == 1 and word.isalpha() and word.isascii() and word != "i":
        return before[-1].isupper() and (len(before) < 2 or before[-2].lower() not in _LETTERED)
    if word.isdigit() and not block[start : end.start()].strip()[len(word) :]:
        return True
    if word not in _ABBREVIATIONS:
        return False
    after = block[end.end() :].lstrip()[:1]
    if word == "no":
        return after.isdigit()
    return word not in _MAYBE_LAST or not after or not after.isupper()


def _pieces(sentence: str, longest: int) -> list[str]:
    pieces: list[str] = []
    held = ""
    for clause in clauses(sentence):
        if held and len(held) + len(clause) + 1 > longest:
            pieces.append(held)
            held = ""
        joint = " " if held and f"{held[-1]} {clause}" in sentence else ""
        held += joint + clause
        while len(held) > longest:
            space = held.rfind(" ", longest // 2, longest)
            cut = space if space > 0 else longest
            pieces.append(held[:cut].rstrip())
            held = held[cut:].lstrip()
    return [*pieces, held] if held else pieces
