"""The first format: collections, generations, manifests, layouts, inputs and vectors."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_collections()
    _create_recipes()
    _create_documents()
    _create_inputs()
    _create_manifest()


def _create_collections() -> None:
    op.create_table(
        "collection",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.UniqueConstraint("tenant", "name"),
    )
    op.create_table(
        "head",
        sa.Column("collection_id", sa.Integer, sa.ForeignKey("collection.id"), primary_key=True),
        sa.Column("generation", sa.Integer, nullable=False),
    )
    op.create_table(
        "source",
        sa.Column("collection_id", sa.Integer, sa.ForeignKey("collection.id"), primary_key=True),
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("root", sa.String, nullable=False),
        sa.Column("held_by_restore", sa.Boolean, nullable=False),
    )


def _create_recipes() -> None:
    op.create_table(
        "model",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("fingerprint", sa.String, nullable=False, unique=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("spec", sa.String, nullable=False),
        sa.Column("dimensions", sa.Integer, nullable=False),
    )
    op.create_table(
        "recipe",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("fingerprint", sa.String, nullable=False, unique=True),
        sa.Column("settings", sa.JSON, nullable=False),
    )
    op.create_table(
        "generation",
        sa.Column("collection_id", sa.Integer, sa.ForeignKey("collection.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("parent", sa.Integer),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("created_at", sa.String, nullable=False),
        sa.Column("model_id", sa.Integer, sa.ForeignKey("model.id"), nullable=False),
        sa.Column("recipe_id", sa.Integer, sa.ForeignKey("recipe.id"), nullable=False),
        sa.Column("report", sa.JSON, nullable=False),
    )


def _create_documents() -> None:
    op.create_table(
        "document",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("collection_id", sa.Integer, sa.ForeignKey("collection.id"), nullable=False),
        sa.Column("source", sa.String, nullable=False),
        sa.Column("path", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("collection_id", "source", "path"),
    )
    op.create_table(
        "revision",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("sha256", sa.String, nullable=False),
        sa.Column("size_bytes", sa.Integer, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("tenant", "sha256"),
    )
    op.create_table(
        "layout",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("revision_id", sa.Integer, sa.ForeignKey("revision.id"), nullable=False),
        sa.Column("recipe_id", sa.Integer, sa.ForeignKey("recipe.id"), nullable=False),
        sa.Column("content_type", sa.String, nullable=False),
        sa.Column("parser", sa.String, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.UniqueConstraint("revision_id", "recipe_id", "content_type", "parser", "ordinal"),
    )


def _create_inputs() -> None:
    op.create_table(
        "input",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("model_id", sa.Integer, sa.ForeignKey("model.id"), nullable=False),
        sa.Column("tokens", sa.Integer, nullable=False),
    )
    op.create_table(
        "vector",
        sa.Column("input_id", sa.Integer, sa.ForeignKey("input.id"), primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "chunk",
        sa.Column("layout_id", sa.Integer, sa.ForeignKey("layout.id"), primary_key=True),
        sa.Column("ordinal", sa.Integer, primary_key=True),
        sa.Column("start", sa.Integer, nullable=False),
        sa.Column("end", sa.Integer, nullable=False),
        sa.Column("heading_path", sa.JSON, nullable=False),
        sa.Column("prefix", sa.String, nullable=False),
        sa.Column("input_id", sa.Integer, sa.ForeignKey("input.id"), nullable=False),
    )
    op.create_index("chunk_input", "chunk", ["input_id"])


def _create_manifest() -> None:
    op.create_table(
        "manifest",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("collection_id", sa.Integer, sa.ForeignKey("collection.id"), nullable=False),
        sa.Column("document_id", sa.Integer, sa.ForeignKey("document.id"), nullable=False),
        sa.Column("revision_id", sa.Integer, sa.ForeignKey("revision.id"), nullable=False),
        sa.Column("layout_id", sa.Integer, sa.ForeignKey("layout.id"), nullable=False),
        sa.Column("metadata", sa.JSON, nullable=False),
        sa.Column("from_generation", sa.Integer, nullable=False),
        sa.Column("to_generation", sa.Integer),
    )
    op.create_index("manifest_visible", "manifest", ["collection_id", "to_generation"])
    op.create_index("manifest_document", "manifest", ["document_id", "from_generation"])
    op.create_index("manifest_layout", "manifest", ["layout_id"])
    op.create_index("manifest_revision", "manifest", ["revision_id"])
