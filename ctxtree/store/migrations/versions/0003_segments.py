"""Version 3: segments, the outline and the words of a stretch of a path.

Revision ID: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "segments",
        sa.Column("tree", sa.Integer(), nullable=False),
        sa.Column("node", big, primary_key=True, autoincrement=False),
        sa.Column("above", big),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("outline", sa.LargeBinary(), nullable=False),
        sa.Column("words", sa.LargeBinary(), nullable=False),
    )
