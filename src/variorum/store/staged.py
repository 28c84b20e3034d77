"""The temporary tables that hold a plan, and the state of a layout before it is published."""

from sqlalchemy import JSON, Column, Index, Integer, LargeBinary, MetaData, String, Table, select

from variorum.store.schema import layout, revision

temporary = MetaData()

staged_document = Table(
    "staged_document",
    temporary,
    Column("id", Integer, primary_key=True),
    # On the row, so that a join can only find its revision by tenant and hash together: given the
    # tenant alone, SQLite walks through all of its revisions.
    Column("tenant", String, nullable=False),
    Column("action", String, nullable=False),
    Column("source", String, nullable=False),
    Column("path", LargeBinary, nullable=False),
    Column("closes", Integer),
    Column("content_type", String),
    Column("parser", String),
    Column("metadata", JSON),
    Column("outline", JSON),
    Column("sha256", String),
    Column("size_bytes", Integer),
    Column("content", LargeBinary),
    Column("layout_id", Integer),
    Column("layout_ordinal", Integer),
    Column("laid_out_by", Integer),
    Index("staged_revision", "sha256", "content_type"),
    prefixes=["TEMPORARY"],
)

staged_chunk = Table(
    "staged_chunk",
    temporary,
    Column("document_id", Integer, primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("heading_path", JSON, nullable=False),
    Column("prefix", String, nullable=False),
    Column("key", LargeBinary, nullable=False),
    Index("staged_chunk_key", "key"),
    prefixes=["TEMPORARY"],
)

staged_input = Table(
    "staged_input",
    temporary,
    Column("key", LargeBinary, primary_key=True),
    Column("tokens", Integer, nullable=False),
    Column("text", String),
    Column("document_id", Integer, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("sent", Integer, nullable=False, server_default="0"),
    Index("staged_input_order", "document_id", "ordinal"),
    prefixes=["TEMPORARY"],
)

# Chunks that lack an output: of a staged document, or of a stored layout.
staged_derived = Table(
    "staged_derived",
    temporary,
    Column("id", Integer, primary_key=True),
    Column("document_id", Integer),
    Column("layout_id", Integer),
    Column("ordinal", Integer, nullable=False),
    Column("key", LargeBinary, nullable=False),
    Index("staged_derived_key", "key"),
    prefixes=["TEMPORARY"],
)

# Their outputs, each once; the text is that of the chunk, while no output of it is stored.
staged_output = Table(
    "staged_output",
    temporary,
    Column("key", LargeBinary, primary_key=True),
    Column("derivation", Integer, nullable=False),
    Column("text", String),
    prefixes=["TEMPORARY"],
)

staged_indexed = Table(
    "staged_indexed",
    temporary,
    Column("input_id", Integer, primary_key=True),
    Column("segment", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    prefixes=["TEMPORARY"],
)

staged_posting = Table(
    "staged_posting",
    temporary,
    Column("term", LargeBinary, primary_key=True),
    Column("segment", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    prefixes=["TEMPORARY"],
)

BRINGS_LAYOUT = staged_document.c.layout_id.is_(None) & staged_document.c.laid_out_by.is_(None)
"""Neither history nor another staged document has the layout of a staged document that changes."""

CLOSING = select(staged_document.c.closes).where(staged_document.c.closes.is_not(None))
"""The manifest rows that the plan closes."""

SAME_REVISION = (revision.c.tenant == staged_document.c.tenant) & (
    revision.c.sha256 == staged_document.c.sha256
)
"""The stored revision of a staged document."""

SAME_LAYOUT = (
    (layout.c.revision_id == revision.c.id)
    & (layout.c.content_type == staged_document.c.content_type)
    & (layout.c.parser == staged_document.c.parser)
    & (layout.c.ordinal == staged_document.c.layout_ordinal)
)
"""Its layout, under each recipe that it has one of."""
