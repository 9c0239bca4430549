"""Names: what may be one, and the next free one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection

from ctxtree.errors import NotFound, StoreError

_HEX = re.compile(r"[0-9a-fA-F]{8,}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
LONGEST = 300
"""Characters of a name."""


def check_name(name: str, what: str) -> str:
    """The name, if it can never be taken for something else. Raises `StoreError` with what is wrong.

    Names are data: they never become paths, SQL or markup, so `../x` is as good as any other.
    """
    if not isinstance(name, str) or not name.strip():
        raise StoreError(f"a {what} needs a name")
    if len(name) > LONGEST:
        raise StoreError(f"a {what}'s name has {len(name)} characters; at most {LONGEST} are allowed")
    if what == "tree":
        return name
    if name == "HEAD" or "~" in name or "^" in name or _CONTROL.search(name):
        raise StoreError(f"{name!r} cannot name a {what}: no HEAD, ~, ^ or control character")
    if _HEX.fullmatch(name):
        raise StoreError(f"{name!r} cannot name a {what}: it could be the id of a node")
    return name


def tree_name(found: str, otherwise: str) -> str:
    """A name that a tree can have, for one that a log gives: `otherwise` if it is blank, cut and told apart if too long."""
    if not found.strip():
        return otherwise
    if len(found) <= LONGEST:
        return found
    return (
        f"{found[: LONGEST - 13]} {hashlib.sha256(found.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
    )


def next_name(branch: str, taken: Collection[str]) -> str:
    """`main.2`, `main.3`, …: the first that is free."""
    base, dot, number = branch.rpartition(".")
    stem = base if dot and number.isdigit() and base else branch
    count = 2
    while f"{stem}.{count}" in taken:
        count += 1
    return f"{stem}.{count}"


def fact_key(text: str) -> str:
    """A key for a fact without one: the same for the same words in another case or spacing."""
    words = " ".join(re.findall(r"\w+", text.casefold()))
    if not words:
        raise NotFound("a fact needs words")
    return "fact-" + hashlib.sha256(words.encode()).hexdigest()[:12]
