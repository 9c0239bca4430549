"""Appends that find their own place: a tool result goes to its call, a client's list to what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ctxtree.errors import ConflictError
from ctxtree.model import Message, Node
from ctxtree.store.records import Draft
from ctxtree.tree import Step, find_call, results_end, step_of

if TYPE_CHECKING:
    from ctxtree.handle import Tree

UNSEEN = frozenset({"state", "note"})
"""Roles that clients do not see."""


def append_result(tree: Tree, draft: Draft) -> Node:
    """Store a tool result behind its call and the results already there, on whatever branch the call is.

    Two workers that answer calls of one message end on one path. A result whose call is nowhere goes
    below the head.
    """
    wanted = draft.message.results[0].call_id
    steps = tree._history.steps(tree._head)
    at = find_call(steps, wanted)
    if at is not None:
        return _chain(tree, steps, at, draft)
    elsewhere = _call_elsewhere(tree, wanted, {step.id for step in steps})
    if elsewhere is None:
        return tree._add([draft])[-1]
    branch, other, place = elsewhere
    end = results_end(other, place)
    done = tree._database.append(
        tree._history.tree, other[end - 1].id, [draft], branch if end == len(other) else None
    )
    return done.nodes[-1]


def _chain(tree: Tree, path: Sequence[Step], at: int, draft: Draft) -> Node:
    end = results_end(path, at)
    if end < len(path):
        return tree._add([draft])[-1]
    for _ in range(8):
        try:
            done = tree._database.append(
                tree._history.tree, tree._head, [draft], tree._branch, if_moved="raise"
            )
        except ConflictError:
            if not _follow(tree):
                return tree._add([draft])[-1]
            continue
        tree._history.extend(done.nodes)
        tree._head = done.nodes[-1].id
        return done.nodes[-1]
    return tree._add([draft])[-1]


def _follow(tree: Tree) -> bool:
    """Go along with a branch that only took up further results of the same message."""
    row = tree._database.branch(tree._history.tree, tree._branch)
    moved = tree._database.path(tree._history.tree, row.head) if row and row.head else ()
    ids = [node.id for node in moved]
    if tree._head not in ids:
        return False
    beyond = moved[ids.index(tree._head) + 1 :]
    if any(node.role != "tool" for node in beyond):
        return False
    tree._head = moved[-1].id
    return True


def _call_elsewhere(tree: Tree, call_id: str, seen: set[str]) -> tuple[str, list[Step], int] | None:
    """The newest branch off the active path on which a call of this id stands. Cost: the whole tree."""
    for row in reversed(tree._database.branches(tree._history.tree)):
        if row.head is None or row.head in seen:
            continue
        path = [step_of(node) for node in tree._database.path(tree._history.tree, row.head)]
        at = find_call(path, call_id)
        if at is not None and path[at].id not in seen:
            return row.name, path, at
    return None


def sync(tree: Tree, messages: Sequence[Message]) -> tuple[Node, ...]:
    """Match a client's list against the tree, active path first; store what is new below the match."""
    said = list(messages)
    system = said.pop(0) if said and said[0].role in ("system", "developer") else None
    here, known = _match(tree, said)
    if system is not None and not _has_system(tree, system):
        if here is None:
            said[:known] = []
        draft = Draft(system, datetime.now(UTC), marks=(("slot", True),))
        _stand(tree, here)
        added = tree._add([draft])
        return (*added, *tree._add([Draft(message, datetime.now(UTC)) for message in said[known:]]))
    _stand(tree, here)
    return tree._add([Draft(message, datetime.now(UTC)) for message in said[known:]])


def _has_system(tree: Tree, system: Message) -> bool:
    return any(
        node.role in ("system", "developer") and node.message.hash == system.hash for node in tree.path()
    )


def _stand(tree: Tree, here: str | None) -> None:
    """Move the handle to a node, on a branch of its own unless it is there already."""
    below = here if here is not None else _leading(tree)
    if below != tree._head and not _only_unseen_below(tree, below):
        tree._open(None, below)


def _leading(tree: Tree) -> str | None:
    """The last of the leading system messages of the active path: where a new beginning hangs."""
    last = None
    for node in tree.path():
        if node.role not in ("system", "developer"):
            break
        last = node.id
    return last


def _only_unseen_below(tree: Tree, here: str | None) -> bool:
    path = tree.path()
    ids = [node.id for node in path]
    start = ids.index(here) + 1 if here in ids else 0
    return (here is None or here in ids) and all(node.role in UNSEEN for node in path[start:])


def _match(tree: Tree, said: Sequence[Message]) -> tuple[str | None, int]:
    """The node up to which the list is known, and how many of its messages that is."""
    here: str | None = None
    active = {node.id for node in tree.path()}
    for count, message in enumerate(said):
        found = _child(tree, here, message, active)
        if found is None:
            return here, count
        here = found
    return here, len(said)


def _child(tree: Tree, here: str | None, message: Message, active: set[str]) -> str | None:
    """The child that says this, the active one first; states, notes and leading systems are passed over."""
    todo = [here]
    while todo:
        children = tree._database.children(tree._history.tree, todo.pop())
        same = [node for node in children if node.message.hash == message.hash]
        if same:
            return next((node.id for node in same if node.id in active), same[-1].id)
        passed = [n for n in children if n.role in UNSEEN or n.role in ("system", "developer")]
        todo += [node.id for node in sorted(passed, key=lambda node: node.id in active)]
    return None
