"""What a model is asked when it writes a summary."""

from __future__ import annotations

from importlib.resources import files

from ctxtree.plan import Entry, SummaryRequest
from ctxtree.summarizers.frame import marker

PREVIOUS = "[notes so far: keep what still holds]"


def prompt(request: SummaryRequest) -> str:
    """The request as text for a model: the task, then the previous summary and the entries as fenced data.

    Tool output stands as cut in the entries; failed results are marked with the name of their tool.
    """
    fence = _fence(request)
    task = files(__package__).joinpath("prompt.txt").read_text(encoding="utf-8")
    words = max(20, request.max_tokens * 6 // 10)
    rows = [task.format(words=words, fence=fence).rstrip(), "", fence]
    if request.previous is not None and request.previous.text:
        rows += [PREVIOUS, _inert(request.previous.text, fence), "[messages since]"]
    rows += [_row(entry, fence) for entry in request.entries]
    return "\n".join([*rows, fence])


def pieces(request: SummaryRequest, most: int) -> list[tuple[Entry, ...]]:
    """The entries in runs whose rows take at most `most` characters; an entry that is longer stands alone."""
    found: list[list[Entry]] = [[]]
    room = most
    for entry in request.entries:
        size = len(_row(entry, _fence(request)))
        if size > room and found[-1]:
            found.append([])
            room = most
        found[-1].append(entry)
        room -= size
    return [tuple(run) for run in found]


def _fence(request: SummaryRequest) -> str:
    return f"=== data {marker(request.key)} ==="


def _row(entry: Entry, fence: str) -> str:
    head = f"[tool {entry.tool}]" if entry.role == "tool" and entry.tool else f"[{entry.role}]"
    if entry.error:
        head = f"{head[:-1]} ERROR]"
    parts = [entry.text, *(f"(calls {call})" for call in entry.calls)]
    if entry.failed:
        parts.append(f"(given up: {entry.failed})")
    return f"{head} {_inert(' '.join(part for part in parts if part), fence)}"


def _inert(text: str, fence: str) -> str:
    return text.replace(fence, fence.replace("=", "-"))
