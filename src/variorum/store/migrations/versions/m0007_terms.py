"""What lexical search finds inputs by. Its tables are filled from the stored revisions."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "lexicon",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("analyzer", sa.String, nullable=False),
        sa.Column("is_complete", sa.Boolean, nullable=False),
        _seal(),
    )
    op.create_table(
        "indexed",
        sa.Column("input_id", sa.Integer, sa.ForeignKey("input.id"), primary_key=True),
        sa.Column("segment", sa.Integer, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        _seal(),
    )
    op.create_table(
        "posting",
        sa.Column("term", sa.LargeBinary, primary_key=True),
        sa.Column("segment", sa.Integer, primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
        _seal(),
        sqlite_with_rowid=False,
    )


def _seal() -> sa.Column[int]:
    return sa.Column("seal", sa.Integer, nullable=False, server_default="0")
