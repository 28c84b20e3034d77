"""The ledger: what each publish cost each document, and what was embedded without a publish."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

COUNTS = (
    "embedded_inputs",
    "changed_inputs",
    "total_inputs",
    "embedded_tokens",
    "changed_tokens",
    "edited_tokens",
    "floor_tokens",
    "total_tokens",
)


def upgrade() -> None:
    op.create_table(
        "cost",
        sa.Column("collection_id", sa.Integer, sa.ForeignKey("collection.id"), primary_key=True),
        sa.Column("generation", sa.Integer, primary_key=True),
        sa.Column("document_id", sa.Integer, sa.ForeignKey("document.id"), primary_key=True),
        sa.Column("created_at", sa.String, nullable=False),
        sa.Column("event", sa.String, nullable=False),
        *(sa.Column(name, sa.Integer, nullable=False) for name in COUNTS),
        sa.Column("embed_us", sa.Integer, nullable=False),
        sa.Column("seal", sa.Integer, nullable=False, server_default="0"),
    )
    op.create_table(
        "unpublished",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("collection_id", sa.Integer, sa.ForeignKey("collection.id"), nullable=False),
        sa.Column("created_at", sa.String, nullable=False),
        sa.Column("inputs", sa.Integer, nullable=False),
        sa.Column("tokens", sa.Integer, nullable=False),
        sa.Column("embed_us", sa.Integer, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("seal", sa.Integer, nullable=False, server_default="0"),
    )
