"""Moves that can be taken back: where each left from and led to, kept as a mark on the node that was left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxtree.errors import NoBacktrack
from ctxtree.model import Node

if TYPE_CHECKING:
    from ctxtree.handle import Tree

_OK = {"status": "ok", "reason": ""}


def record(tree: Tree, left: str, origin: str, before: Any) -> None:
    """Keep a move from `origin` to the branch that is active now; `before`: the status that the node had."""
    after = tree.marks(left).get("status")
    move = {"from": origin, "to": tree.branch, "before": before, "after": after, "undone": False}
    tree._mark(left, {"moved": move})


def undo(tree: Tree) -> Node | None:
    """See `Tree.undo`."""
    for left, marks in tree._history.marks().items():
        move = marks.get("moved")
        if move and move["to" if not move["undone"] else "from"] == tree.branch:
            return _turn(tree, left, move)
    raise NoBacktrack(f"no move led to branch {tree.branch!r}; `ctxtree branches` lists where to switch to")


def _turn(tree: Tree, left: str, move: dict[str, Any]) -> Node | None:
    undone = not move["undone"]
    node = tree.switch(move["from"] if undone else move["to"])
    status = (move["before"] or _OK) if undone else move["after"]
    tree._mark(left, {"status": status, "moved": {**move, "undone": undone}})
    return node
