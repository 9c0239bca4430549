"""OpenAI Chat: an array of messages, `{"messages": [...]}`, JSON lines of either."""

from __future__ import annotations

from collections.abc import Iterator

from ctxtree.importers.base import Conversation, Format, Sample
from ctxtree.importers.files import Source
from ctxtree.importers.lists import Shape, read_lists
from ctxtree.importers.wire import WIRE

SHAPE = Shape(keys=("messages",), reader=WIRE["openai.chat"])


def fits(sample: Sample) -> bool:
    """Any list whose entries have a `role`, or any `messages`: the plainest form, asked last."""
    return any("role" in record or isinstance(record.get("messages"), list) for record in sample.records)


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each list of messages as one conversation, named by its `id`, or the file and a number."""
    return read_lists(source, strict, SHAPE)


FORMAT = Format("OpenAI Chat messages: JSON array, object with `messages`, or JSON lines", fits, read)
