"""Where branches point: reading a head, moving it, and the log of its moves."""

from __future__ import annotations

from sqlalchemy import Connection, func, insert, select

from ctxtree.errors import NotFound
from ctxtree.store.codec import name_in, name_out
from ctxtree.store.hot import Hot
from ctxtree.store.schema import branches, meta

APPEND = b"append"


def has_branch(hot: Hot, tree: int, name: str) -> bool:
    return hot.row("head", in_tree=tree, branch=name_in(name)) is not None


def require_head(hot: Hot, tree: int, name: str) -> int | None:
    """The number of the node that a branch points at. Raises NotFound if there is no such branch."""
    row = hot.row("head", in_tree=tree, branch=name_in(name))
    if row is None:
        raise NotFound(f"no branch {name!r}")
    head: int | None = row[0]
    return head


def require_tree(hot: Hot, tree: int) -> None:
    if hot.row("tree", in_tree=tree) is None:
        raise NotFound(f"no tree {tree}")


def move_head(
    hot: Hot,
    tree: int,
    name: str,
    old: int | None,
    new: int | None,
    moment: int | None,
    reason: bytes = APPEND,
) -> None:
    """Points a branch elsewhere and logs it."""
    branch = name_in(name)
    hot.run("set_head", {"in_tree": tree, "branch": branch, "node": new, "now": moment})
    log_move(hot, tree, branch, old, new, moment, reason)


def log_move(
    hot: Hot, tree: int, branch: bytes, old: int | None, new: int | None, moment: int | None, reason: bytes
) -> None:
    """Adds a row, or lengthens the newest one if both are appends in a row on one branch."""
    last = hot.row("last_move", in_tree=tree)
    if last and reason == APPEND and (bytes(last[1]), last[2], bytes(last[3])) == (branch, old, APPEND):
        hot.run("longer_move", {"in_tree": tree, "number": last[0], "node": new, "now": moment})
        return
    row = {"tree": tree, "seq": (last[0] if last else 0) + 1, "branch": branch, "old": old, "new": new}
    hot.run("add_move", {**row, "at": moment, "reason": reason})


def add_branch(
    connection: Connection,
    tree: int,
    name: bytes,
    head: int | None,
    parent: bytes | None,
    fork: int | None,
    moment: int | None,
) -> None:
    highest = connection.scalar(select(func.max(branches.c.number)).where(branches.c.tree == tree))
    row = {"tree": tree, "name": name, "number": (highest or 0) + 1, "head": head}
    connection.execute(
        insert(branches), {**row, "parent": parent, "fork": fork, "status": b"open", "updated": moment}
    )


def new_branch(
    connection: Connection,
    hot: Hot,
    tree: int,
    base: str,
    head: int | None,
    fork: int | None,
    moment: int | None,
) -> str:
    """A branch named `base` with the first free number, beginning with `.2`."""
    start = name_in(base) + b"."
    query = select(branches.c.name).where(
        branches.c.tree == tree, branches.c.name > start, branches.c.name < name_in(base) + b"/"
    )
    taken = {bytes(name) for name in connection.scalars(query)}
    number = 2
    while start + str(number).encode() in taken:
        number += 1
    name = start + str(number).encode()
    add_branch(connection, tree, name, head, name_in(base), fork, moment)
    log_move(hot, tree, name, fork, head, moment, APPEND)
    return name_out(name)


def touch_tree(connection: Connection, hot: Hot, tree: int) -> None:
    """Remembers which tree was used last; writes only if it is another one.

    If another tree's writer is doing the same, its word is as good: neither waits for the other.
    """
    value = str(tree)
    row = hot.row("last_tree")
    if row is None:
        connection.execute(insert(meta), {"name": "last_tree", "value": value})
    elif row[0] != value and hot.row("free_last_tree"):
        hot.run("set_last_tree", {"number": value})
