"""A seal in every row: rows of the first format are sealed as they stand."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

# In the order of each table's columns, without the ids that the engine chooses: numbers are
# quoted, texts in hexadecimal digits, bytes by their checksum.
_SEALED = {
    "collection": ("hex(tenant)", "hex(name)", "quote(readings)"),
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
    "document": (
        "quote(collection_id)",
        "hex(source)",
        "crc32(path)",
        "quote(reader_set_id)",
        "quote(grants)",
    ),
    "revision": ("hex(tenant)", "hex(sha256)", "quote(size_bytes)", "crc32(content)"),
    "layout": (
        "quote(revision_id)",
        "quote(recipe_id)",
        "hex(content_type)",
        "hex(parser)",
        "quote(ordinal)",
        "hex(outline)",
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
        "quote(reader_set_id)",
        "quote(effective_from)",
        "quote(effective_until)",
    ),
    "reader_set": ("hex(digest)",),
    "reader": ("quote(set_id)", "hex(name)"),
    "policy": (
        "quote(collection_id)",
        "quote(version)",
        "hex(applied_at)",
        "hex(author)",
        "hex(text)",
    ),
    "access_grant": (
        "quote(collection_id)",
        "quote(document_id)",
        "quote(from_version)",
        "quote(to_version)",
        "quote(reader_set_id)",
        "quote(effective_from)",
        "quote(effective_until)",
        "hex(status)",
        "hex(status_by)",
        "hex(status_at)",
        "quote(section_count)",
        "hex(sections)",
        "hex(rules)",
    ),
    "audit": (
        "quote(collection_id)",
        "hex(at)",
        "hex(principal)",
        "hex(verified_by)",
        "hex(action)",
        "quote(generation)",
        "quote(policy_version)",
        "hex(effective)",
        "hex(query)",
        "hex(citations)",
    ),
}


def upgrade() -> None:
    for table, parts in _SEALED.items():
        column = sa.Column("seal", sa.Integer, nullable=False, server_default="0")
        op.add_column(table, column)
        joined = " || ',' || ".join(parts)
        op.execute(f"UPDATE {table} SET seal = crc32(CAST({joined} AS BLOB))")
