"""The tree for other tools to lay out: Mermaid and Graphviz DOT. Straight runs are one dotted edge."""

from __future__ import annotations

from collections.abc import Iterator

from ctxtree.drawing.outline import counted
from ctxtree.drawing.sketch import Choice, Sketch, Spot
from ctxtree.drawing.visible import headline, one_line

MERMAID_EDGES = 500
"""Edges over which Mermaid refuses a drawing unless its `maxEdges` is raised (its documented default)."""

_FILLS = {"user": "#dbeafe", "assistant": "#ecfdf5", "tool": "#f4f4f5", "system": "#fef3c7", "failed": "#fee2e2", "abandoned": "#e5e7eb"}  # fmt: skip


def mermaid(sketch: Sketch, choice: Choice) -> str:
    """A flowchart. Characters that Mermaid, its Markdown or HTML would read are written as entity codes."""
    drawn = sketch.chosen(choice)
    runs = sketch.runs(drawn)
    lines = ["flowchart TD"]
    if len(drawn.spots) > MERMAID_EDGES:
        lines.append(
            f"  %% {len(drawn.spots)} nodes; Mermaid draws {MERMAID_EDGES} edges unless maxEdges is raised"
        )
    lines += [f"  classDef {name} fill:{fill},stroke:#71717a,color:#18181b" for name, fill in _FILLS.items()]
    for spot in drawn.spots:
        lines.append(f'  {_name(spot.id)}["{_coded(_label(spot))}"]{_class(spot)}')
        lines += _arrows(spot, runs, drawn)
    lines += [
        f'  b{at}(["{_coded(one_line(name, 60))}"]) -.- {_name(head)}'
        for at, (name, head) in enumerate(sketch.heads.items())
        if head in drawn.by_id
    ]
    return "\n".join(lines) + "\n"


def dot(sketch: Sketch, choice: Choice) -> str:
    """A digraph for Graphviz. Labels are quoted strings in which nothing is an escape or an entity."""
    drawn = sketch.chosen(choice)
    runs = sketch.runs(drawn)
    lines = [
        "digraph conversation {",
        '  graph [rankdir=TB, charset="UTF-8"];',
        '  node [shape=box, style="rounded,filled", fillcolor="#ffffff", color="#71717a", fontname="Helvetica", fontsize=10];',
        '  edge [color="#71717a", fontname="Helvetica", fontsize=9];',
    ]
    for spot in drawn.spots:
        fill = _FILLS.get(spot.status, _FILLS.get(spot.node.role, "#ffffff"))
        lines.append(f'  "{_name(spot.id)}" [label={_quoted(_label(spot))}, fillcolor="{fill}"];')
        for at, parent in enumerate(spot.node.parents):
            if parent in drawn.by_id:
                lines.append(f'  "{_name(parent)}" -> "{_name(spot.id)}"{_edge(spot.id, at, runs)};')
    for number, (name, head) in enumerate(sketch.heads.items()):
        if head in drawn.by_id:
            lines.append(f'  "b{number}" [label={_quoted(one_line(name, 60))}, shape=plaintext, style=""];')
            lines.append(f'  "{_name(head)}" -> "b{number}" [style=dashed, arrowhead=none];')
    return "\n".join([*lines, "}"]) + "\n"


def _name(identity: str) -> str:
    return f"n{identity[:16]}"


def _label(spot: Spot) -> str:
    tags = " ".join(tag for tag in spot.tags if not tag.startswith("("))
    return f"{spot.node.role}: {headline(spot.node.message, 40)}" + (f" {tags}" if tags else "")


def _class(spot: Spot) -> str:
    name = spot.status if spot.status in _FILLS else spot.node.role
    return f":::{name}" if name in _FILLS else ""


def _arrows(spot: Spot, runs: dict[str, tuple[int, int]], drawn: Sketch) -> Iterator[str]:
    for at, parent in enumerate(spot.node.parents):
        if parent in drawn.by_id:
            hidden = counted(runs[spot.id][0]) if spot.id in runs and not at else ""
            arrow = f'-. "{hidden}" .->' if hidden else "-.->" if at else "-->"
            yield f"  {_name(parent)} {arrow} {_name(spot.id)}"


def _edge(identity: str, at: int, runs: dict[str, tuple[int, int]]) -> str:
    if at:
        return " [style=dotted]"
    return f' [style=dashed, label="{counted(runs[identity][0])}"]' if identity in runs else ""


def _coded(text: str) -> str:
    """Letters, digits, spaces and plain punctuation as they are; any other ASCII character as `#35;`.

    <https://mermaid.js.org/syntax/flowchart.html#entity-codes-to-escape-characters>
    """
    return "".join(
        char if char.isalnum() or char in " .,:!?'()/+=-…←" or ord(char) > 127 else f"#{ord(char)};"
        for char in text
    )


def _quoted(text: str) -> str:
    """A DOT string: quotes and backslashes escaped, and ampersands, which Graphviz reads as entities."""
    held = text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{held}"'
