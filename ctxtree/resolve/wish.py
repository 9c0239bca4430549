"""What words like "go back to that plan" point at, read from the words alone.

`asking` says whether they ask for a move; here is how they name the place: by count, event, plan, order or words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from ctxtree.resolve.asking import Order, order
from ctxtree.resolve.counts import number
from ctxtree.resolve.keys import is_planned, plan_keys
from ctxtree.resolve.places import (
    AFTER,
    BEYOND,
    BLAME,
    BY,
    COURTESY,
    CURRENT,
    EDITION,
    EVENT,
    LAST,
    NUMBER,
    ORDINAL,
    ORIGINAL,
    OTHER,
    OWN,
    PRAISE,
    PREVIOUS,
    START,
    THERE,
    THIS,
    UNITS,
    WITHOUT,
    Unit,
)

_EDGES = " \t,.;!?，。；！？"

Kind = Literal["count", "undo", "before", "changed", "previous", "other", "ordinal", "start", "plan", "words"]


@dataclass(frozen=True, slots=True)
class Wish:
    """A reading of the words.

    `kind` says how the place is named, `phrase` by which words; `count` and `unit` belong to `count`,
    `count` to `ordinal` too (-1: the last), `key` to `plan`. `planned`: the words speak of a plan,
    a version or the like. `last`: of several events the last is meant. `refused`: plans that the
    words turn down. `chosen`: something is chosen, which is no move if it stands in the newest turn.
    `picked`: chosen without the name of a plan, which asks only where a plan fits. `by`: who proposed it.
    `said`: the clause of the verb. `pointed`: the phrase is what a word like "it" pointed back at.
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
    chosen: bool = False
    picked: bool = False
    by: str = ""
    pointed: bool = False
    said: str = ""


def read(words: str) -> Wish:
    """The wish in the words; of several requests the last one counts."""
    asked = _turned_back(order(words))
    phrase = re.split(BEYOND, asked.phrase, maxsplit=1, flags=re.IGNORECASE)[0]
    phrase = COURTESY.sub("", phrase).strip(_EDGES + "\"'“”「」『』`吧了吗呢").strip()
    aside = _pointed_at(asked, phrase)
    phrase = phrase if aside is None else aside
    chosen = asked.style in ("choice", "pick")
    wish = Wish(
        bool(asked.style) and not (chosen and CURRENT.search(phrase)),
        "words",
        phrase,
        planned=is_planned(phrase),
        last=bool(LAST.search(phrase)),
        refused=asked.refused,
        chosen=chosen,
        picked=asked.style == "pick",
        pointed=bool(aside),
        said=asked.said,
    )
    return (
        _as_count(wish, asked)
        or _as_event(wish, asked)
        or _as_plan(wish, asked)
        or _as_order(wish)
        or _as_words(wish)
    )


def _turned_back(asked: Order) -> Order:
    """A move to nowhere after a clause that blames something undoes that: 存数据库这步不要了，退回去."""
    nowhere = asked.style == "move" and re.fullmatch(r"(?:to|back|去|吧|\W)*", asked.phrase)
    return replace(asked, style="undo", phrase="") if nowhere and BLAME.search(asked.aside) else asked


def _pointed_at(asked: Order, phrase: str) -> str | None:
    """What a phrase that only points means: the object before the verb (把重构撤掉), or the clause before.

    Of that clause only what it praises ("the conda one was better, use it") or, for an undo, blames.
    """
    if asked.style == "undo":
        if not re.fullmatch(r"(?:掉|了|去|it|that|它|这个|那个)*", phrase):
            return None
        taken = re.search(r"把(.+?)(?:都|全部?|给)*$", asked.before) or re.match(
            r"\W*(.+?)(?:[那这]一?(?:步|段|次|条|个(?:修改|改动|步骤))|的(?:修改|改动))都?$", asked.before
        )
        blamed = BLAME.sub(" ", PRAISE.sub(" ", asked.aside)) if BLAME.search(asked.aside) else ""
        return taken.group(1) if taken else re.sub(r"\s+an?\s*$", "", blamed.strip(_EDGES)).strip("了")
    if THERE.fullmatch(phrase) and PRAISE.search(asked.aside):
        return PRAISE.sub(" ", asked.aside).strip(_EDGES)
    return None


