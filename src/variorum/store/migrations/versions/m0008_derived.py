"""What users' functions made of chunks."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "derivation",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("version", sa.String, nullable=False),
        _seal(),
        sa.UniqueConstraint("name", "version"),
    )
    op.create_table(
        "output",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("derivation_id", sa.Integer, sa.ForeignKey("derivation.id"), nullable=False),
        sa.Column("text", sa.String, nullable=False),
        _seal(),
    )
    op.create_table(
        "derived",
        sa.Column("layout_id", sa.Integer, sa.ForeignKey("layout.id"), primary_key=True),
        sa.Column("ordinal", sa.Integer, primary_key=True),
        sa.Column("derivation_id", sa.Integer, sa.ForeignKey("derivation.id"), primary_key=True),
        sa.Column("output_id", sa.Integer, sa.ForeignKey("output.id"), nullable=False),
        _seal(),
    )
    op.create_index("derived_output", "derived", ["output_id"])


def _seal() -> sa.Column[int]:
    return sa.Column("seal", sa.Integer, nullable=False, server_default="0")
