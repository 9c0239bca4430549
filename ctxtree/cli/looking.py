"""trees, branches, tree, log, show, diff, facts, state, recall: looking at what is there."""

from __future__ import annotations

import json as json_text

import typer
from rich.text import Text

from ctxtree.cli import show
from ctxtree.cli.compiling import JSON
from ctxtree.cli.opening import store_of, tree_of
from ctxtree.exporting import headline, markdown
from ctxtree.model import lean


def trees(context: typer.Context, json: bool = JSON) -> None:
    """All trees of the store."""
    names = store_of(context.obj).trees()
    show.data(names) if context.obj.json or json else show.line("\n".join(names))


def branches(context: typer.Context, json: bool = JSON) -> None:
    """The branches of a tree."""
    found = tree_of(context.obj).branches()
    if context.obj.json or json:
        show.data(found)
        return
    show.rows(
        ("", "branch", "head", "from", "fork", "status", "nodes", "tokens"),
        (("*" if b.active else "", b.name, (b.head or "")[:8], b.parent, (b.fork or "")[:8], b.status, b.nodes, b.tokens) for b in found),
    )  # fmt: skip


def tree(
    context: typer.Context, all: bool = typer.Option(False, "--all", help="Every node."), json: bool = JSON
) -> None:
    """Draw the tree: forks and heads, with runs of single steps folded; `--all` shows each node."""
    handle = tree_of(context.obj)
    graph = handle.graph()
    if context.obj.json or json:
        show.data(
            [
                {"id": node, **held, "parents": list(graph.predecessors(node))}
                for node, held in graph.nodes(data=True)
            ]
        )
        return
    names: dict[str, list[str]] = {}
    for branch in handle.branches():
        if branch.head:
            names.setdefault(branch.head, []).append(branch.name + (" ← active" if branch.active else ""))
    todo = [(node, "", True) for node in reversed([n for n in graph if not graph.in_degree(n)])]
    while todo:
        node, indent, last = todo.pop()
        folded = 0
        children = list(graph.successors(node))
        _draw(handle, graph, node, indent, last, names)
        while (
            not all
            and len(children) == 1
            and children[0] not in names
            and len(list(graph.successors(children[0]))) == 1
        ):
            folded, children = folded + 1, list(graph.successors(children[0]))
        deeper = indent if len(children) <= 1 and indent == "" else indent + ("   " if last else "│  ")
        if folded:
            show.line(f"{deeper}⋮ {folded} nodes")
        todo += [(child, deeper, child == children[-1]) for child in reversed(children)]


def _draw(handle, graph, node, indent, last, names) -> None:  # type: ignore[no-untyped-def]
    held = graph.nodes[node]
    marks = [f"[{held['label']}]"] if held["label"] else []
    marks += [held["status"]] if held["status"] != "ok" else []
    marks += [f"({', '.join(names[node])})"] if node in names else []
    words = headline(handle.node(node).message)
    text = f"{indent}{'└─' if last else '├─'} {node[:8]} {held['role']}: {words}  {held['tokens']}t {' '.join(marks)}"
    show.line(Text(text).plain.rstrip())


def log(context: typer.Context, limit: int = typer.Option(50, "--limit", min=1), json: bool = JSON) -> None:
    """The active path, newest last."""
    path = tree_of(context.obj).path()[-limit:]
    if context.obj.json or json:
        show.data([{"id": node.id, "role": node.role, "text": node.text} for node in path])
        return
    show.rows(
        ("node", "role", "words"), ((node.id[:8], node.role, headline(node.message, 100)) for node in path)
    )


def show_(context: typer.Context, ref: str, json: bool = JSON) -> None:
    """One node, whole, with its marks."""
    handle = tree_of(context.obj)
    node = handle.node(ref)
    marks = handle.marks(node)
    if context.obj.json or json:
        show.data(
            {
                "id": node.id,
                "parents": node.parents,
                "attempt": node.attempt,
                "message": lean(node.message),
                "marks": marks,
            }
        )
        return
    words = markdown((node,)).removeprefix("### ").rstrip()
    show.line(f"{node.id}  {node.role}  attempt {node.attempt}\n{words}")
    for name, value in marks.items():
        show.line(f"{name}: {value}")


def diff(context: typer.Context, a: str, b: str, json: bool = JSON) -> None:
    """What each of two places knows that the other does not: nodes, and fields of the state."""
    found = tree_of(context.obj).diff(a, b)
    if context.obj.json or json:
        show.data(
            {
                "ancestor": found.ancestor and found.ancestor.id,
                "left": [n.id for n in found.left],
                "right": [n.id for n in found.right],
                "state": [
                    {"field": c.field, "base": c.base, "left": c.left, "right": c.right} for c in found.state
                ],
                "left_facts": found.left_facts,
                "right_facts": found.right_facts,
            }
        )
        return
    for sign, nodes in (("<", found.left), (">", found.right)):
        for node in nodes:
            show.line(f"{sign} {node.id[:8]} {node.role}: {headline(node.message, 100)}")
    for change in found.state:
        for sign, value in (("<", change.left), (">", change.right)):
            if value is not None:
                show.line(f"{sign} state {change.name}: {json_text.dumps(value, ensure_ascii=False)}")
    for sign, known in (("<", found.left_facts), (">", found.right_facts)):
        for fact in known:
            show.line(f"{sign} fact {fact.key}: {fact.text}")


def recall(context: typer.Context, id: str, json: bool = JSON) -> None:
    """The whole of what was condensed."""
    text = tree_of(context.obj).recall(id)
    show.data({"id": id, "text": text}) if context.obj.json or json else show.line(text)


def facts(
    context: typer.Context, key: str | None = typer.Option(None, "--history", help="Every wording that a key had."),
    json: bool = JSON,
) -> None:  # fmt: skip
    """Long-term facts, those used last first."""
    tree = tree_of(context.obj)
    found = tree.facts if key is None else tree.fact_history(key)
    if context.obj.json or json:
        show.data(found)
        return
    show.rows(
        ("key", "scope", "fact", "used"),
        (
            (f.key, f.scope, f.text or "(let go of)", f.used_at and f.used_at.isoformat(" ", "minutes"))
            for f in found
        ),
    )


COMMANDS = {
    "trees": trees, "branches": branches, "tree": tree, "log": log, "show": show_, "diff": diff,
    "recall": recall, "facts": facts,
}  # fmt: skip
