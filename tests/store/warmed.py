"""Imported by the one process that all others are forked from: what is slow to load is loaded once."""

import ctxtree.handle  # noqa: F401
from ctxtree.store import connect
from ctxtree.tokens import counter_for

counter_for("o200k_base")("loads the vocabulary")
connect(":memory:").close()
