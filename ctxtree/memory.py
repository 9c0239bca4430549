"""Derived things as bytes: epochs, summaries and turns as a store keeps them.

Node ids are written as positions on the path, so that a record grows with what was decided and not
with the length of the conversation.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxtree.model import canonical, digest
from ctxtree.plan import Covered, Epoch, Line, Summary
from ctxtree.report import Report


def pack(value: Any) -> bytes:
    return zlib.compress(canonical(value).encode("utf-8"), 6)


def unpack(data: bytes) -> Any:
    return json.loads(zlib.decompress(data))


def payload_hash(payload: Mapping[str, Any]) -> str:
    """What a turn keeps of its request."""
    return digest("payload", canonical(payload))


def summary_out(summary: Summary) -> bytes:
    lines = [[line.kind, line.text, list(line.nodes), line.weight] for line in summary.lines]
    return pack(
        {"key": summary.key, "lines": lines, "text": summary.text, "tokens": summary.tokens,
         "depth": summary.depth, "by": summary.by}
    )  # fmt: skip


def summary_in(data: bytes) -> Summary:
    held = unpack(data)
    lines = tuple(Line(kind, text, tuple(nodes), weight) for kind, text, nodes, weight in held["lines"])
    return Summary(held["key"], (), lines, held["text"], held["tokens"], held["depth"], held["by"])


def epoch_out(epoch: Epoch, places: Mapping[str, float]) -> bytes:
    return pack(
        {
            "levels": sorted([int(places[node]), level] for node, level in epoch.levels.items()),
            "covered": [list(run) for run in epoch.covered.runs],
            "beside": list(epoch.covered.beside),
            "summary": epoch.summary.key if epoch.summary else None,
            "available": epoch.available,
            "room": epoch.room,
            "spent": epoch.spent,
            "points": sorted([int(places[node]), newer] for node, newer in epoch.points.items()),
        }
    )


def epoch_in(
    data: bytes, node: str, key: str, path: Sequence[str], summary: Callable[[str], Summary | None]
) -> Epoch:
    held = unpack(data)
    covered = Covered(tuple((first, last) for first, last in held["covered"]), tuple(held["beside"]))
    levels = {path[place]: level for place, level in held["levels"]}
    told = summary(held["summary"]) if held["summary"] else None
    points = {path[place]: newer for place, newer in held["points"]}
    return Epoch(
        node, key, levels, covered, told, held["available"], points, held.get("room", 0), held.get("spent", 0)
    )


def report_out(report: Report, places: Mapping[str, float], path: Sequence[str]) -> dict[str, Any]:
    """The report with its nodes as runs of places on the path; ids stay for what stands beside it."""
    data = report.model_dump(
        mode="json", exclude={"path": {"nodes"}, "items": {"__all__": {"nodes"}}, "compaction": {"covered"}}
    )
    for told, item in zip(data["items"], report.items, strict=True):
        told["nodes"] = _folded(item.nodes, places, path)
    if report.compaction is not None:
        data["compaction"]["covered"] = _folded(report.compaction.covered, places, path)
    return data


def report_in(data: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """What `report_out` gave, with the ids again; `path` is the one that was compiled."""
    items = [{**item, "nodes": _unfolded(item["nodes"], path)} for item in data["items"]]
    compaction = data["compaction"]
    if compaction is not None:
        compaction = {**compaction, "covered": _unfolded(compaction["covered"], path)}
    return {**data, "items": items, "compaction": compaction, "path": {**data["path"], "nodes": list(path)}}


def _folded(nodes: Sequence[str], places: Mapping[str, float], path: Sequence[str]) -> list[list[int] | str]:
    found: list[list[int] | str] = []
    at = 0
    while at < len(nodes):
        place = places.get(nodes[at])
        if place is None:
            found.append(nodes[at])
            at += 1
        else:
            length = _common(nodes, at, path, int(place))
            found.append([int(place), int(place) + length - 1])
            at += length
    return found


def _common(some: Sequence[str], at: int, others: Sequence[str], place: int) -> int:
    """How many of them are the same from here on; a long run is compared by its halves and not one by one."""
    most = min(len(some) - at, len(others) - place)
    length, step = 1, 1
    while step:
        end = min(length + step, most)
        alike = list(some[at + length : at + end]) == list(others[place + length : place + end])
        length = end if alike else length
        step = (0 if end == most else 2 * step) if alike else step // 2
    return length


def _unfolded(folded: Sequence[list[int] | str], path: Sequence[str]) -> list[str]:
    found: list[str] = []
    for one in folded:
        found += [one] if isinstance(one, str) else path[one[0] : one[1] + 1]
    return found


LISTS = ("messages", "input", "contents")
MORE = "+"
"""Before the name of a piece: it goes on with the message of the piece before."""


@dataclass(frozen=True, slots=True)
class Print:
    """The fingerprint of a request: name and hash of each piece in the order providers read it, and its size.

    A piece is a content block, or the rest of its message; cache break points are no part of it. So a message
    that only got longer still has all its pieces.
    """

    pieces: tuple[tuple[str, str, int], ...]

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> Print:
        pieces: list[tuple[str, str, int]] = []
        for name in ("tools", "system", "instructions", "systemInstruction", "text", *LISTS):
            if name not in payload:
                continue
            whole = payload[name]
            parts = whole if isinstance(whole, list) else [whole]
            for part in parts:
                for at, block in enumerate(_blocks(part) if name in LISTS else [part]):
                    text = canonical(_bare(block))
                    pieces.append((MORE + name if at else name, digest("piece", text)[:16], len(text)))
        return cls(tuple(pieces))

    def against(self, before: Print, tokens: int) -> tuple[int, int, str]:
        """(tokens in common by share of bytes, index of the first different tool, system text or message or -1, its name)."""
        same = 0
        for mine, other in zip(self.pieces, before.pieces, strict=False):
            if mine != other:
                break
            same += 1
        total = sum(size for _, _, size in self.pieces) or 1
        common = sum(size for _, _, size in self.pieces[:same])
        if same == len(before.pieces):
            return tokens * common // total, -1, ""
        name = before.pieces[same][0]
        at = sum(not one.startswith(MORE) for one, _, _ in before.pieces[: same + 1]) - 1
        return tokens * common // total, at, name.removeprefix(MORE)


def _blocks(message: Any) -> list[Any]:
    """The content of a message block by block, each with who says it, and then what else it holds."""
    if not isinstance(message, Mapping):
        return [message]
    field = "parts" if "parts" in message else "content"
    content = message.get(field)
    texts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(texts, list):
        return [message]
    role = str(message.get("role", ""))
    rest = {name: value for name, value in message.items() if name not in (field, "role")}
    return [*([role, _bare(block)] for block in texts), *([[role, rest]] if rest or not texts else [])]


def _bare(block: Any) -> Any:
    if isinstance(block, Mapping) and "cache_control" in block:
        return {name: value for name, value in block.items() if name != "cache_control"}
    return block
