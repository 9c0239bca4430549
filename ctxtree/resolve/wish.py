"""What words like "go back to that plan" ask for, read from the words alone.

A clause asks for a move if it holds a verb of the tables outside quotation marks, not denied, not
reported, not conditional and no plain question. Without any verb a short name of a place
("the parser plan", "before the tests failed", 方案 A) asks too. Wrong jumps cost more than a question
back, so doubt means no.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Any, Literal

from ctxtree.resolve.tables import (
    ASKING,
    BARE,
    CHOICES,
    CLAUSE,
    CONDITION,
    DENIED,
    ENGLISH_KEY,
    EVENT,
    FOLLOWING,
    HAN_KEY,
    HAN_LEAD,
    HAN_STEP,
    INVITED,
    LAST,
    LEAD,
    LETTER_KEY,
    LETTING,
    MOVES,
    NUMBER,
    NUMBERS,
    ORDINAL,
    PLAN_NOUN,
    POLITE,
    PREVIOUS,
    QUOTED,
    REFUSAL,
    REPORTED,
    RETRACTED,
    SENTENCE_LIKE,
    START,
    THIS,
    TOLD,
    UNDOES,
    UNITS,
    Unit,
)

Kind = Literal["count", "undo", "before", "previous", "ordinal", "start", "plan", "words"]


@dataclass(frozen=True, slots=True)
class Wish:
    """A reading of the words.

    `kind` says how the place is named, `phrase` by which words; `count` and `unit` belong to `count`,
    `count` to `ordinal` too (-1: the last), `key` to `plan`. `planned`: the words speak of a plan,
    a version or the like. `last`: of several events the last is meant. `refused`: plans that the
    words turn down.
    """

    request: bool
    kind: Kind
    phrase: str = ""
    count: int = 1
    unit: Unit = "exchange"
    key: str = ""
    planned: bool = False
    last: bool = False
    refused: tuple[str, ...] = ()


def read(words: str) -> Wish:
    """The wish in the words; of several requests the last one counts."""
    text = unicodedata.normalize("NFKC", words).replace("’", "'").strip()
    masked = QUOTED.sub(lambda quoted: "\0" * len(quoted.group()), text)
    refused: list[str] = []
    asked, spoken = "", ""
    style, ended = "", ""
    condition = False
    for clause in CLAUSE.finditer(masked):
        verb, style_here = _verb(clause.group(), turned_down=bool(refused))
        rest = text[clause.start() + verb.end() : clause.end()] if verb else ""
        if verb is None:
            refused += _turned_down(text[clause.start() : clause.end()]) if _denial(clause.group()) else []
            style = "" if _retracted(clause.group()) else style
        elif _denied(clause.group()[: verb.start()]):
            refused += _turned_down(rest)
            spoken, style = rest, style if _turned_down(rest) else ""
        elif condition or _mentioned(clause.group(), verb, _sentence(masked, clause)):
            spoken = rest
        else:
            asked, style, ended = rest, style_here, clause.group()[: verb.start()]
        condition = bool(re.search(CONDITION, clause.group(), re.IGNORECASE))
    if style:
        return _target(asked or "", style, ended, tuple(refused))
    bare = not spoken and not refused and _is_place(masked)
    return _target(spoken or text, "move", "", tuple(refused), request=bare)


def plan_keys(text: str) -> list[str]:
    """The names of plans in a text, in order: `plan A`, `方案 A` and `option a` are all "a"."""
    found: list[tuple[int, str]] = []
    for match in ENGLISH_KEY.finditer(text):
        noun, mark, number = match.group(1).lower(), match.group(2), match.group(3)
        found.append((match.start(), _key(noun, mark or number)))
    for match in HAN_KEY.finditer(text):
        noun, mark = match.group(1) or match.group(4), match.group(2) or match.group(3)
        found.append((match.start(), _key(noun, mark)))
    found += [(match.start(), _key("step", match.group(1))) for match in HAN_STEP.finditer(text)]
    return [key for _, key in sorted(found)]


def is_planned(text: str) -> bool:
    return bool(re.search(PLAN_NOUN, text, re.IGNORECASE))


def _key(noun: str, mark: str) -> str:
    number = NUMBERS.get(mark.lower()) if len(mark) > 1 or not mark.isascii() else None
    spelled = str(number) if number else mark.lower()
    group = {"version": "version ", "版本": "version ", "step": "step "}.get(noun, "")
    return group + spelled


def _verb(clause: str, turned_down: bool) -> tuple[re.Match[str] | None, str]:
    """The first verb of a move in a clause; a choice ("use it instead") counts only of a plan."""
    choices = CHOICES + FOLLOWING if turned_down else CHOICES
    for style, patterns in (("move", MOVES), ("undo", UNDOES), ("choice", choices)):
        found = re.search("|".join(patterns), clause, re.IGNORECASE)
        if found is None or (style == "choice" and not _names_plan(clause)):
            continue
        if style == "undo" and clause[found.start()].isascii() and not _leads(clause[: found.start()]):
            continue
        return found, style
    return None, ""


def _leads(before: str) -> bool:
    return bool(re.search(LEAD, before, re.IGNORECASE)) or _denied(before)


def _names_plan(clause: str) -> bool:
    return is_planned(clause) or bool(plan_keys(clause) or LETTER_KEY.search(clause))


def _denied(before: str) -> bool:
    if re.search(INVITED, before, re.IGNORECASE):
        return False
    return any(re.search(pattern, before, re.IGNORECASE) for pattern in DENIED)


def _denial(clause: str) -> bool:
    """A clause that turns a plan down without a verb of the tables: 别用方案 B 了, "plan B does not work"."""
    return bool(re.search(REFUSAL, clause, re.IGNORECASE))


def _retracted(words: str) -> bool:
    return bool(re.search(RETRACTED, words.rstrip(" .。!！"), re.IGNORECASE))


def _turned_down(text: str) -> list[str]:
    """The plans named in a refusal; a letter alone will do (别用 B 了)."""
    return plan_keys(text) or [letter.lower() for letter in LETTER_KEY.findall(text)]


def _mentioned(clause: str, verb: re.Match[str], sentence: str) -> bool:
    """A move that is told of, thought about or asked about, and not asked for."""
    before = clause[: verb.start()]
    if TOLD.search(clause[verb.end() :]) or LETTING.search(before):
        return True
    if not verb.group()[0].isascii() and not HAN_LEAD.fullmatch(before):
        return True
    if _retracted(clause[verb.end() :]):
        return True
    if any(re.search(pattern, before, re.IGNORECASE) for pattern in REPORTED):
        return not re.search(INVITED, before, re.IGNORECASE)
    if not re.search(r"[?？]\W*$|[吗呢]\W*$", sentence) and not re.match(ASKING[0], sentence, re.IGNORECASE):
        return bool(re.search(ASKING[1], sentence))
    if any(re.search(pattern, sentence, re.IGNORECASE) for pattern in ASKING):
        return True
    return not re.search(POLITE + "|" + INVITED + r"|\b(?:how|what) about\b", sentence, re.IGNORECASE)


def _sentence(text: str, clause: re.Match[str]) -> str:
    """The sentence around a clause, its mark at the end with it."""
    start = max((text.rfind(mark, 0, clause.start()) for mark in ".!?。！？\n"), default=-1) + 1
    end = re.compile(r"[!?。！？\n]|\.(?!\w)").search(text, max(clause.end() - 1, 0))
    return text[start : end.end() if end else len(text)].strip()


def _is_place(masked: str) -> bool:
    """A short name of a place, with no verb of its own."""
    if len(masked.split()) > 10 or len(masked) > 80 or re.search(r"[?？]|[,;，；。!！]\s*\S", masked):
        return False
    named = bool(BARE.search(masked)) or (len(masked.split()) <= 3 and bool(plan_keys(masked)))
    return named and not SENTENCE_LIKE.search(masked)


def _target(phrase: str, style: str, before: str, refused: tuple[str, ...], request: bool = True) -> Wish:
    """How the place is named. `before` is what stood in front of the verb: 把代码, "two steps"."""
    phrase = re.split(r"\b(?:instead of|rather than)\b", phrase, flags=re.IGNORECASE)[0]
    phrase = phrase.strip(" \t,.;!?，。；！？\"'“”「」『』`吧了吗呢").strip()
    wish = Wish(
        request,
        "words",
        phrase,
        planned=is_planned(phrase),
        last=bool(LAST.search(phrase)),
        refused=refused,
    )
    return (
        _as_count(wish, style, before)
        or _as_event(wish, style)
        or _as_plan(wish, style)
        or _as_order(wish)
        or wish
    )


def _as_count(wish: Wish, style: str, before: str) -> Wish | None:
    """ "the last two steps", "one message", 两步; an undo that names nothing is one exchange."""
    for unit, nouns in UNITS:
        counted = re.search(
            rf"(?<![A-Za-z0-9第]){NUMBER}\s*(?:more |last |个)?(?:{nouns})(?![A-Za-z0-9])",
            wish.phrase,
            re.IGNORECASE,
        )
        counted = counted or re.search(
            rf"(?<![A-Za-z0-9第]){NUMBER}\s+(?:{nouns})\W*$", before, re.IGNORECASE
        )
        if counted:
            return _with(wish, "count", count=_number(counted.group(1)), unit=unit)
        order = "last|previous|latest|prior|上一?|最后一?|刚才那?"
        single = rf"^(?:the |my |your |that )?(?:{order})\s*个?(?:{nouns})\W*$"
        if re.search(single, wish.phrase, re.IGNORECASE):
            return _with(wish, "count", unit=unit)
    if style == "undo" and (
        THIS.fullmatch(wish.phrase) or wish.phrase.lower() in ("刚才的", "刚才", "everything")
    ):
        return _with(wish, "count")
    return _with(wish, "count") if re.fullmatch("退一步|step back", wish.phrase) else None


def _as_event(wish: Wish, style: str) -> Wish | None:
    """ "before the refactor", 重构之前; "before this one" is the plan before the present one."""
    for pattern in EVENT:
        found = re.match(pattern, wish.phrase, re.IGNORECASE)
        event = found.group("event").strip(" ,，") if found else ""
        if found and (
            THIS.fullmatch(event) or re.fullmatch(r"(?:that|this) plan|这个方案", event, re.IGNORECASE)
        ):
            return _with(wish, "previous")
        if event and not re.fullmatch(r"刚才|刚刚", event):
            return _with(wish, "before", phrase=event, planned=is_planned(event))
    return _with(wish, "undo") if style == "undo" and not plan_keys(wish.phrase) and wish.phrase else None


def _as_plan(wish: Wish, style: str) -> Wish | None:
    keys = plan_keys(wish.phrase)
    if not keys and style == "choice":
        letter = re.match(r"\W*([A-Z])(?![A-Za-z])", wish.phrase)
        keys = [letter.group(1).lower()] if letter else []
    if not keys:
        return None
    return _with(wish, "undo" if style == "undo" else "plan", key=keys[0], planned=True)


def _as_order(wish: Wish) -> Wish | None:
    if START.search(wish.phrase):
        return _with(wish, "start")
    if PREVIOUS.search(wish.phrase):
        return _with(wish, "previous")
    ordinal = ORDINAL.search(wish.phrase)
    if ordinal and wish.planned:
        spelled = next(group for group in ordinal.groups() if group)
        return _with(wish, "ordinal", count=_number(spelled))
    return None


def _with(wish: Wish, kind: Kind, **changes: Any) -> Wish:
    return replace(wish, kind=kind, **changes)


def _number(word: str) -> int:
    bare = re.sub(r"^a | of$", "", word.lower().strip())
    return int(bare) if bare.isdecimal() else NUMBERS.get(bare, 1)
