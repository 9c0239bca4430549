"""trees, branches, tree, log, show, diff, facts, state, recall: looking at what is there."""

from __future__ import annotations

import json as json_text
from typing import Any

import typer

from ctxtree.api import Tree
from ctxtree.cli import show
from ctxtree.cli.compiling import JSON, REDACT
from ctxtree.cli.opening import store_of, tree_of
from ctxtree.drawing import Choice, headline
from ctxtree.drawing.pieces import plain
from ctxtree.exporting import sketch
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


BRANCH = typer.Option(None, "--branch", help="Only what leads to this branch; may be given again.")
KIND = typer.Option(None, "--kind", help="Only nodes of this role; may be given again.")
STATUS = typer.Option(
    None, "--status", help="Only nodes that are ok, failed or abandoned; may be given again."
)


def tree(
    context: typer.Context, all: bool = typer.Option(False, "--all", help="Fold no runs."),
    branch: list[str] | None = BRANCH, kind: list[str] | None = KIND, status: list[str] | None = STATUS,
    limit: int = typer.Option(200, "--limit", min=0, help="Lines of a page; 0 for all."),
    page: int = typer.Option(1, "--page", min=1), redact: bool = REDACT, json: bool = JSON,
) -> None:  # fmt: skip
    """Draw the tree: the active path straight down, other branches beside it, long runs of single steps folded."""
    context.obj.hide(redact)
    handle = tree_of(context.obj)
    choice = chosen(branch, kind, status)
    if context.obj.json or json:
        show.data(_listed(handle, Choice(**choice, fold=False)))
        return
    drawn = handle.draw("outline", limit=limit, page=page, fold=False if all else None, **choice)
    show.drawing(drawn)


def chosen(branch: list[str] | None, kind: list[str] | None, status: list[str] | None) -> dict[str, Any]:
    return {"branches": tuple(branch or ()), "kinds": tuple(kind or ()), "statuses": tuple(status or ())}


def _listed(handle: Tree, choice: Choice) -> list[dict[str, Any]]:
    graph = handle.graph()
    chosen = sketch(handle).chosen(choice)
    return [
        {"id": spot.id, **graph.nodes[spot.id], "parents": list(graph.predecessors(spot.id))}
        for spot in chosen.spots
    ]


def log(
    context: typer.Context, limit: int = typer.Option(50, "--limit", min=0, help="Nodes; 0 for all with --graph."),
    graph: bool = typer.Option(False, "--graph", help="All branches as lanes, newest first."),
    branch: list[str] | None = BRANCH, kind: list[str] | None = KIND, status: list[str] | None = STATUS,
    redact: bool = REDACT, json: bool = JSON,
) -> None:  # fmt: skip
    """The active path, newest last; with `--graph` every branch, newest first."""
    context.obj.hide(redact)
    handle = tree_of(context.obj)
    if graph and not (context.obj.json or json):
        show.drawing(handle.draw("lanes", limit=limit, **chosen(branch, kind, status)))
        return
    if not limit and not graph:
        raise typer.BadParameter("0 is not in the range x>=1", param_hint="--limit")
    named = chosen(branch, kind, status)
    choice = Choice(**named, fold=False)
    if graph or any(named.values()):
        path = [spot.node for spot in sketch(handle).chosen(choice).spots]
    else:
        path = list(handle.path())
    path = path[-limit:]
    if context.obj.json or json:
        show.data([{"id": node.id, "role": node.role, "text": node.text} for node in path])
        return
    show.rows(
        ("node", "role", "words"), ((node.id[:8], node.role, headline(node.message, 100)) for node in path)
    )


def show_(context: typer.Context, ref: str, redact: bool = REDACT, json: bool = JSON) -> None:
    """One node, whole, with its marks."""
    context.obj.hide(redact)
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
    show.line(f"{node.id}  {node.role}  attempt {node.attempt}\n{plain(node.message)}")
    for name, value in marks.items():
        show.line(f"{name}: {value}")


def diff(
    context: typer.Context, a: str, b: str,
    limit: int = typer.Option(20, "--limit", min=0, help="Nodes of a side; 0 for all."),
    redact: bool = REDACT, json: bool = JSON,
) -> None:  # fmt: skip
    """What each of two places knows that the other does not: nodes, fields of the state, facts of the branch."""
    context.obj.hide(redact)
    handle = tree_of(context.obj)
    found = handle.diff(a, b)
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
    show.drawing(handle.draw_diff(a, b, limit))
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
