"""What a publish brings from the staged plan: documents, revisions, layouts, chunks, manifest rows.

All within the publish's transaction; rows in proportion to the staged documents.
"""

from sqlalchemy import Connection, Integer, bindparam, func, literal, select, update

from variorum.store import schema
from variorum.store.seals import insert_selected, resealed, sealed_columns
from variorum.store.staged import (
    BRINGS_LAYOUT,
    CLOSING,
    SAME_LAYOUT,
    SAME_REVISION,
    staged_chunk,
    staged_document,
)

# Built once: building such a statement costs more than running it.
_COLLECTION = bindparam("of_collection", type_=Integer)
_RECIPE = bindparam("of_recipe", type_=Integer)
_NUMBER = bindparam("new_number", type_=Integer)
_NEW_DOCUMENTS = select(
    _COLLECTION, staged_document.c.source, staged_document.c.path, literal(0)
).where(staged_document.c.closes.is_(None))
_NEW_REVISIONS = select(
    staged_document.c.tenant,
    staged_document.c.sha256,
    staged_document.c.size_bytes,
    staged_document.c.content,
).where(staged_document.c.sha256.is_not(None), ~select(literal(1)).where(SAME_REVISION).exists())
_NEW_LAYOUTS = (
    select(
        schema.revision.c.id,
        _RECIPE,
        staged_document.c.content_type,
        staged_document.c.parser,
        staged_document.c.layout_ordinal,
        staged_document.c.outline,
    )
    .select_from(staged_document.join(schema.revision, SAME_REVISION))
    .where(BRINGS_LAYOUT)
)
_NEWEST_LAYOUT = select(func.coalesce(func.max(schema.layout.c.id), 0))
_NEW_CHUNKS = (
    select(
        schema.layout.c.id,
        staged_chunk.c.ordinal,
        staged_chunk.c.start,
        staged_chunk.c.end,
        staged_chunk.c.heading_path,
        staged_chunk.c.prefix,
        schema.input_.c.id,
    )
    .select_from(
        staged_document.join(schema.revision, SAME_REVISION)
        .join(schema.layout, SAME_LAYOUT)
        .join(staged_chunk, staged_chunk.c.document_id == staged_document.c.id)
        .join(schema.input_, schema.input_.c.key == staged_chunk.c.key)
    )
    .where(
        BRINGS_LAYOUT,
        schema.layout.c.recipe_id == _RECIPE,
        schema.layout.c.id > bindparam("newest_layout", type_=Integer),
    )
)
_CLOSED_ROWS = (
    update(schema.manifest)
    .where(schema.manifest.c.id.in_(CLOSING))
    .values(resealed(schema.manifest, to_generation=_NUMBER))
)
_OPENED_ROWS = (
    select(
        _COLLECTION,
        schema.document.c.id,
        schema.revision.c.id,
        schema.layout.c.id,
        staged_document.c.metadata,
        _NUMBER,
    )
    .select_from(
        staged_document.join(
            schema.document,
            (schema.document.c.source == staged_document.c.source)
            & (schema.document.c.path == staged_document.c.path),
        )
        .join(schema.revision, SAME_REVISION)
        .join(schema.layout, SAME_LAYOUT)
    )
    .where(
        schema.document.c.collection_id == _COLLECTION,
        schema.layout.c.recipe_id == _RECIPE,
    )
)
MANIFEST_COLUMNS = (
    "collection_id",
    "document_id",
    "revision_id",
    "layout_id",
    "metadata",
    "from_generation",
)
"""Those of a manifest row that a publish opens."""


def add_documents(connection: Connection, collection_id: int) -> None:
    """The names that the collection never held."""
    columns = ("collection_id", "source", "path", "grants")
    wanted = {"of_collection": collection_id}
    insert_selected(connection, schema.document, columns, _NEW_DOCUMENTS, wanted, ignoring=True)


def add_revisions(connection: Connection) -> None:
    """The contents that the tenant never held."""
    columns = ("tenant", "sha256", "size_bytes", "content")
    insert_selected(connection, schema.revision, columns, _NEW_REVISIONS, ignoring=True)


def add_layouts(connection: Connection, recipe_id: int) -> None:
    """The layouts that were laid out for the plan, and their chunks."""
    wanted = {"of_recipe": recipe_id}
    newest = connection.execute(_NEWEST_LAYOUT).scalar_one()
    columns = ("revision_id", "recipe_id", "content_type", "parser", "ordinal", "outline")
    insert_selected(connection, schema.layout, columns, _NEW_LAYOUTS, wanted, ignoring=True)
    of_chunk = tuple(column.name for column in sealed_columns(schema.chunk))
    wanted["newest_layout"] = newest
    insert_selected(connection, schema.chunk, of_chunk, _NEW_CHUNKS, wanted)


def close_rows(connection: Connection, number: int) -> None:
    """The manifest rows that the staged documents end."""
    connection.execute(_CLOSED_ROWS, {"new_number": number})


def open_rows(connection: Connection, collection_id: int, recipe_id: int, number: int) -> None:
    """A manifest row for each staged document that goes on."""
    wanted = {"of_collection": collection_id, "of_recipe": recipe_id, "new_number": number}
    insert_selected(connection, schema.manifest, MANIFEST_COLUMNS, _OPENED_ROWS, wanted)
