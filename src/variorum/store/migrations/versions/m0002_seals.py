"""A seal in every row: rows of the first format are sealed as they stand."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

# In the order of each table's columns, without the ids that the engine chooses: numbers are
# quoted, texts in hexadecimal digits, bytes by their checksum.
_SEALED = {
    "collection": ("hex(tenant)", "hex(name)"),
    "head": ("quote(collection_id)", "quote(generation)"),
    "model": ("hex(fingerprint)", "hex(name)", "hex(spec)", "quote(dimensions)"),
    "recipe": ("hex(fingerprint)", "hex(settings)"),
    "generation": (
        "quote(collection_id)",
        "quote(number)",
        "quote(parent)",
        "hex(kind)",
        "hex(created_at)",
        "quote(model_id)",
        "quote(recipe_id)",
        "hex(report)",
    ),
    "source": ("quote(collection_id)", "hex(name)", "hex(root)", "quote(held_by_restore)"),
    "document": ("quote(collection_id)", "hex(source)", "crc32(path)"),
    "revision": ("hex(tenant)", "hex(sha256)", "quote(size_bytes)", "crc32(content)"),
    "layout": (
        "quote(revision_id)",
        "quote(recipe_id)",
        "hex(content_type)",
        "hex(parser)",
        "quote(ordinal)",
    ),
    "input": ("crc32(key)", "quote(model_id)", "quote(tokens)"),
    "vector": ("quote(input_id)", "crc32(data)"),
    "chunk": (
        "quote(layout_id)",
        "quote(ordinal)",
        "quote(start)",
        'quote("end")',
        "hex(heading_path)",
        "hex(prefix)",
        "quote(input_id)",
    ),
    "manifest": (
        "quote(collection_id)",
        "quote(document_id)",
        "quote(revision_id)",
        "quote(layout_id)",
        "hex(metadata)",
        "quote(from_generation)",
        "quote(to_generation)",
    ),
}


def upgrade() -> None:
    for table, parts in _SEALED.items():
        column = sa.Column("seal", sa.Integer, nullable=False, server_default="0")
        op.add_column(table, column)
        joined = " || ',' || ".join(parts)
        op.execute(f"UPDATE {table} SET seal = crc32(CAST({joined} AS BLOB))")
