"""Old lines and new ones as one list: told once, the later word last, failures counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from ctxtree.model import ToolCall
from ctxtree.outages import outage
from ctxtree.plan import Line, LineKind
from ctxtree.summarizers.gather import UNANSWERED
from ctxtree.summarizers.kinds import ASKED
from ctxtree.summarizers.subjects import subject

NODES = 8
"""Ids that a line keeps when it stands for many: its first ones and its newest."""

_REPLACED = "(replaced later) "
_WORKED = "(worked later) "
_TIMES = re.compile(r" \((\d+) times\)$")
_NUMBER = re.compile(r"\d+")
_NOISE = re.compile(r"[\W_]+")
_VARIES = re.compile(r"\d+|\S*[/.]\S+|\"[^\"]*\"|“[^”]*”")
_STATEMENTS = frozenset({"fact", "decision", "preference"})


def merge(previous: Sequence[Line], fresh: Sequence[Line]) -> tuple[Line, ...]:
    """The lines in order of time, each thing once.

    An open request takes the outcome that came later; equal wording is one line at its later place with
    the greater weight; equal failures carry their number, and so do those of one dead service, whatever was asked
    of it; a failure whose call has worked since is marked and light; a statement whose subject is stated anew
    stays before the new one, marked and light; templates that repeat are light.
    """
    lines = finish_open(previous, fresh)
    lines = _once(lines)
    lines = _outlived(lines)
    lines = _supersede(lines)
    return tuple(_chatter(lines))


def finish_open(previous: Sequence[Line], fresh: Sequence[Line]) -> list[Line]:
    """All lines, with the outcome at the head of `fresh` ("→ done: …") joined to the request that waited for it."""
    old, new = list(previous), list(fresh)
    outcome = next((place for place, line in enumerate(new) if line.text.startswith("→ ")), None)
    waiting = next(
        (place for place in reversed(range(len(old))) if old[place].text.endswith(UNANSWERED)), None
    )
    if outcome is None:
        return old + new
    line = new.pop(outcome)
    if waiting is None:
        return old + new
    request = old.pop(waiting)
    kind: LineKind = "goal" if request.kind == "goal" else "done"
    text = f"{request.text.removesuffix(UNANSWERED)} {line.text}"
    new.insert(outcome, Line(kind, text, _join(request.nodes, line.nodes), max(request.weight, line.weight)))
    return old + new


def same(text: str) -> str:
    """The wording without case, spaces and marks: equal for texts that say the same in the same words."""
    return _NOISE.sub("", _TIMES.sub("", text.removeprefix(_REPLACED).removeprefix(_WORKED)).casefold())


def _once(lines: Iterable[Line]) -> list[Line]:
    held: dict[Hashable, Line] = {}
    for line in lines:
        key = _service(line) or same(line.text)
        before = held.pop(key, None)
        held[key] = line if before is None else _both(before, line)
    return list(held.values())


def _both(before: Line, line: Line) -> Line:
    nodes = _join(before.nodes, line.nodes)
    if line.kind == "failed" and before.kind == "failed":
        base = _TIMES.sub("", line.text)
        return Line("failed", f"{base} ({times(before.text) + times(line.text)} times)", nodes, line.weight)
    heavier = line if line.weight >= before.weight else before
    kind = "goal" if before.kind == "goal" else heavier.kind
    text = line.text if before.text.startswith(_REPLACED) else heavier.text
    return Line(kind, text, nodes, heavier.weight)


def _service(line: Line) -> Hashable:
    """What did not answer, for a line "call → error" that tells of an outage; else None."""
    asked, arrow, error = line.text.partition(" → ")
    if line.kind != "failed" or not arrow or asked.startswith(_WORKED):
        return None
    name, _, given = asked.partition("(")
    return outage(ToolCall(name=name, arguments={"asked": given.rstrip(")")}), error)


def _outlived(lines: Sequence[Line]) -> list[Line]:
    """Failures whose call gave a result further on say so and weigh little: one failure is no rule."""
    result: list[Line] = []
    worked: set[str] = set()
    for line in reversed(lines):
        call, arrow, _ = line.text.partition(" → ")
        if line.kind == "result" and arrow:
            worked.add(call)
        elif (
            line.kind == "failed"
            and not line.text.startswith(_WORKED)
            and _has_worked(line.text, call, worked)
        ):
            line = replace(line, text=_WORKED + line.text, weight=line.weight * 0.1)
        result.append(line)
    return result[::-1]


def _has_worked(text: str, call: str, worked: set[str]) -> bool:
    """True if the failure is of one of these calls, as a line of its own or in the note of an attempt."""
    return call in worked or (text.startswith("[dead end") and any(f"tried {one}" in text for one in worked))


def times(text: str) -> int:
    """How often a failure line says that it happened."""
    found = _TIMES.search(text)
    return int(found[1]) if found else 1


def _supersede(lines: Sequence[Line]) -> list[Line]:
    result: list[Line] = []
    newer: set[str] = set()
    for line in reversed(lines):
        about = subject(line.text) if line.kind in _STATEMENTS and not line.text.startswith(_REPLACED) else ""
        if about and about in newer:
            line = replace(line, text=_REPLACED + line.text, weight=line.weight * 0.1)
        elif about:
            newer.add(about)
        result.append(line)
    return result[::-1]


def _chatter(lines: Sequence[Line]) -> list[Line]:
    """Lines that differ in figures and names alone weigh little when there are several; of constraints the ends stay."""
    templates = [_template(line) for line in lines]
    counts = Counter(template for template in templates if template)
    first = {template: place for place, template in reversed(list(enumerate(templates)))}
    last = {template: place for place, template in enumerate(templates)}
    result: list[Line] = []
    for place, (line, template) in enumerate(zip(lines, templates, strict=True)):
        light = bool(template) and counts[template] >= _repeats(line)
        if light and line.kind == "constraint":
            light = place not in (first[template], last[template])
        result.append(replace(line, weight=_light(line)) if light else line)
    return result


def _repeats(line: Line) -> int:
    """How many lines of one template make chatter."""
    return 2 if line.kind in ("result", "done", "file") else 3


def _light(line: Line) -> float:
    """The weight of a line that repeats: what could matter (measured, plain facts) stays above small talk."""
    if line.kind == "fact":
        return 0.5 if line.weight == 0.5 or line.weight >= 1.0 else min(line.weight, 0.15)
    return 0.8 if line.weight == 0.8 or line.weight > 1.2 else min(line.weight, 0.3)


def _template(line: Line) -> str:
    if line.kind not in ("result", "done", "fact", "constraint", "file") or line.weight >= ASKED:
        return ""
    if line.kind == "file":
        return "file" + _NUMBER.sub("#", line.text)
    outcome = line.text.rsplit(" → ", 1)[-1] if line.kind in ("result", "done") else line.text
    return line.kind + _NOISE.sub("", _VARIES.sub("#", outcome).casefold())[:60]


def _join(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    nodes = tuple(dict.fromkeys((*first, *second)))
    return nodes if len(nodes) <= NODES else (*nodes[: NODES // 2], *nodes[-NODES // 2 :])
