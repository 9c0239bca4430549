"""Two places side by side: what they share, and what each has beyond it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxtree.drawing.outline import counted
from ctxtree.drawing.sketch import Drawing, Line, Spot
from ctxtree.drawing.visible import one_line


def sides(
    ancestor: Spot | None, common: int, left: Sequence[Spot], right: Sequence[Spot], names: tuple[str, str], limit: int = 20,
) -> Drawing:  # fmt: skip
    """`common`: nodes of the shared path; of a longer side its first and last nodes are drawn, `limit` in all (0: every one)."""
    shared = Line("● ", ancestor) if ancestor else Line("", None, "○ nothing in common")
    lines = [shared]
    if ancestor and common > 1:
        lines.insert(0, Line("⋮ ", None, f"{counted(common - 1)} in common"))
    for sign, name, spots, joint, inner in (
        ("<", names[0], left, "├─", "│  "), (">", names[1], right, "╰─", "   "),
    ):  # fmt: skip
        tokens = sum(spot.tokens for spot in spots)
        told = f"{counted(len(spots))}, {tokens:,}t" if spots else "nothing more"
        lines.append(Line(f"{joint} ", None, f"{one_line(name, 60)}: {told}"))
        lines += _side(f"{inner}{sign} ", inner, spots, limit)
    return Drawing(tuple(lines))


def _side(art: str, inner: str, spots: Sequence[Spot], limit: int) -> Iterator[Line]:
    hidden = len(spots) - limit if limit else 0
    if hidden <= 1:
        yield from (Line(art, spot) for spot in spots)
        return
    first = (limit + 1) // 2
    yield from (Line(art, spot) for spot in spots[:first])
    yield Line(f"{inner}⋮ ", None, f"{counted(hidden)}; --limit 0 draws all")
    yield from (Line(art, spot) for spot in spots[first + hidden :])