def _as_count(wish: Wish, asked: Order) -> Wish | None:
    """ "the last two steps", "one message", 两步; an undo that names nothing is one exchange."""
    if wish.chosen:
        return None
    if OWN.match(wish.phrase):
        return _with(wish, "count", unit="turn")
    for unit, nouns in UNITS:
        counted = re.search(
            rf"(?<![A-Za-z0-9第]){NUMBER}\s*(?:more |last |个)?(?:{nouns})(?![A-Za-z0-9])",
            wish.phrase,
            re.IGNORECASE,
        )
        counted = counted or re.search(
            rf"(?<![A-Za-z0-9第]){NUMBER}\s*(?:more |last |个)?(?:{nouns})[\W都全]*$",
            asked.before,
            re.IGNORECASE,
        )
        if counted:
            return _with(wish, "count", count=number(counted.group(1)), unit=unit)
        newest = r"last|previous|latest|prior|most recent|上一?|最后(?:那?一)?|最近(?:那?一)?|刚才|刚刚|上次"
        single = rf"(?:the |my |your |that |this )?(?:{newest})\s*(?:的|那|一|个|次|\s)*(?:{nouns})\W*"
        if re.fullmatch(single, wish.phrase, re.IGNORECASE):
            return _with(wish, "count", unit=unit)
    bare = THIS.fullmatch(wish.phrase) or wish.phrase.lower() in ("刚才的", "刚才", "刚刚的", "everything")
    back = re.fullmatch(r"退一步|step back|刚才|刚刚|where we were|just now", wish.phrase, re.IGNORECASE)
    empty = asked.style == "move" and not wish.phrase
    return _with(wish, "count") if (asked.style == "undo" and bare) or back or empty else None


def _as_event(wish: Wish, asked: Order) -> Wish | None:
    """ "before the refactor", 重构之前; "before this one" is the plan before the present one."""
    for pattern in EVENT:
        found = re.match(pattern, wish.phrase, re.IGNORECASE)
        event = found.group("event").strip(" ,，") if found else ""
        if found and (
            THIS.fullmatch(event) or re.fullmatch(r"(?:that|this) plan|这个方案", event, re.IGNORECASE)
        ):
            return _with(wish, "previous")
        if event and not re.fullmatch(r"刚才|刚刚|还是", event):
            return _with(wish, "before", phrase=event, planned=is_planned(event))
    for pattern in WITHOUT:
        found = re.fullmatch(pattern, wish.phrase, re.IGNORECASE)
        if found and found.group("event"):
            return _with(wish, "before", phrase=found.group("event"), planned=False)
    for pattern in AFTER:
        found = re.match(pattern, wish.phrase, re.IGNORECASE)
        if found and found.group("event"):
            return _with(wish, "words", phrase=found.group("event"), planned=False)
    undone = asked.style == "undo" and not plan_keys(wish.phrase) and wish.phrase
    return _with(wish, "undo") if undone else None


def _as_plan(wish: Wish, asked: Order) -> Wish | None:
    keys = plan_keys(wish.phrase)
    if not keys and (wish.chosen or wish.pointed):
        letter = re.match(r"\W*([A-Z])(?![A-Za-z])", wish.phrase)
        keys = [letter.group(1).lower()] if letter else []
    if not keys:
        return None
    return _with(wish, "undo" if asked.style == "undo" else "plan", key=keys[0], planned=True)


def _as_order(wish: Wish) -> Wish | None:
    if START.search(wish.phrase) and not wish.chosen:
        return _with(wish, "start")
    if OTHER.search(wish.phrase):
        return _with(wish, "other", planned=True)
    if PREVIOUS.search(wish.phrase):
        return _with(wish, "previous")
    count = ordinal_in(wish.phrase) if wish.planned or EDITION.search(wish.phrase) else 0
    if count:
        return _with(wish, "ordinal", count=count)
    original = ORIGINAL.search(wish.phrase) if not wish.planned else None
    changed = ORIGINAL.sub(" ", wish.phrase).strip(" 的") if original else ""
    return _with(wish, "changed", phrase=changed) if changed else None


def ordinal_in(phrase: str) -> int:
    """The number of "the second plan", -1 for the last, 0 without one."""
    found = ORDINAL.search(phrase)
    return number(next(group for group in found.groups() if group)) if found else 0


def _as_words(wish: Wish) -> Wish:
    """A place told in words, or by who proposed it: "what Alice suggested"."""
    by = BY.search(wish.phrase) if wish.chosen else None
    return replace(wish, by=by.group(1) or by.group(2), planned=True) if by else wish


def _with(wish: Wish, kind: Kind, **changes: Any) -> Wish:
    return replace(wish, kind=kind, **changes)
