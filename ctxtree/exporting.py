"""A path or a tree as something else: message lists, Markdown, drawings, a graph, the whole tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ctxtree import whole
from ctxtree.drawing import Choice, Drawing, Sketch
from ctxtree.drawing.graphs import dot, mermaid
from ctxtree.drawing.lanes import lanes
from ctxtree.drawing.markdown import markdown
from ctxtree.drawing.outline import outline
from ctxtree.drawing.page import page
from ctxtree.drawing.sides import sides
from ctxtree.errors import NotFound
from ctxtree.exporters import EXPORTERS, Exporter, tale
from ctxtree.model import Node
from ctxtree.render import plain

if TYPE_CHECKING:
    from ctxtree.handle import Tree

FORMATS = ("openai.chat", "anthropic", "ctxtree", "markdown", "html", "mermaid", "dot", *EXPORTERS)
PICTURES: dict[str, Callable[[Sketch, Choice], str]] = {
    "mermaid": mermaid,
    "dot": dot,
    "html": lambda there, choice: page(there.on(choice.branches)),
}
"""Formats that show the whole tree, or with `at` the path to a node."""


def export(tree: Tree, form: str, at: str | Node | None, choice: Choice | None = None) -> Any:
    """Message lists as data, everything else as text; `ctxtree` is the whole tree as data."""
    if not isinstance(form, str):
        raise NotFound(f"an export format is a string, not {type(form).__name__}")
    if form in ("openai.chat", "openai"):
        return plain([node.message for node in tree.path(at)], "openai.chat")
    if form == "anthropic":
        return plain([node.message for node in tree.path(at)], "anthropic")
    if form == "ctxtree":
        return _whole(tree)
    if form == "markdown":
        return markdown(_path(tree, at).spots)
    if form in PICTURES:
        there = sketch(tree) if at is None else _path(tree, at)
        return PICTURES[form](there, choice or Choice())
    if form in EXPORTERS:
        return _told(tree, EXPORTERS[form], at)
    raise NotFound(f"no export format {form!r}; there are {', '.join(FORMATS)}")


def draw(tree: Tree, style: str, choice: Choice, limit: int, page: int) -> Drawing:
    """See `Tree.draw`."""
    if style == "outline":
        return outline(sketch(tree), choice, limit, page)
    if style == "lanes":
        drawn = sketch(tree).on(choice.branches)
        if choice.kinds or choice.statuses:
            drawn = drawn.chosen(choice)
        return lanes(drawn, limit)
    raise NotFound(f"no style {style!r} of drawing; there are outline and lanes")


def draw_diff(tree: Tree, a: str | Node, b: str | Node, limit: int) -> Drawing:
    """See `Tree.draw_diff`."""
    found = tree.diff(a, b)
    common = [*tree.path(found.ancestor)[-1:]] if found.ancestor else []
    spots = {spot.id: spot for spot in _sketch_of(tree, [*common, *found.left, *found.right]).spots}
    left, right = ([spots[node.id] for node in side] for side in (found.left, found.right))
    shared = len(tree.path(found.ancestor)) if found.ancestor else 0
    names = (a.id[:8] if isinstance(a, Node) else a), (b.id[:8] if isinstance(b, Node) else b)
    return sides(spots[common[0].id] if common else None, shared, left, right, names, limit)


def sketch(tree: Tree) -> Sketch:
    """All nodes of a tree as a drawing needs them. Cost: one read of the tree, and a count of what was never counted."""
    return _sketch_of(tree, tuple(tree._database.all_nodes(tree._history.tree)))


def _path(tree: Tree, at: str | Node | None) -> Sketch:
    return _sketch_of(tree, tree.path(at))


def _sketch_of(tree: Tree, nodes: Sequence[Node]) -> Sketch:
    rows = tree._database.branches(tree._history.tree)
    heads = {row.name: row.head for row in rows if row.head is not None}
    tokens = tree._count(nodes)
    if tree._mask is not None:
        nodes = list(map(tree._mask.to_read, nodes))
        heads = {tree._mask.text(name): head for name, head in heads.items()}
    return Sketch.of(nodes, tokens, tree._history.marks(), heads, tree._head, tree.name)


def _whole(tree: Tree) -> dict[str, Any]:
    """Everything that a tree holds; of a redacted view without the secrets, as a sound tree of its own."""
    mask = tree._mask
    held: Any = tree._database
    held = held if mask is None else held.unmasked
    made = whole.as_data(held, next(row for row in held.trees() if row.id == tree._history.tree))
    return made if mask is None else whole.masked(made, mask.message, mask.value)


def _told(tree: Tree, exporter: Exporter, at: str | Node | None) -> Any:
    """A path, or a tree with its active leaf, in another program's format."""
    path = tree.path(at)
    whole_tree = exporter.whole and at is None
    nodes = tree._database.all_nodes(tree._history.tree) if whole_tree else path
    marks: dict[str, dict[str, Any]] = {}
    for mark in tree._database.marks(tree._history.tree):
        marks.setdefault(mark.node, {})[mark.name] = mark.value
    return exporter.write(tale(tree.name, nodes, marks, path))


def graph(tree: Tree) -> Any:
    """A networkx `DiGraph`, parent to child, with role, status, label, tokens and branch of each node."""
    import networkx

    database, number = tree._database, tree._history.tree
    marks = tree._history.marks()
    nodes = tuple(database.all_nodes(number))
    tokens = tree._count(nodes)
    heads = {row.head: row.name for row in database.branches(number)}
    made = networkx.DiGraph()
    for node in nodes:
        held = marks.get(node.id, {})
        status = (held.get("status") or {}).get("status", "ok")
        made.add_node(
            node.id, role=node.role, status=status, label=held.get("label"), tokens=tokens[node.id],
            branch=heads.get(node.id),
        )  # fmt: skip
        made.add_edges_from((parent, node.id) for parent in node.parents)
    return made
