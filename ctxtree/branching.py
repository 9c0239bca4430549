"""Second tries: retry, edit, go back. Each opens a branch or adds a node; nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ctxtree import moves
from ctxtree.errors import AmbiguousBacktrack, NoBacktrack, NotFound
from ctxtree.model import Message, Node, Text
from ctxtree.resolve import Candidate, Resolution, resolve
from ctxtree.results import Backtrack
from ctxtree.saying import parts_of
from ctxtree.store.records import Draft
from ctxtree.tree import attempt_start, is_failure

if TYPE_CHECKING:
    from ctxtree.handle import Tree


def retry(
    tree: Tree, reason: str | None, at: str | Node | None, effects: Sequence[str] | None = None
) -> Node | None:
    """See `Tree.retry`."""
    path = tree.path()
    start = _start(tree, path, at)
    attempt = path[start:]
    failed = reason is not None or any(
        is_failure(result) for node in attempt for result in node.message.results
    )
    tree.mark(attempt[-1], status="failed" if failed else "abandoned", reason=reason, effects=effects)
    before = path[start - 1] if start else None
    tree._open(None, before.id if before else None)
    return before


def edit(tree: Tree, node: str | Node, text: str | Sequence[Any]) -> Node:
    """See `Tree.edit`."""
    old = tree.node(node)
    parts = (*parts_of(text), *(part for part in old.message.parts if not isinstance(part, Text)))
    tree._open(None, old.parent)
    said = Message(role=old.role, parts=parts, name=old.message.name)
    return tree._add([Draft(said, datetime.now(UTC))])[-1]


def find(tree: Tree, words: str) -> Resolution:
    """See `Tree.find`."""
    if not isinstance(words, str):
        raise NoBacktrack(f"words to go back by are a text, not {type(words).__name__}")
    path = tree.path()
    here = {node.id for node in path}
    others = [node for node in tree._database.all_nodes(tree._history.tree) if node.id not in here]
    return resolve(words, path, tree._history.marks(), tree._head, others)


def backtrack(
    tree: Tree,
    words: str,
    reason: str | None,
    choice: str | Node | None,
    effects: Sequence[str] | None = None,
) -> Backtrack:
    """See `Tree.backtrack`."""
    found = find(tree, words)
    picked = _picked(found, tree.node(choice).id if choice is not None else None)
    target = picked.target if picked.at == "before" else picked.node
    left, origin = tree._head, tree.branch
    before = tree.marks(left).get("status") if left is not None else None
    if left is not None and left != target:
        failed = bool(reason) or _ended_in_error(tree.path(), target)
        tree.mark(left, status="failed" if failed else "abandoned", reason=reason, effects=effects)
    tree._open(None, target)
    if left is not None:
        moves.record(tree, left, origin, before)
    return Backtrack(tree.node(target or picked.node), tree._branch, picked.score, picked.why)


def _ended_in_error(path: Sequence[Node], target: str | None) -> bool:
    """True if the last result beyond the node gone back to is a failure."""
    place = next((at for at, node in enumerate(path) if node.id == target), -1)
    results = [result for node in path[place + 1 :] for result in node.message.results]
    return bool(results) and is_failure(results[-1])


def _picked(found: Resolution, choice: str | None) -> Candidate:
    """The winner, or the candidate that the caller chose. Raises rather than guess."""
    if choice is not None:
        chosen = next((one for one in found.candidates if one.node == choice), None)
        if chosen is None:
            raise NotFound(f"{choice[:8]} is none of the {len(found.candidates)} nodes that fit these words")
        return chosen
    if not found.request:
        raise NoBacktrack("these words ask for no move")
    if not found.candidates:
        raise NoBacktrack("nothing here fits these words")
    if found.winner is None:
        count = len(found.candidates)
        fit = "1 node fits in part" if count == 1 else f"{count} nodes fit about equally well"
        message = f"{fit}; name one by its id or label"
        raise AmbiguousBacktrack(message, found.candidates)
    return found.winner


def _start(tree: Tree, path: Sequence[Node], at: str | Node | None) -> int:
    """Where the newest attempt starts, or the one at or after a given node."""
    if at is not None:
        identity = tree.node(at).id
        place = next((i for i, node in enumerate(path) if node.id == identity), None)
        if place is None:
            raise NotFound(f"{at!r} is not on the active path")
        return place if path[place].role in ("assistant", "tool") else place + 1
    start = attempt_start(path)
    if start is None:
        raise NotFound("nothing was tried since the last user message")
    return start
