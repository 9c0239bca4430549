"""Alembic's steps from one schema version to the next; `versions/0001_*.py` makes version 1."""
