"""The store: trees of nodes in a SQLite file (WAL) by default, in PostgreSQL by URL.

Rows are only added, one transaction for every call that writes; `purge` is the one exception.
"""

from __future__ import annotations

from ctxtree.store.database import Database, connect

__all__ = ["Database", "connect"]
