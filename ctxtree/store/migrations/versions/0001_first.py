"""Version 1: trees, nodes, refs, marks, facts, and what compiles leave behind.

Revision ID: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
has_fingerprint = sa.text("fingerprint IS NOT NULL")
is_label = sa.text("name = 'label'")


def upgrade() -> None:
    if not sa.inspect(op.get_bind()).has_table("meta"):
        _meta()
    _trees_and_nodes()
    _refs_and_marks()
    _derived()


def _meta() -> None:
    op.create_table(
        "meta",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("value", sa.String(200), nullable=False),
        sqlite_with_rowid=False,
    )


def _trees_and_nodes() -> None:
    op.create_table(
        "trees",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("name", sa.LargeBinary(), nullable=False),
        sa.Column("active", sa.LargeBinary(), nullable=False),
        sa.Column("created", big),
    )
    op.create_index("trees_name", "trees", ["name"], unique=True)
    op.create_table(
        "nodes",
        sa.Column("seq", big, primary_key=True, autoincrement=False),
        sa.Column("tree", sa.Integer(), nullable=False),
        sa.Column("id", sa.LargeBinary(), nullable=False),
        sa.Column("parent", big),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("role", sa.SmallInteger(), nullable=False),
        sa.Column("merged", sa.SmallInteger(), nullable=False),
        sa.Column("created", big),
        sa.Column("fingerprint", sa.Integer()),
        sa.Column("same", big),
        sa.Column("data", sa.LargeBinary()),
    )
    op.create_index(
        "nodes_fingerprint",
        "nodes",
        ["tree", "fingerprint"],
        sqlite_where=has_fingerprint,
        postgresql_where=has_fingerprint,
    )
    op.create_index("nodes_id", "nodes", ["tree", sa.text("substr(id, 1, 4)")])
    op.create_index("nodes_parent", "nodes", ["tree", "parent"])
    op.create_table(
        "parents",
        sa.Column("node", big, primary_key=True, autoincrement=False),
        sa.Column("position", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("parent", big, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "blobs",
        sa.Column("tree", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("hash", sa.LargeBinary(), primary_key=True),
        sa.Column("data", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "keys",
        sa.Column("tree", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("key", sa.LargeBinary(), primary_key=True),
        sa.Column("node", big, nullable=False),
        sqlite_with_rowid=False,
    )


def _refs_and_marks() -> None:
    op.create_table(
        "branches",
        sa.Column("tree", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("name", sa.LargeBinary(), primary_key=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("head", big),
        sa.Column("parent", sa.LargeBinary()),
        sa.Column("fork", big),
        sa.Column("status", sa.LargeBinary(), nullable=False),
        sa.Column("updated", big),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "moves",
        sa.Column("tree", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("seq", big, primary_key=True, autoincrement=False),
        sa.Column("branch", sa.LargeBinary(), nullable=False),
        sa.Column("old", big),
        sa.Column("new", big),
        sa.Column("at", big),
        sa.Column("reason", sa.LargeBinary(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "marks",
        sa.Column("seq", big, primary_key=True, autoincrement=False),
        sa.Column("tree", sa.Integer(), nullable=False),
        sa.Column("node", big, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.Column("at", big),
    )
    op.create_index("marks_label", "marks", ["tree"], sqlite_where=is_label, postgresql_where=is_label)
    op.create_index("marks_node", "marks", ["tree", "node"])
    op.create_table(
        "facts",
        sa.Column("tree", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("seq", big, primary_key=True, autoincrement=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("text", sa.LargeBinary()),
        sa.Column("created", big),
        sa.Column("used", big),
    )


def _derived() -> None:
    op.create_table(
        "counts",
        sa.Column("encoding", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("node", big, primary_key=True, autoincrement=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "encodings",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("name", sa.LargeBinary(), nullable=False, unique=True),
    )
    op.create_table(
        "summaries",
        sa.Column("tree", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("key", sa.LargeBinary(), primary_key=True),
        sa.Column("first", big),
        sa.Column("last", big),
        sa.Column("data", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "epochs",
        sa.Column("tree", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("seq", big, primary_key=True, autoincrement=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("node", big, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
    )
    op.create_index("epochs_key", "epochs", ["tree", "key", "seq"])
    op.create_table(
        "turns",
        sa.Column("tree", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("seq", big, primary_key=True, autoincrement=False),
        sa.Column("branch", sa.LargeBinary(), nullable=False),
        sa.Column("node", big),
        sa.Column("at", big),
        sa.Column("payload_hash", sa.LargeBinary(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "usage",
        sa.Column("tree", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("seq", big, primary_key=True, autoincrement=False),
        sa.Column("node", big),
        sa.Column("turn", big),
        sa.Column("model", sa.LargeBinary(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("at", big),
    )
