"""The relational model: one description for every engine.

Rows of `manifest` carry the generations they are visible in; the rows of a layout, an input and a
vector never change once written (invariants 3, 5 and 11). Vectors stand in a table of their own, so
that closing a manifest row never rewrites one. Every row carries a seal (see `seals`).
"""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

metadata = MetaData()


def _seal() -> Column[int]:
    """A checksum over the row's other columns."""
    return Column("seal", Integer, nullable=False, server_default="0")


collection = Table(
    "collection",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("tenant", String, nullable=False),
    Column("name", String, nullable=False),
    # How many rows of `audit` are the collection's: one that is gone is missed.
    Column("readings", Integer, nullable=False, server_default="0"),
    _seal(),
    UniqueConstraint("tenant", "name"),
)

head = Table(
    "head",
    metadata,
    Column("collection_id", Integer, ForeignKey("collection.id"), primary_key=True),
    Column("generation", Integer, nullable=False),
    _seal(),
)

model = Table(
    "model",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("fingerprint", String, nullable=False, unique=True),
    Column("name", String, nullable=False),
    Column("spec", String, nullable=False),
    Column("dimensions", Integer, nullable=False),
    _seal(),
)

recipe = Table(
    "recipe",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("fingerprint", String, nullable=False, unique=True),
    Column("settings", JSON, nullable=False),
    _seal(),
)

