"""What older versions laid out, before anybody looked for its sections and for what it narrows.

Such a layout has no outline, and its rows and documents are narrowed to nobody, until it is read
again. What is damaged, or says of itself what cannot be read, stays so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from sqlalchemy import Connection, func, select, update

from variorum.store.contents import inflated
from variorum.store.engine import write_transaction
from variorum.store.granting import narrow, zone_of
from variorum.store.lexicon import within
from variorum.store.schema import document, generation, layout, manifest, revision
from variorum.store.seals import is_sound, reseal_row, resealed


@dataclass(frozen=True, slots=True)
class Unread:
    """A layout that was not read for access yet, and its revision."""

    layout_id: int
    content: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What the revision of a layout says: where its sections lie, and of itself.

    `metadata` is None where that cannot be told.
    """

    layout_id: int
    outline: Sequence[tuple[int, int, Sequence[str]]]
    metadata: Mapping[str, Mapping[str, object]] | None


def unread_layouts(connection: Connection) -> Iterator[Unread]:
    """Every layout that was not read for access yet, one after the other, but those damaged."""
    query = (
        select(layout.c.id, revision.c.content, layout.c.content_type, revision.c.id)
        .join(revision, revision.c.id == layout.c.revision_id)
        .where(layout.c.outline.is_(None), is_sound(layout), is_sound(revision))
        .order_by(layout.c.id)
        .limit(1)
    )
    last = 0
    while True:
        with within(connection):
            row = connection.execute(query.where(layout.c.id > last)).first()
        if row is None:
            return
        yield Unread(row[0], inflated(row[1], row[3]), row[2])
        last = row[0]


def record_readings(connection: Connection, readings: Sequence[Reading]) -> None:
    """Keep what was read, in one transaction; what another process kept before stays."""
    with write_transaction(connection):
        for reading in readings:
            is_mine = layout.c.id == reading.layout_id
            unread = update(layout).where(is_mine, layout.c.outline.is_(None), is_sound(layout))
            noted = unread.values(resealed(layout, outline=list(reading.outline)))
            if connection.execute(noted).rowcount and reading.metadata is not None:
                _open(connection, reading.layout_id, reading.metadata)


def _open(
    connection: Connection, layout_id: int, metadata: Mapping[str, Mapping[str, object]]
) -> None:
    """Narrow the rows of a layout to what its revision says, and the documents that it was last
    synced as.
    """
    query = (
        select(manifest)
        .join(document, document.c.id == manifest.c.document_id)
        .where(manifest.c.layout_id == layout_id, is_sound(manifest), is_sound(document))
    )
    zones: dict[int, tzinfo] = {}
    for row in connection.execute(query).all():
        zone = zones.setdefault(row.collection_id, zone_of(connection, row.collection_id))
        reseal_row(connection, manifest, row.id, metadata={**row.metadata, **metadata})
        last = row.from_generation == _last_synced(connection, row.document_id)
        of = row.document_id if last else None
        narrow(connection, row.id, of, metadata.get("access", {}), zone)


def _last_synced(connection: Connection, document_id: int) -> int | None:
    """The last generation to which a sync, and not a restore, brought a revision."""
    published = (generation.c.collection_id == manifest.c.collection_id) & (
        generation.c.number == manifest.c.from_generation
    )
    query = (
        select(func.max(manifest.c.from_generation))
        .join(generation, published)
        .where(manifest.c.document_id == document_id, ~generation.c.kind.startswith("restore of "))
    )
    found: int | None = connection.execute(query).scalar()
    return found
