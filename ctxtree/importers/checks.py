"""What is wrong with messages whatever the format: seen while their drafts pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ctxtree.importers.base import Conversation, Draft, Log
from ctxtree.model import ToolCall


def checked(conversation: Conversation) -> Conversation:
    """The same conversation; results whose call stands nowhere before them are noted as its drafts are taken.

    Memory: the ids of its calls.
    """
    return replace(conversation, drafts=_watched(conversation.drafts, conversation.log))


def _watched(drafts: Iterator[Draft], log: Log) -> Iterator[Draft]:
    calls: set[str] = set()
    for draft in drafts:
        calls.update(part.id for part in draft.message.parts if isinstance(part, ToolCall))
        for result in draft.message.results:
            if (result.call_id not in calls) if result.call_id else not calls:
                what = f"message {draft.source} answers a call that stands nowhere before it"
                log.add("orphan_result", what, "kept; a request tells it as plain words", draft.line)
        yield draft