generation = Table(
    "generation",
    metadata,
    Column("collection_id", Integer, ForeignKey("collection.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("parent", Integer),
    Column("kind", String, nullable=False),
    Column("created_at", String, nullable=False),
    Column("model_id", Integer, ForeignKey("model.id"), nullable=False),
    Column("recipe_id", Integer, ForeignKey("recipe.id"), nullable=False),
    Column("report", JSON, nullable=False),
    _seal(),
)

source = Table(
    "source",
    metadata,
    Column("collection_id", Integer, ForeignKey("collection.id"), primary_key=True),
    Column("name", String, primary_key=True),
    Column("root", String, nullable=False),
    Column("held_by_restore", Boolean, nullable=False, default=False),
    Column("dropped", Boolean, nullable=False, default=False),
    _seal(),
)

document = Table(
    "document",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("collection_id", Integer, ForeignKey("collection.id"), nullable=False),
    Column("source", String, nullable=False),
    Column("path", LargeBinary, nullable=False),
    # Whom the revision last synced narrows the document to; a restore leaves it alone.
    Column("reader_set_id", Integer, ForeignKey("reader_set.id")),
    # How many rows of `access_grant` are the document's: one that is gone is missed.
    Column("grants", Integer, nullable=False, server_default="0"),
    _seal(),
    UniqueConstraint("collection_id", "source", "path"),
)

revision = Table(
    "revision",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("tenant", String, nullable=False),
    Column("sha256", String, nullable=False),
    Column("size_bytes", Integer, nullable=False),
    Column("content", LargeBinary, nullable=False),
    _seal(),
    UniqueConstraint("tenant", "sha256"),
)

layout = Table(
    "layout",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("revision_id", Integer, ForeignKey("revision.id"), nullable=False),
    Column("recipe_id", Integer, ForeignKey("recipe.id"), nullable=False),
    Column("content_type", String, nullable=False),
    Column("parser", String, nullable=False),
    # How many layouts the same revision had under the same settings before: the highest is used.
    Column("ordinal", Integer, nullable=False),
    # (start, end, heading path) of each run of blocks under one path: where sections lie. NULL in
    # what an older version laid out, until it is read again: see `unread`.
    Column("outline", JSON),
    _seal(),
    UniqueConstraint("revision_id", "recipe_id", "content_type", "parser", "ordinal"),
)

input_ = Table(
    "input",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("model_id", Integer, ForeignKey("model.id"), nullable=False),
    Column("tokens", Integer, nullable=False),
    _seal(),
)

vector = Table(
    "vector",
    metadata,
    Column("input_id", Integer, ForeignKey("input.id"), primary_key=True),
    Column("data", LargeBinary, nullable=False),
    _seal(),
)

chunk = Table(
    "chunk",
    metadata,
    Column("layout_id", Integer, ForeignKey("layout.id"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("heading_path", JSON, nullable=False),
    Column("prefix", String, nullable=False),
    Column("input_id", Integer, ForeignKey("input.id"), nullable=False),
    _seal(),
    Index("chunk_input", "input_id"),
)

# How lexical search finds inputs: by the terms of one analyzer, complete for every stored chunk.
lexicon = Table(
    "lexicon",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("analyzer", String, nullable=False),
    Column("is_complete", Boolean, nullable=False),
    _seal(),
)

# An input whose terms are in postings of `segment`, and how many it has, repetitions counted.
indexed = Table(
    "indexed",
    metadata,
    Column("input_id", Integer, ForeignKey("input.id"), primary_key=True),
    Column("segment", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    _seal(),
)

# Which inputs of a segment hold a term, and how often: see `postings`. By term first, so that a
# search reads one stretch of the table; without a row id, so that it stands in that order.
posting = Table(
    "posting",
    metadata,
    Column("term", LargeBinary, primary_key=True),
    Column("segment", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    _seal(),
    sqlite_with_rowid=False,
)

# A user's function over chunks, as its name and the version that the user gives it.
derivation = Table(
    "derivation",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False),
    Column("version", String, nullable=False),
    _seal(),
    UniqueConstraint("name", "version"),
)

# What a function made of a text, under a key of both: see `derived`.
output = Table(
    "output",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("derivation_id", Integer, ForeignKey("derivation.id"), nullable=False),
    Column("text", String, nullable=False),
    _seal(),
)

# Which output each chunk has of each function.
derived = Table(
    "derived",
    metadata,
    Column("layout_id", Integer, ForeignKey("layout.id"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("derivation_id", Integer, ForeignKey("derivation.id"), primary_key=True),
    Column("output_id", Integer, ForeignKey("output.id"), nullable=False),
    _seal(),
    Index("derived_output", "output_id"),
)

manifest = Table(
    "manifest",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("collection_id", Integer, ForeignKey("collection.id"), nullable=False),
    Column("document_id", Integer, ForeignKey("document.id"), nullable=False),
    Column("revision_id", Integer, ForeignKey("revision.id"), nullable=False),
    Column("layout_id", Integer, ForeignKey("layout.id"), nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("from_generation", Integer, nullable=False),
    Column("to_generation", Integer),
    # What this revision says of its own readers and dates (see `access.narrowing`).
    Column("reader_set_id", Integer, ForeignKey("reader_set.id")),
    Column("effective_from", BigInteger),
    Column("effective_until", BigInteger),
    _seal(),
    Index("manifest_visible", "collection_id", "to_generation"),
    Index("manifest_document", "document_id", "from_generation"),
    Index("manifest_layout", "layout_id"),
    Index("manifest_revision", "revision_id"),
)

_is_dated = manifest.c.effective_from.is_not(None) | manifest.c.effective_until.is_not(None)
Index(
    "manifest_dated",
    manifest.c.collection_id,
    manifest.c.effective_from,
    manifest.c.effective_until,
    sqlite_where=_is_dated,
    postgresql_where=_is_dated,
)

reader_set = Table(
    "reader_set",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", String, nullable=False, unique=True),
    _seal(),
)

reader = Table(
    "reader",
    metadata,
    Column("set_id", Integer, ForeignKey("reader_set.id"), primary_key=True),
    Column("name", String, primary_key=True),
    _seal(),
    Index("reader_name", "name", "set_id"),
)

# The log of policies: rows are added and never changed.
policy = Table(
    "policy",
    metadata,
    Column("collection_id", Integer, ForeignKey("collection.id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("applied_at", String, nullable=False),
    Column("author", String, nullable=False),
    Column("text", String, nullable=False),
    _seal(),
)

# What each policy came to for each document, over the versions in which it held. Dates in
# microseconds since 1970.
access_grant = Table(
    "access_grant",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("collection_id", Integer, ForeignKey("collection.id"), nullable=False),
    Column("document_id", Integer, ForeignKey("document.id"), nullable=False),
    Column("from_version", Integer, nullable=False),
    Column("to_version", Integer),
    Column("reader_set_id", Integer, ForeignKey("reader_set.id"), nullable=False),
    Column("effective_from", BigInteger),
    Column("effective_until", BigInteger),
    Column("status", String),
    Column("status_by", String),
    Column("status_at", String),
    Column("section_count", Integer, nullable=False),
    Column("sections", JSON, nullable=False),
    Column("rules", JSON, nullable=False),
    _seal(),
    Index("access_grant_readers", "collection_id", "to_version", "reader_set_id"),
    Index("access_grant_document", "document_id", "from_version"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("collection_id", Integer, ForeignKey("collection.id"), nullable=False),
    Column("at", String, nullable=False),
    Column("principal", String, nullable=False),
    Column("verified_by", String, nullable=False),
    Column("action", String, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("policy_version", Integer, nullable=False),
    Column("effective", String, nullable=False),
    Column("query", String),
    Column("citations", JSON, nullable=False),
    _seal(),
)

# What the last listing of each source held, whether or not it published anything.
held = Table(
    "held",
    metadata,
    Column("collection_id", Integer, ForeignKey("collection.id"), primary_key=True),
    Column("source", String, primary_key=True),
    Column("path", LargeBinary, primary_key=True),
    Column("kind", String, nullable=False),
    Column("position", Integer),
    Column("message", String, nullable=False),
    _seal(),
)

# Inputs that a writer is embedding now; `holder` names its process and its run.
lease = Table(
    "lease",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("holder", String, nullable=False),
    _seal(),
    Index("lease_holder", "holder"),
)

# What was taken out of the store: its newest id tells readers and writers whether anything was.
# Of a prune, `oldest` is the first generation kept and `documents` how many that one holds.
removal = Table(
    "removal",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("collection_id", Integer, ForeignKey("collection.id"), nullable=False),
    Column("kind", String, nullable=False),
    Column("removed_at", String, nullable=False),
    Column("oldest", Integer),
    Column("documents", Integer),
    _seal(),
)

# Documents that must not come back, by a salted digest of their names: see `denials`.
denied = Table(
    "denied",
    metadata,
    Column("collection_id", Integer, ForeignKey("collection.id"), primary_key=True),
    Column("digest", LargeBinary, primary_key=True),
    Column("salt", LargeBinary, nullable=False),
    _seal(),
)
