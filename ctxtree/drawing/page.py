"""The tree as one HTML file that any browser opens from disk: no script, nothing from the network.

The active path runs down the page; every other branch stands, closed, where it parts. The policy in the head lets
a browser use the one style sheet whose hash it names and pictures inside the file, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterator
from importlib.resources import files

from ctxtree.drawing.outline import counted
from ctxtree.drawing.pieces import Piece, pieces
from ctxtree.drawing.sketch import Sketch, Spot
from ctxtree.drawing.visible import headline, one_line
from ctxtree.model import Media

LONG = 2_000
"""Characters of a prose message after which the rest is behind a click."""
SHORT, SHORT_ROWS = 600, 8
"""Characters and lines of a result up to which it is shown at once."""
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def page(sketch: Sketch) -> str:
    """The whole of a sketch. Cost: about one step a character; nesting grows with the logarithm of the tree."""
    style = files("ctxtree.drawing").joinpath("page.css").read_text(encoding="utf-8")
    name = html.escape(one_line(sketch.name, 300)) or "conversation"
    return "\n".join(
        [
            "<!doctype html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(style)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{name}</title>", f"<style>{style}</style>", "</head>", "<body>",
            f"<h1>{name}</h1>", *_facts(sketch), "<main>", *_body(sketch), "</main>", "</body>", "</html>", "",
        ]
    )  # fmt: skip


def _policy(style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _facts(sketch: Sketch) -> Iterator[str]:
    tokens = sum(spot.tokens for spot in sketch.spots)
    heads = [(name, head) for name, head in sketch.heads.items() if head in sketch.by_id]
    count = len(heads)
    yield f'<p class="facts">{len(sketch.spots):,} messages, {count:,} branch{"es" * (count != 1)}, {tokens:,} tokens</p>'
    if count < 2:
        return
    yield '<details class="index"><summary>Branches</summary><table>'
    yield '<tr><th>branch</th><th>ends with</th><th class="n">node</th></tr>'
    for name, head in heads:
        spot = sketch.by_id[head]
        mark = " (active)" if spot.active else ""
        yield (
            f"<tr><td>{html.escape(one_line(name, 100))}{mark}</td><td>{html.escape(headline(spot.node.message, 80))}</td>"
            f'<td class="n"><a href="#n{head[:16]}">{head[:8]}</a></td></tr>'
        )
    yield "</table></details>"


def _body(sketch: Sketch) -> Iterator[str]:
    sizes = _sizes(sketch)
    todo: list[tuple[str, bool]] = []
    for root in reversed(sketch.children[None]):
        todo += [(root, False), ("<hr>", False)]
    todo = todo[:-1]
    while todo:
        identity, aside = todo.pop()
        if identity.startswith("<"):
            yield identity
            continue
        if aside:
            yield _opened(sketch, identity, sizes)
            todo.append(("</details>", False))
        yield from _message(sketch.by_id[identity])
        straight = sketch.spine.get(identity)
        if straight is not None:
            todo.append((straight, False))
        todo += [(child, True) for child in reversed(sketch.children.get(identity, ())) if child != straight]


def _sizes(sketch: Sketch) -> dict[str, int]:
    sizes = dict.fromkeys(sketch.by_id, 1)
    for spot in reversed(sketch.spots):
        if spot.node.parent in sizes:
            sizes[spot.node.parent] += sizes[spot.id]
    return sizes


def _opened(sketch: Sketch, identity: str, sizes: dict[str, int]) -> str:
    """The start of a branch that stands beside: its name, its length, how it ended, its first words."""
    end = identity
    while end in sketch.spine:
        end = sketch.spine[end]
    first, last = sketch.by_id[identity], sketch.by_id[end]
    name = ", ".join(one_line(head, 60) for head in last.heads[:3]) or "without a name"
    told = [counted(sizes[identity])]
    told += (
        [f"{last.status}: {one_line(last.reason, 80)}" if last.reason else last.status]
        if last.status != "ok"
        else []
    )
    words = headline(first.node.message, 80)
    kind = "side bad-side" if last.status == "failed" else "side"
    return f'<details class="{kind}"><summary><b>{html.escape(name)}</b> {html.escape(" · ".join(["", *told, words]))}</summary>'


def _message(spot: Spot) -> Iterator[str]:
    node = spot.node
    yield f'<article class="m {node.role}" id="n{node.id[:16]}"><header><b>{node.role}</b>{_tags(spot)}'
    moment = f"<time>{node.created_at:%Y-%m-%d %H:%M}</time> " if node.created_at else ""
    yield f'<span class="end">{moment}{spot.tokens:,} t <a href="#n{node.id[:16]}">{node.id[:8]}</a></span></header>'
    for piece in pieces(node.message):
        yield from _piece(piece)
    yield "</article>"


def _tags(spot: Spot) -> str:
    tags = [("tag", one_line(spot.label, 80))] if spot.label else []
    tags += [("tag", "pinned")] if spot.pinned else []
    if spot.status != "ok":
        tags.append(
            ("tag bad", f"{spot.status}: {one_line(spot.reason, 200)}" if spot.reason else spot.status)
        )
    tags += [
        ("tag head", one_line(name, 60) + (" ← active" if spot.active else "")) for name in spot.heads[:5]
    ]
    return "".join(f'<span class="{kind}">{html.escape(text)}</span>' for kind, text in tags)


def _piece(piece: Piece) -> Iterator[str]:
    text = html.escape(piece.text)
    match piece.kind:
        case "prose":
            yield from _prose(piece.text)
        case "code":
            yield f"<pre><code>{text}</code></pre>"
        case "thought":
            yield (
                f'<details class="thought"><summary>thinking</summary><p>{text}</p></details>' if text else ""
            )
        case "call":
            yield f'<details class="call"><summary>{html.escape(piece.title)}</summary><pre>{text}</pre></details>'
        case "result" | "error":
            yield from _result(piece)
        case _:
            yield _picture(piece.data) or f"<p>({html.escape(piece.title)})</p>"
            yield f"<p>{text}</p>" if text else ""


def _prose(text: str) -> Iterator[str]:
    if len(text) <= LONG * 1.5:
        yield f"<p>{html.escape(text)}</p>"
        return
    cut = text.rfind("\n", LONG // 2, LONG) if "\n" in text[LONG // 2 : LONG] else LONG
    yield f"<p>{html.escape(text[:cut])}</p>"
    rest = text[cut:].lstrip("\n")
    yield f'<details class="long"><summary>{len(rest):,} more characters</summary><p>{html.escape(rest)}</p></details>'


def _result(piece: Piece) -> Iterator[str]:
    """A short result as it is, a long one behind its first line."""
    what, kind = ("error", "result bad") if piece.kind == "error" else ("result", "result")
    rows = piece.text.count("\n") + 1
    if len(piece.text) <= SHORT and rows <= SHORT_ROWS:
        text = f"<pre>{html.escape(piece.text)}</pre>" if piece.text.strip() else " (empty)"
        yield f'<div class="{kind}"><span>{what}</span>{text}</div>'
        return
    first = html.escape(one_line(piece.text.lstrip().partition("\n")[0], 100))
    size = f"{rows:,} lines" if rows > 1 else f"{len(piece.text):,} characters"
    yield f'<details class="{kind}"><summary>{what}, {size}: {first}</summary><pre>{html.escape(piece.text)}</pre></details>'


def _picture(media: Media | None) -> str:
    """An inline picture of a kind that holds no script; whatever is only linked to is never loaded."""
    if media is None or not media.data or media.mime not in _PICTURES:
        return ""
    try:
        data = base64.b64encode(base64.b64decode(media.data, validate=True)).decode()
    except ValueError:
        return ""
    return f'<img alt="{html.escape(media.name or media.kind)}" src="data:{media.mime};base64,{data}">'
