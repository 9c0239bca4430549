"""The logs.db of the command `llm`: its tree of messages (0.32 and newer), and the responses of older ones.

The database is copied before it is opened, with the journal beside it, so that not one byte of it changes
and what was written last is there. Rows are read as drafts are taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxtree.errors import FormatError
from ctxtree.importers.base import Conversation, Format, Sample
from ctxtree.importers.files import Source
from ctxtree.importers.llm_responses import conversations
from ctxtree.importers.llm_tree import trees
from ctxtree.importers.sqlite import names_in, opened

TABLES = (("messages", "parts", "threads"), ("conversations", "responses"))


def fits(sample: Sample) -> bool:
    """A SQLite database with the tables of either version."""
    return any(all(f"table:{name}" in sample.members for name in names) for names in TABLES)


def read(source: Source, strict: bool) -> Iterator[Conversation]:
    """Each tree of messages, named by its first thread; each older conversation, named by its id."""
    found = 0
    with opened(source) as database:
        present = set(names_in(database))
        for (first, *others), reader in zip(TABLES, (trees, conversations), strict=True):
            if {first, *others} <= present:
                for conversation in reader(source, database, strict):
                    found += 1
                    yield conversation
    if not found:
        raise FormatError(source.name, 0, "no conversation in the database")


FORMAT = Format("logs.db of the command llm (SQLite)", fits, read)
