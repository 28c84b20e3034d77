"""Publishing an old state as a new generation."""

from sqlalchemy import Connection, Integer, bindparam, select, update

from variorum.store import schema
from variorum.store.bringing import MANIFEST_COLUMNS
from variorum.store.engine import write_transaction
from variorum.store.manifests import visible_at
from variorum.store.publish import Publication, advance_head
from variorum.store.seals import insert_selected, resealed


def restore(connection: Connection, publication: Publication, wanted: int) -> int:
    """Publish generation `wanted`'s documents as the next one, and return its number.

    Every source is held until it is released, so that the next sync does not undo the restore. A
    document's revision, layout and metadata come back; a policy never does (invariant 8).

    Raises:
        ConflictError: another writer published meanwhile; nothing is written.
    """
    rows = schema.manifest
    old = rows.alias("old")
    with write_transaction(connection):
        number = advance_head(connection, publication)
        same = (
            select(old.c.id)
            .where(
                old.c.collection_id == publication.collection_id,
                old.c.document_id == rows.c.document_id,
                old.c.layout_id == rows.c.layout_id,
                old.c.metadata == rows.c.metadata,
                old.c.from_generation <= wanted,
                (old.c.to_generation.is_(None)) | (old.c.to_generation > wanted),
            )
            .exists()
        )
        connection.execute(
            update(rows)
            .where(
                rows.c.collection_id == publication.collection_id,
                rows.c.to_generation.is_(None),
                ~same,
            )
            .values(resealed(rows, to_generation=number))
        )
        still_open = (
            select(old.c.id)
            .where(
                old.c.collection_id == publication.collection_id,
                old.c.document_id == rows.c.document_id,
                old.c.to_generation.is_(None),
            )
            .exists()
        )
        back = select(
            rows.c.collection_id,
            rows.c.document_id,
            rows.c.revision_id,
            rows.c.layout_id,
            rows.c.metadata,
            bindparam("number", number, type_=Integer),
            rows.c.reader_set_id,
            rows.c.effective_from,
            rows.c.effective_until,
        ).where(
            rows.c.collection_id == publication.collection_id,
            visible_at(wanted),
            ~still_open,
        )
        narrowed = ("reader_set_id", "effective_from", "effective_until")
        insert_selected(connection, rows, (*MANIFEST_COLUMNS, *narrowed), back)
        connection.execute(
            update(schema.source)
            .where(schema.source.c.collection_id == publication.collection_id)
            .values(resealed(schema.source, held_by_restore=True))
        )
        _take_back_sources(connection, publication.collection_id)
    return number


def _take_back_sources(connection: Connection, collection_id: int) -> None:
    """Sources that were dropped and have documents again are known again."""
    with_documents = (
        select(schema.document.c.source)
        .join(schema.manifest, schema.manifest.c.document_id == schema.document.c.id)
        .where(
            schema.manifest.c.collection_id == collection_id,
            schema.manifest.c.to_generation.is_(None),
        )
    )
    connection.execute(
        update(schema.source)
        .where(
            schema.source.c.collection_id == collection_id,
            schema.source.c.dropped,
            schema.source.c.name.in_(with_documents),
        )
        .values(resealed(schema.source, dropped=False))
    )
