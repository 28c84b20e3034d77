"""Sources that were dropped, what the last listings held, and the inputs that writers are at."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def _seal() -> sa.Column[int]:
    return sa.Column("seal", sa.Integer, nullable=False, server_default="0")


def upgrade() -> None:
    op.create_table(
        "held",
        sa.Column("collection_id", sa.Integer, sa.ForeignKey("collection.id"), primary_key=True),
        sa.Column("source", sa.String, primary_key=True),
        sa.Column("path", sa.LargeBinary, primary_key=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("position", sa.Integer),
        sa.Column("message", sa.String, nullable=False),
        _seal(),
    )
    op.create_table(
        "lease",
        sa.Column("key", sa.LargeBinary, primary_key=True),
        sa.Column("holder", sa.String, nullable=False),
        _seal(),
    )
    op.create_index("lease_holder", "lease", ["holder"])
    dropped = sa.Column("dropped", sa.Boolean, nullable=False, server_default=sa.text("0"))
    op.add_column("source", dropped)
    op.execute(
        "UPDATE source SET seal = crc32(CAST(quote(collection_id) || ',' || hex(name) || ','"
        " || hex(root) || ',' || quote(held_by_restore) || ',' || quote(dropped) AS BLOB))"
    )
