"""A SillyTavern chat of the active path, with the siblings of each message as its alternatives."""

from __future__ import annotations

from typing import Any

from ctxtree.exporters.tale import Exporter, Step, Tale, lines, stamp, words


def write(tale: Tale) -> str:
    """The header, then a line for each message. Calls, results and system prompts are left out."""
    said = {step.id: step for step in tale.steps}
    alternatives: dict[tuple[str | None, str], list[Step]] = {}
    for step in tale.steps:
        alternatives.setdefault((step.parent, step.role), []).append(step)
    records: list[dict[str, Any]] = [
        {"user_name": "User", "character_name": "Assistant", "chat_metadata": {}}
    ]
    for node in tale.path:
        found = said.get(node.id)
        if found is not None and found.role in ("user", "assistant") and words(found.message.parts):
            others = [one for one in alternatives[found.parent, found.role] if words(one.message.parts)]
            records.append(_line(found, others))
    return lines(records)


def _line(step: Step, others: list[Step]) -> dict[str, Any]:
    user = step.role == "user"
    made: dict[str, Any] = {
        "name": "User" if user else "Assistant", "is_user": user, "is_system": step.hidden,
        "send_date": stamp(step.at), "mes": words(step.message.parts), "extra": _extra(step),
    }  # fmt: skip
    if len(others) < 2:
        return made
    infos = [{"send_date": stamp(one.at), "extra": _extra(one)} for one in others]
    swipes = [words(one.message.parts) for one in others]
    return {**made, "swipe_id": others.index(step), "swipes": swipes, "swipe_info": infos}


def _extra(step: Step) -> dict[str, Any]:
    return {"model": step.marks["model"]} if step.marks.get("model") else {}


EXPORTER = Exporter(write, whole=True)
