"""A path or a tree as something else: message lists, Markdown, drawings, a graph, the whole tree."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ctxtree.errors import NotFound
from ctxtree.model import Media, Message, Node, Opaque, Reasoning, Text, ToolCall, ToolResult, lean
from ctxtree.render import plain
from ctxtree.tree import brief_call

if TYPE_CHECKING:
    from ctxtree.handle import Tree

FORMATS = ("openai.chat", "anthropic", "ctxtree", "markdown", "html", "mermaid", "dot")


def export(tree: Tree, form: str, at: str | Node | None) -> Any:
    """Message lists as data, everything else as text; `ctxtree` is the whole tree as data."""
    if form in ("openai.chat", "openai"):
        return plain([node.message for node in tree.path(at)], "openai.chat")
    if form == "anthropic":
        return plain([node.message for node in tree.path(at)], "anthropic")
    if form == "markdown":
        return markdown(tree.path(at))
    if form == "html":
        return page(tree.path(at))
    if form == "ctxtree":
        return whole(tree)
    if form in ("mermaid", "dot"):
        return drawing(tree, form)
    raise NotFound(f"no export format {form!r}; there are {', '.join(FORMATS)}")


def markdown(path: Sequence[Node]) -> str:
    """The path for reading: a heading for each message, calls and results in code blocks."""
    blocks = []
    for node in path:
        body = [_shown(part) for part in node.message.parts]
        blocks.append(f"### {node.role}\n\n" + "\n\n".join(text for text in body if text))
    return "\n\n".join(blocks) + "\n"


def page(path: Sequence[Node]) -> str:
    """The path as one HTML file without scripts or remote parts; all words are escaped."""
    rows = []
    for node in path:
        body = "\n\n".join(text for text in map(_shown, node.message.parts) if text)
        rows.append(f"<h3>{html.escape(node.role)}</h3><pre>{html.escape(body)}</pre>")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
    return f"<!doctype html>{head}<title>conversation</title>\n" + "\n".join(rows) + "\n"


def _shown(part: Any) -> str:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, Reasoning):
        return f"> {part.text}" if part.text else ""
    if isinstance(part, ToolCall):
        return f"`{brief_call(part)}`"
    if isinstance(part, ToolResult):
        fence = "~~~~"
        inner = "\n".join(_shown(one) for one in part.parts)
        return f"{fence}{' error' if part.error else ''}\n{inner}\n{fence}"
    if isinstance(part, Media):
        return part.transcript or f"[{part.kind} {part.mime}]".replace(" ]", "]")
    return "" if isinstance(part, Opaque) and part.kind == "fields" else f"[{part.kind}]"


def whole(tree: Tree) -> dict[str, Any]:
    """Every node, mark and branch: loss-free."""
    database, number = tree._database, tree._history.tree
    nodes = [
        {"id": node.id, "parents": list(node.parents), "attempt": node.attempt, "message": lean(node.message),
         "created_at": node.created_at.isoformat() if node.created_at else None}
        for node in database.all_nodes(number)
    ]  # fmt: skip
    marks = [[mark.node, mark.name, mark.value] for mark in database.marks(number)]
    branches = [[row.name, row.head, row.parent, row.fork] for row in database.branches(number)]
    return {"format": "ctxtree", "version": 1, "name": tree.name, "active": tree.branch,
            "nodes": nodes, "marks": marks, "branches": branches}  # fmt: skip


def drawing(tree: Tree, form: str) -> str:
    """The tree as Mermaid or DOT text; the words of nodes are data there, never markup."""
    lines = ["flowchart TD"] if form == "mermaid" else ["digraph conversation {", "  node [shape=box];"]
    for node in tree._database.all_nodes(tree._history.tree):
        label = f"{node.role}: {headline(node.message, 40)}"
        if form == "mermaid":
            lines.append(f'  n{node.id[:12]}["{html.escape(label)}"]')
            lines += [f"  n{parent[:12]} --> n{node.id[:12]}" for parent in node.parents]
        else:
            lines.append(f'  "{node.id[:12]}" [label={json.dumps(label)}];')
            lines += [f'  "{parent[:12]}" -> "{node.id[:12]}";' for parent in node.parents]
    return "\n".join(lines if form == "mermaid" else [*lines, "}"]) + "\n"


def headline(message: Message, limit: int = 60) -> str:
    """One line of a message: its words, else its calls, else its results."""
    text = message.text or ", ".join(brief_call(call, 30) for call in message.calls)
    text = text or " | ".join(result.text[: limit * 2] for result in message.results)
    line = " ".join(text[: limit * 4].split())
    line = "".join(char if char.isprintable() else "·" for char in line)
    return line if len(line) <= limit else line[: limit - 1] + "…"


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
