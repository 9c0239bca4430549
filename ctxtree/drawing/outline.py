"""The tree as an outline: the active path straight down, other branches beside it, runs folded."""

from __future__ import annotations

from collections.abc import Iterator

from ctxtree.drawing.sketch import Choice, Drawing, Line, Sketch
from ctxtree.errors import NotFound


def outline(sketch: Sketch, choice: Choice, limit: int = 0, page: int = 1) -> Drawing:
    """The lines of one page of `limit` lines (0: all on one page), counted from 1.

    Cost: one step a node. Raises NotFound for a page beyond the last.
    """
    drawn = sketch.chosen(choice)
    filtered = bool(choice.kinds or choice.statuses)
    lines = tuple(_lines(drawn, {} if filtered else sketch.on(choice.branches).runs(drawn)))
    pages = max(1, -(-len(lines) // limit)) if limit else 1
    if not 1 <= page <= pages:
        raise NotFound(f"no page {page}; the drawing has {pages}")
    shown = lines[(page - 1) * limit : page * limit] if limit else lines
    beyond = _beyond(lines, shown, page, pages)
    unmatched = len(sketch.on(choice.branches).spots) - len(drawn.spots) if filtered else 0
    told = [beyond] if beyond else []
    told += [f"… {counted(unmatched)} of other kinds or statuses"] if unmatched else []
    return Drawing(shown, "\n".join(told))


def counted(count: int) -> str:
    """`1 node`, `12,000 nodes`."""
    return f"{count:,} node{'s' * (count != 1)}"


def _beyond(lines: tuple[Line, ...], shown: tuple[Line, ...], page: int, pages: int) -> str:
    if pages == 1:
        return ""
    nodes = sum(line.spot is not None for line in lines) - sum(line.spot is not None for line in shown)
    turn = f"--page {page + 1} goes on, " if page < pages else ""
    return (
        f"… page {page} of {pages}; {len(lines) - len(shown):,} lines with {counted(nodes)} are on the others: "
        f"{turn}--limit 0 draws all, --branch NAME one branch"
    )


def _lines(drawn: Sketch, runs: dict[str, tuple[int, int]]) -> Iterator[Line]:
    """Depth first; a side is drawn before the straight line goes on."""
    todo: list[tuple[str, str, str]] = []
    for number, root in enumerate(reversed(drawn.children[None])):
        todo.append((root, "", ""))
        if number < len(drawn.children[None]) - 1:
            todo.append(("", "", ""))
    while todo:
        identity, indent, joint = todo.pop()
        if not identity:
            yield Line("")
            continue
        inner = indent + ("│ " if joint else "")
        if identity in runs:
            count, tokens = runs[identity]
            yield Line(f"{indent}{joint}⋮ ", None, f"{counted(count)}, {tokens:,}t")
            joint = ""
        yield Line(f"{indent}{joint}● " if joint else f"{inner}● ", drawn.by_id[identity])
        below = drawn.children.get(identity, ())
        straight = drawn.spine.get(identity)
        if straight is not None:
            todo.append((straight, inner, ""))
        todo += [(child, inner, "├─") for child in reversed(below) if child != straight]
