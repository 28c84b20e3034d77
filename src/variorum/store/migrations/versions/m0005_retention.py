"""What was taken out of the store, and what must not come back."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def _seal() -> sa.Column[int]:
    return sa.Column("seal", sa.Integer, nullable=False, server_default="0")


def upgrade() -> None:
    op.create_table(
        "removal",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("collection_id", sa.Integer, sa.ForeignKey("collection.id"), nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("removed_at", sa.String, nullable=False),
        sa.Column("oldest", sa.Integer),
        sa.Column("documents", sa.Integer),
        _seal(),
    )
    op.create_table(
        "denied",
        sa.Column("collection_id", sa.Integer, sa.ForeignKey("collection.id"), primary_key=True),
        sa.Column("digest", sa.LargeBinary, primary_key=True),
        sa.Column("salt", sa.LargeBinary, nullable=False),
        _seal(),
    )
