"""Derived things as bytes: epochs, summaries and turns as a store keeps them.

Node ids are written as positions on the path, so that a record grows with what was decided and not
with the length of the conversation.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxtree.model import canonical, digest
from ctxtree.plan import Epoch, Line, Summary


def pack(value: Any) -> bytes:
    return zlib.compress(canonical(value).encode("utf-8"), 6)


def unpack(data: bytes) -> Any:
    return json.loads(zlib.decompress(data))


def summary_out(summary: Summary) -> bytes:
    lines = [[line.kind, line.text, list(line.nodes), line.weight] for line in summary.lines]
    return pack(
        {"key": summary.key, "lines": lines, "text": summary.text, "tokens": summary.tokens,
         "depth": summary.depth, "by": summary.by, "covered": list(summary.covered)}
    )  # fmt: skip


def summary_in(data: bytes) -> Summary:
    held = unpack(data)
    lines = tuple(Line(kind, text, tuple(nodes), weight) for kind, text, nodes, weight in held["lines"])
    return Summary(
        held["key"], tuple(held["covered"]), lines, held["text"], held["tokens"], held["depth"], held["by"]
    )


def epoch_out(epoch: Epoch, path: Sequence[str]) -> bytes:
    places = {node: index for index, node in enumerate(path)}
    inside = sorted(places[node] for node in epoch.covered if node in places)
    return pack(
        {
            "levels": sorted([places[node], level] for node, level in epoch.levels.items()),
            "covered": runs(inside),
            "beside": [node for node in epoch.covered if node not in places],
            "summary": epoch.summary.key if epoch.summary else None,
            "available": epoch.available,
        }
    )


def epoch_in(
    data: bytes, node: str, key: str, path: Sequence[str], summaries: Mapping[str, Summary]
) -> Epoch:
    held = unpack(data)
    covered = [path[place] for first, last in held["covered"] for place in range(first, last + 1)]
    levels = {path[place]: level for place, level in held["levels"]}
    summary = summaries.get(held["summary"] or "")
    return Epoch(node, key, levels, (*covered, *held["beside"]), summary, held["available"])


def summary_key(data: bytes) -> str | None:
    """The key of the summary that a stored epoch uses."""
    return unpack(data)["summary"]  # type: ignore[no-any-return]


def runs(places: Sequence[int]) -> list[list[int]]:
    """Sorted positions as [first, last] runs."""
    found: list[list[int]] = []
    for place in places:
        if found and found[-1][1] == place - 1:
            found[-1][1] = place
        else:
            found.append([place, place])
    return found


@dataclass(frozen=True, slots=True)
class Print:
    """The fingerprint of a request: name and hash of each piece in the order providers read it, and its size."""

    pieces: tuple[tuple[str, str, int], ...]

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> Print:
        pieces: list[tuple[str, str, int]] = []
        lists = ("messages", "input", "contents")
        for name in ("tools", "system", "instructions", "systemInstruction", "text", *lists):
            if name not in payload:
                continue
            whole = payload[name]
            for part in whole if name in lists and isinstance(whole, list) else [whole]:
                text = canonical(part)
                pieces.append((name, digest("piece", text)[:16], len(text)))
        return cls(tuple(pieces))

    def against(self, before: Print, tokens: int) -> tuple[int, int, str]:
        """(tokens in common by share of bytes, index of the first different piece or -1, its name)."""
        same = 0
        for mine, other in zip(self.pieces, before.pieces, strict=False):
            if mine != other:
                break
            same += 1
        total = sum(size for _, _, size in self.pieces) or 1
        common = sum(size for _, _, size in self.pieces[:same])
        broken = same < len(before.pieces)
        name = before.pieces[same][0] if broken else ""
        return tokens * common // total, same if broken else -1, name
