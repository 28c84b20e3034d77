"""One staged document read back, beside what the parent generation holds of it."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import func, select

from variorum.records.layout import Chunk
from variorum.records.names import DocumentName
from variorum.store.contents import inflated
from variorum.store.manifests import ManifestRow, manifest_query, read_manifest
from variorum.store.schema import manifest, model, recipe
from variorum.store.staged import staged_chunk, staged_document, staged_input
from variorum.store.staging import Staging


@dataclass(frozen=True, slots=True)
class StagedDocument:
    """A staged revision with its layout; `embedded` are the chunks whose input it brings.

    A chunk whose input has a vector, or stands in the document before it, is not among them.
    """

    content: bytes
    content_type: str
    parser: str
    chunks: tuple[Chunk, ...]
    embedded: tuple[int, ...]
    closes: int | None


def read_staged(staging: Staging, document: DocumentName) -> StagedDocument | None:
    """The staged revision of a document; None where the plan holds none of it."""
    if staging.is_empty:
        return None
    query = select(staged_document).where(
        staged_document.c.source == document.source, staged_document.c.path == document.path
    )
    with staging.connection.begin():
        row = staging.connection.execute(query).one_or_none()
    if row is None or row.content is None:
        return None
    chunks, embedded = _read_chunks(staging, row.id)
    content = zlib.decompress(row.content)
    return StagedDocument(content, row.content_type, row.parser, chunks, embedded, row.closes)


def staged_content(staging: Staging, identifier: int) -> tuple[bytes, str]:
    """Within a transaction: the bytes and the content type of a staged revision."""
    query = select(staged_document.c.content, staged_document.c.content_type).where(
        staged_document.c.id == identifier
    )
    packed, content_type = staging.connection.execute(query).one()
    return inflated(packed, identifier), content_type


def _read_chunks(staging: Staging, identifier: int) -> tuple[tuple[Chunk, ...], tuple[int, ...]]:
    mine = staged_input.c.document_id == staged_chunk.c.document_id
    query = (
        select(
            staged_chunk,
            staged_input.c.tokens,
            (staged_input.c.text.is_not(None) & mine).label("embeds"),
            func.min(staged_chunk.c.ordinal).over(partition_by=staged_chunk.c.key).label("first"),
        )
        .join(staged_input, staged_input.c.key == staged_chunk.c.key)
        .where(staged_chunk.c.document_id == identifier)
        .order_by(staged_chunk.c.ordinal)
    )
    with staging.connection.begin():
        rows = staging.connection.execute(query).all()
    chunks = tuple(
        Chunk(row.start, row.end, row.tokens, tuple(row.heading_path), row.prefix) for row in rows
    )
    return chunks, tuple(row.ordinal for row in rows if row.embeds and row.ordinal == row.first)


def read_row(staging: Staging, collection_id: int, row_id: int) -> ManifestRow:
    """A manifest row of the parent generation."""
    with staging.connection.begin():
        query = manifest_query(collection_id).where(manifest.c.id == row_id)
        return read_manifest(staging.connection, query)[0]


def read_settings(staging: Staging, recipe_id: int) -> Mapping[str, object]:
    """The settings of a recipe."""
    query = select(recipe.c.settings).where(recipe.c.id == recipe_id)
    with staging.connection.begin():
        settings: Mapping[str, object] = staging.connection.execute(query).scalar_one()
    return settings


def model_name(staging: Staging, fingerprint: str) -> str:
    """The name of a registered model, or an empty string."""
    query = select(model.c.name).where(model.c.fingerprint == fingerprint)
    with staging.connection.begin():
        return str(staging.connection.execute(query).scalar() or "")
