"""Whether words ask for a move at all, and with which verb.

A clause asks if it holds a verb of the tables as an order: outside quotation marks, not denied, not told of,
not on a condition, no plain question, no code. Wrong jumps cost more than a question back, so doubt means no.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Literal

from ctxtree.resolve.keys import lettered, names_plan, plan_keys
from ctxtree.resolve.tables import (
    ASKING,
    BARE,
    CALLED,
    CHOICES,
    CLAUSE,
    CODE,
    CONDITION,
    CONDITIONED,
    CONVERSED,
    DENIED,
    DESIRED,
    DROPPED,
    FOLLOWING,
    HAN_COMPLAINT,
    HAN_LEAD,
    INVITED,
    JOINED,
    LEAD,
    LETTING,
    LOGGED,
    MOVES,
    ORDERED,
    PICKS,
    POLITE,
    QUOTED,
    REFUSAL,
    REPORTED,
    RETRACTED,
    SENTENCE_LIKE,
    TOLD,
    UNDOES,
    WORLD,
)

ALONE = 80
"""Characters of a message in which something is chosen without its name: in a longer one it is an aside."""

NAME = 6
"""Characters of a Chinese plan's name with a word around it."""

Style = Literal["", "move", "undo", "choice", "pick"]


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for: `style` "" for nothing.

    `phrase` follows the verb, `before` stands in front of it in its clause, `aside` is the clause before, `said` the whole
    clause. `refused` are the plans turned down. Without an order, `phrase` is what was spoken of all the same.
    """

    style: Style
    phrase: str
    before: str = ""
    aside: str = ""
    refused: tuple[str, ...] = ()
    said: str = ""


@dataclass(slots=True)
class _Heard:
    """What the clauses so far have said."""

    order: Order = Order("", "")
    refused: tuple[str, ...] = ()
    spoken: str = ""
    aside: str = ""
    turned_down: bool = False
    condition: bool = False


def order(words: str) -> Order:
    """The order in the words; of several the last one counts."""
    text = unicodedata.normalize("NFKC", words).replace("’", "'").strip()
    masked = QUOTED.sub(lambda quoted: "\0" * len(quoted.group()), text)
    masked = JOINED.sub(",  ", masked)
    if CODE.search(masked) or LOGGED.search(masked):
        return Order("", text)
    heard = _Heard()
    for clause in CLAUSE.finditer(masked):
        _hear(heard, clause, text, _sentence(masked, clause))
    style = heard.order.style
    if style and not (style == "pick" and (len(text) > ALONE or re.search(r"[?？]", masked))):
        return replace(heard.order, refused=heard.refused)
    if not heard.spoken and not heard.refused and _is_place(masked):
        return Order("move", text)
    return Order("", heard.spoken or text, refused=heard.refused)


def _hear(heard: _Heard, clause: re.Match[str], text: str, sentence: str) -> None:
    """Take in one clause: an order, a refusal, a mention, or what the next clause hangs on."""
    said, whole = clause.group(), text[clause.start() : clause.end()]
    verb, style = _verb(said, heard.turned_down)
    if verb is None:
        if re.search(REFUSAL, said, re.IGNORECASE):
            heard.refused, heard.turned_down = (*heard.refused, *lettered(whole)), True
        heard.order = Order("", "") if _retracted(said) else heard.order
    else:
        _judge(heard, said[: verb.start()], verb, style, whole[verb.end() :], sentence)
    heard.condition = bool(re.search(CONDITION, said, re.IGNORECASE))
    heard.aside = whole


def _judge(heard: _Heard, before: str, verb: re.Match[str], style: Style, rest: str, sentence: str) -> None:
    """Whether a clause with a verb orders, denies or only mentions a move."""
    if _denied(before):
        denied = lettered(rest)
        heard.refused, heard.spoken, heard.turned_down = (*heard.refused, *denied), rest, True
        heard.order = heard.order if denied else Order("", "")
    elif heard.condition or _mentioned(verb, style, sentence) or _nowhere(verb, rest):
        heard.spoken = rest
    elif style != "pick" or not heard.order.style:
        wished = style == "move" and DESIRED.search(before) and not _conversed(rest)
        heard.order = Order("pick" if wished else style, rest, before, heard.aside, said=verb.string)


def _verb(clause: str, turned_down: bool) -> tuple[re.Match[str] | None, Style]:
    """The first verb of a move in a clause; without one a choice, of a plan by name or in any words."""
    named = names_plan(clause)
    choices = (*CHOICES, *FOLLOWING) if turned_down else CHOICES
    picks = (*PICKS, *FOLLOWING) if turned_down else PICKS
    tables: tuple[tuple[Style, tuple[str, ...]], ...] = (
        ("move", MOVES),
        ("undo", UNDOES),
        ("choice", choices if named else ()),
        ("pick", () if named else picks),
    )
    for style, patterns in tables:
        found = re.search("|".join(patterns), clause, re.IGNORECASE) if patterns else None
        if found is not None:
            return found, style
    return None, ""


def _conversed(rest: str) -> bool:
    return (
        bool(CONVERSED.search(rest) or plan_keys(rest)) or re.match(r"\s*(?!my |our )[a-z]", rest) is not None
    )


def _denied(before: str) -> bool:
    if re.search(INVITED, before, re.IGNORECASE):
        return False
    return any(re.search(pattern, before, re.IGNORECASE) for pattern in DENIED)


def _retracted(words: str) -> bool:
    return bool(re.search(RETRACTED, words.rstrip(" .。!！,，"), re.IGNORECASE))


def _mentioned(verb: re.Match[str], style: Style, sentence: str) -> bool:
    """A move that is told of, thought about or asked about, and not asked for."""
    before, after = verb.string[: verb.start()], verb.string[verb.end() :]
    if style in ("move", "undo") and (TOLD.search(after) or WORLD.search(after) or _called(verb, after)):
        return True
    if style == "move" and re.search(r"把.+$", before) and not _conversed(after):
        return True
    if LETTING.search(before) or _retracted(after) or re.search(CONDITIONED, after, re.IGNORECASE):
        return True
    if not _leads(before, verb.group()):
        return True
    if any(re.search(pattern, before, re.IGNORECASE) for pattern in REPORTED):
        return not re.search(INVITED, before, re.IGNORECASE)
    return _wondered(sentence)


def _nowhere(verb: re.Match[str], rest: str) -> bool:
    """An order to go back *to* something, of which no word is left."""
    return re.search(r"(?:to|到)\s*$", verb.group(), re.IGNORECASE) is not None and not re.search(r"\w", rest)


def _wondered(sentence: str) -> bool:
    """A question that asks about a move, and is no polite order."""
    if not re.search(r"[?？]\W*$|[吗呢]\W*$", sentence) and not re.match(ASKING[0], sentence, re.IGNORECASE):
        return bool(re.search(ASKING[1], sentence))
    if any(re.search(pattern, sentence, re.IGNORECASE) for pattern in ASKING):
        return True
    return not re.search(POLITE + "|" + INVITED + r"|\b(?:how|what) about\b", sentence, re.IGNORECASE)


def _called(verb: re.Match[str], after: str) -> bool:
    """Whether the verb is the first half of a name: "undo button", 回滚脚本."""
    return bool(CALLED.match(after)) and not re.search(r"(?:to|到)\s*$", verb.group())


def _leads(before: str, verb: str) -> bool:
    """Whether a verb after these words is an order, and not what somebody does or a thing is called."""
    if not verb[:1].isascii():
        return bool(re.fullmatch(HAN_LEAD, before) or re.fullmatch(HAN_COMPLAINT, before))
    bare = before.replace("\0", "")
    return (
        bool(re.fullmatch(r"\W*" + LEAD, bare, re.IGNORECASE))
        or bool(re.search(ORDERED + "|" + DROPPED, bare, re.IGNORECASE))
        or re.search(r"[\u3400-\u9fff]\s*$", bare) is not None
    )


def _sentence(text: str, clause: re.Match[str]) -> str:
    """The sentence around a clause, its mark at the end with it."""
    start = max((text.rfind(mark, 0, clause.start()) for mark in ".!?。！？\n"), default=-1) + 1
    end = re.compile(r"[!?。！？\n]|\.(?!\w)").search(text, max(clause.end() - 1, 0))
    return text[start : end.end() if end else len(text)].strip()


def _is_place(masked: str) -> bool:
    """A short name of a place, with no verb of its own."""
    if len(masked.split()) > 10 or len(masked) > 80 or re.search(r"[?？]|[,;，；。!！]\s*\S", masked):
        return False
    short = len(masked.split()) <= 3 and (masked.isascii() or len(masked) <= NAME)
    named = bool(BARE.search(masked)) or (short and bool(plan_keys(masked)))
    return named and not SENTENCE_LIKE.search(masked)
