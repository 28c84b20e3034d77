"""Who may read what. What older versions published is the owner's alone until it is read again.

Their revisions may narrow their own readers, which those versions did not look at: every row is
narrowed to the empty reader set, and every layout is without an outline, until `store.unread` has
been through them.
"""

import hashlib

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_NOBODY = hashlib.sha256(b"").hexdigest()

_COLUMNS = {
    "collection": ("readings INTEGER NOT NULL DEFAULT 0",),
    "document": (
        "reader_set_id INTEGER REFERENCES reader_set (id)",
        "grants INTEGER NOT NULL DEFAULT 0",
    ),
    "layout": ("outline JSON",),
    "manifest": (
        "reader_set_id INTEGER REFERENCES reader_set (id)",
        "effective_from BIGINT",
        "effective_until BIGINT",
    ),
}

# What each seal covered before, in the order of the columns, and what it covers beside that now.
_SEALED = {
    "collection": (("hex(tenant)", "hex(name)"), ("0",)),
    "document": (("quote(collection_id)", "hex(source)", "crc32(path)"), ("{nobody}", "0")),
    "layout": (
        (
            "quote(revision_id)",
            "quote(recipe_id)",
            "hex(content_type)",
            "hex(parser)",
            "quote(ordinal)",
        ),
        ("hex(NULL)",),
    ),
    "manifest": (
        (
            "quote(collection_id)",
            "quote(document_id)",
            "quote(revision_id)",
            "quote(layout_id)",
            "hex(metadata)",
            "quote(from_generation)",
            "quote(to_generation)",
        ),
        ("{nobody}", "quote(NULL)", "quote(NULL)"),
    ),
}


def upgrade() -> None:
    _create_readers()
    _create_policies()
    _create_audit()
    for table, columns in _COLUMNS.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    _index_dates()
    _close()


def _seal() -> sa.Column[int]:
    return sa.Column("seal", sa.Integer, nullable=False, server_default="0")


def _create_readers() -> None:
    op.create_table(
        "reader_set",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("digest", sa.String, nullable=False, unique=True),
        _seal(),
    )
    op.create_table(
        "reader",
        sa.Column("set_id", sa.Integer, sa.ForeignKey("reader_set.id"), primary_key=True),
        sa.Column("name", sa.String, primary_key=True),
        _seal(),
    )
    op.create_index("reader_name", "reader", ["name", "set_id"])


def _create_policies() -> None:
    op.create_table(
        "policy",
        sa.Column("collection_id", sa.Integer, sa.ForeignKey("collection.id"), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("applied_at", sa.String, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("text", sa.String, nullable=False),
        _seal(),
    )
    op.create_table(
        "access_grant",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("collection_id", sa.Integer, sa.ForeignKey("collection.id"), nullable=False),
        sa.Column("document_id", sa.Integer, sa.ForeignKey("document.id"), nullable=False),
        sa.Column("from_version", sa.Integer, nullable=False),
        sa.Column("to_version", sa.Integer),
        sa.Column("reader_set_id", sa.Integer, sa.ForeignKey("reader_set.id"), nullable=False),
        sa.Column("effective_from", sa.BigInteger),
        sa.Column("effective_until", sa.BigInteger),
        sa.Column("status", sa.String),
        sa.Column("status_by", sa.String),
        sa.Column("status_at", sa.String),
        sa.Column("section_count", sa.Integer, nullable=False),
        sa.Column("sections", sa.JSON, nullable=False),
        sa.Column("rules", sa.JSON, nullable=False),
        _seal(),
    )
    readers = ["collection_id", "to_version", "reader_set_id"]
    op.create_index("access_grant_readers", "access_grant", readers)
    op.create_index("access_grant_document", "access_grant", ["document_id", "from_version"])


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("collection_id", sa.Integer, sa.ForeignKey("collection.id"), nullable=False),
        sa.Column("at", sa.String, nullable=False),
        sa.Column("principal", sa.String, nullable=False),
        sa.Column("verified_by", sa.String, nullable=False),
        sa.Column("action", sa.String, nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("policy_version", sa.Integer, nullable=False),
        sa.Column("effective", sa.String, nullable=False),
        sa.Column("query", sa.String),
        sa.Column("citations", sa.JSON, nullable=False),
        _seal(),
    )


def _index_dates() -> None:
    is_dated = sa.text("effective_from IS NOT NULL OR effective_until IS NOT NULL")
    op.create_index(
        "manifest_dated",
        "manifest",
        ["collection_id", "effective_from", "effective_until"],
        sqlite_where=is_dated,
        postgresql_where=is_dated,
    )


def _close() -> None:
    """Narrow every row to nobody, sealed; one that is damaged stays known as damaged."""
    op.execute(
        f"INSERT INTO reader_set (digest, seal) SELECT '{_NOBODY}', {_checksum(_hex(_NOBODY))}"
        " WHERE EXISTS (SELECT 1 FROM document)"
    )
    nobody = "(SELECT id FROM reader_set)"
    for table, (before, beside) in _SEALED.items():
        now = [*before, *(part.format(nobody=nobody) for part in beside)]
        fits = f"seal = {_checksum(*before)}"
        closing = f"reader_set_id = {nobody}, " if "{nobody}" in beside else ""
        sealing = f"seal = CASE WHEN {fits} THEN {_checksum(*now)} ELSE -1 END"
        op.execute(f"UPDATE {table} SET {closing}{sealing}")


def _hex(text: str) -> str:
    return f"hex('{text}')"


def _checksum(*parts: str) -> str:
    joined = " || ',' || ".join(parts)
    return f"crc32(CAST({joined} AS BLOB))"
