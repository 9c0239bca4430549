"""Version 2: vectors of what was said, by the embedder's name.

Revision ID: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "vectors",
        sa.Column("tree", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("encoding", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("node", big, primary_key=True, autoincrement=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
    )
