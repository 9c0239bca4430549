"""Across branches: merge what one found, pick exchanges, say what each side knows that the other does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ctxtree import facts, findings
from ctxtree.alike import compare
from ctxtree.errors import NotFound
from ctxtree.model import Message, Node, canonical
from ctxtree.results import Diff, Fact
from ctxtree.states import StateChange, changes, taken_over
from ctxtree.store.records import Draft
from ctxtree.tokens import counter_for
from ctxtree.trail import Trail
from ctxtree.tree import fold_state

if TYPE_CHECKING:
    from ctxtree.handle import Tree

CARRIED = ("stop", "model", "incomplete")
"""Marks that a copy has too; what else is said of a node is said of that node alone."""


def merge(tree: Tree, branch: str, note: str | None) -> Node:
    """See `Tree.merge`."""
    row = tree._database.branch(tree._history.tree, branch)
    if row is None or row.head is None:
        raise NotFound(f"no branch {branch!r} with anything on it")
    found = diff(tree, tree._head, row.head)
    brought, against = _facts_from(tree, found, row.head)
    if not (found.right or brought or against):
        return _stands_for(tree, row.head)
    patch, conflicts = taken_over(_state_since(tree, row.head))
    beside = (findings.of_state(patch, conflicts), findings.of_facts(brought, against))
    text = "\n".join(part for part in (*_words(tree, branch, found, note), *beside) if part)
    told = _told(branch, found, conflicts, [*brought, *(theirs for _, theirs in against)])
    now = datetime.now(UTC)
    state = [Draft(Message.of("state", canonical(patch)), now)] if patch else []
    merged = Draft(Message.of("note", text), now, merged=(row.head,), marks=(("merged", told),))
    node = tree._add([*state, merged])[-1]
    for fact in brought:
        tree.remember(fact.text, fact.key, "branch")
    return node


def _words(tree: Tree, branch: str, found: Diff, note: str | None) -> tuple[str, str]:
    """Where it comes from, and what was found there or what the caller says of it."""
    origin = findings.provenance(branch, found.right, found.ancestor, len(found.left))
    if note is not None:
        return origin, note
    return origin, findings.findings(found.right, tree._history.marks(), counter_for("o200k_base"))


def _told(
    branch: str, found: Diff, conflicts: Sequence[StateChange], facts: Sequence[Fact]
) -> dict[str, Any]:
    """The mark `merged`: the note as data, and the facts that need not be told again."""
    ends = (found.right[0].id, found.right[-1].id) if found.right else (None, None)
    return {
        "branch": branch, "from": ends[0], "to": ends[1], "nodes": len(found.right),
        "fork": found.ancestor.id if found.ancestor else None, "gap": len(found.left),
        "conflicts": [
            {"field": list(one.field), "base": one.base, "here": one.left, "there": one.right} for one in conflicts
        ],
        "facts": [fact.text for fact in facts],
    }  # fmt: skip


def _facts_from(tree: Tree, found: Diff, head: str) -> tuple[list[Fact], list[tuple[Fact, Fact]]]:
    """The facts that a branch brings, and those that this side has said otherwise on its own (here, there)."""
    marks = tree._history.marks()
    before = [marks.get(node.id, {}).get("merged") or {} for node in tree.path() if node.role == "note"]
    done = {text for mark in before for text in mark.get("facts", ())}
    read = tree._desk.readings
    brought, against = [], []
    for fact in found.right_facts:
        if fact.text in done:
            continue
        ours = next((one for one in found.left_facts if _about_the_same(one, fact, read)), None)
        if ours is None or _was_said(tree, ours, head):
            brought.append(replace(fact, key=ours.key) if ours else fact)
        else:
            against.append((ours, fact))
    return brought, against


def _was_said(tree: Tree, fact: Fact, head: str) -> bool:
    """True if a fact once held in these words on the path to `head` too: that side has only gone on from it."""
    rows = tree._database.fact_rows(tree._history.tree, fact.key)
    there = _path_ids(tree, head)
    return any(row.text == fact.text and row.node in there for row in rows)


def _about_the_same(one: Fact, other: Fact, read: facts.Readings) -> bool:
    return one.key == other.key or compare(read(one.text), read(other.text)) != "other"


def _stands_for(tree: Tree, head: str) -> Node:
    """The node on the active path that already holds what a branch has."""
    path = tree.path()
    for node in reversed(path):
        if node.id == head or any(head in _path_ids(tree, other) for other in node.merged_from):
            return node
    return path[-1]


def _path_ids(tree: Tree, at: str) -> set[str]:
    return {node.id for node in tree._database.path(tree._history.tree, at)}


def _state_since(tree: Tree, head: str) -> tuple[StateChange, ...]:
    """The state of the active path against that of `head`, from the last node that both know of."""
    here, there = tree.path(), tree.path(head)
    known = _known(tree, here)
    shared = [place for place, node in enumerate(there) if node.id in known]
    base = fold_state(there[: shared[-1] + 1]) if shared else {}
    return changes(base, fold_state(here), fold_state(there))


def diff(tree: Tree, a: str | Node | None, b: str | Node | None) -> Diff:
    """See `Tree.diff`."""
    left, right = tree.path(a) if a is not None else (), tree.path(b) if b is not None else ()
    common = 0
    for mine, other in zip(left, right, strict=False):
        if mine.id != other.id:
            break
        common += 1
    known_left, known_right = _known(tree, left), _known(tree, right)
    return Diff(
        left[common - 1] if common else None,
        tuple(node for node in left[common:] if node.id not in known_right),
        tuple(node for node in right[common:] if node.id not in known_left),
        changes(fold_state(left[:common]), fold_state(left), fold_state(right)),
        *_facts_apart(tree, left, right),
    )


def _facts_apart(
    tree: Tree, left: Sequence[Node], right: Sequence[Node]
) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """The facts of a branch that hold on one path and not, in the same words, on the other."""
    mine, other = (
        [fact for fact in facts.facts(tree._database, tree._history.tree, ids) if fact.scope == "branch"]
        for ids in ({node.id for node in left}, {node.id for node in right})
    )
    held, there = {(one.key, one.text) for one in mine}, {(one.key, one.text) for one in other}
    return (
        tuple(one for one in mine if (one.key, one.text) not in there),
        tuple(one for one in other if (one.key, one.text) not in held),
    )


def _known(tree: Tree, path: Sequence[Node]) -> set[str]:
    """The nodes of a path, those that merges brought to it, and those whose copies stand on it."""
    known = {node.id for node in path}
    todo = list(path)
    marks = tree._history.marks()
    while todo:
        node = todo.pop()
        if picked := marks.get(node.id, {}).get("picked"):
            known.add(str(picked))
        for other in node.merged_from:
            fresh = [one for one in tree._database.path(tree._history.tree, other) if one.id not in known]
            known.update(one.id for one in fresh)
            todo += fresh
    return known


@dataclass(slots=True)
class _Units:
    """Nodes of the tree as units, over the paths that were looked at."""

    tree: Tree
    trails: list[Trail]

    def of(self, node: Node) -> tuple[Node, ...]:
        """The exchange that a node belongs to, with all results of its calls, or the node alone."""
        for trail in self.trails:
            if node.id in trail.home:
                return trail.words_of(trail.home[node.id])
        path = [*self.tree.path(node)]
        path += self._results(path)
        self.trails.append(Trail(path))
        return self.of(node)

    def _results(self, path: Sequence[Node]) -> Iterator[Node]:
        """The results that follow below the end of a path, of several the newest."""
        asked = {call.id for node in path for call in node.message.calls}
        last = path[-1]
        while True:
            below = self.tree._database.children(self.tree._history.tree, last.id)
            answers = [
                node
                for node in below
                if node.role == "tool" and any(r.call_id in asked for r in node.message.results)
            ]
            if not answers:
                return
            last = answers[-1]
            yield last


def pick(tree: Tree, nodes: str | Node | Sequence[str | Node]) -> tuple[Node, ...]:
    """See `Tree.pick`."""
    wanted = [nodes] if isinstance(nodes, str | Node) else list(nodes)
    marks = tree._history.marks()
    units = _Units(tree, [])
    chosen: dict[str, Node] = {}
    for ref in wanted:
        for node in units.of(tree.node(ref)):
            if marks.get(node.id, {}).get("erased"):
                raise NotFound(f"node {node.id} is erased; there is nothing to copy")
            chosen[node.id] = node
    here = {node.id: node for node in tree.path()}
    copies = {marks.get(node, {}).get("picked"): node for node in here}
    fresh = [node for node in chosen.values() if node.id not in here and node.id not in copies]
    added = iter(tree._add([_copy(node, marks.get(node.id, {})) for node in fresh]))
    made = {node.id: copy for node, copy in zip(fresh, added, strict=True)}
    return tuple(made.get(node) or here.get(node) or here[copies[node]] for node in chosen)


def _copy(node: Node, marks: Any) -> Draft:
    held = tuple((name, marks[name]) for name in CARRIED if marks.get(name) is not None)
    return Draft(node.message, datetime.now(UTC), marks=(("picked", node.id), *held))
