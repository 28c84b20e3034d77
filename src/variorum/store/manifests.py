"""What each generation holds of each document."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, or_, select

from variorum.records.names import DocumentName
from variorum.store.schema import document, layout, manifest, revision
from variorum.store.seals import require_sound, unsound


class ManifestRow(NamedTuple):
    """What one generation holds of one document."""

    id: int
    document_id: int
    document: DocumentName
    revision_id: int
    sha256: str
    layout_id: int
    content_type: str
    metadata: Mapping[str, Mapping[str, object]]
    recipe_id: int
    parser: str
    from_generation: int
    reader_set_id: int | None
    effective_from: int | None
    effective_until: int | None

    @property
    def fields(self) -> dict[str, object]:
        """The user's metadata: the source's own, over what the document says of itself."""
        return {**self.metadata.get("document", {}), **self.metadata.get("source", {})}


def same_metadata(old: Mapping[str, object], new: Mapping[str, object]) -> bool:
    """Whether two metadata are stored alike. Unlike `==`, tells 1 from true and from 1.0."""
    if not old and not new:
        return True
    return json.dumps(dict(old), sort_keys=True) == json.dumps(dict(new), sort_keys=True)


def visible_at(number: int) -> ColumnElement[bool]:
    """The condition under which a manifest row belongs to generation `number`."""
    return (manifest.c.from_generation <= number) & or_(
        manifest.c.to_generation.is_(None), manifest.c.to_generation > number
    )


def manifest_query(collection_id: int) -> Select[Any]:
    """Manifest rows of a collection with the names and hashes that they point to."""
    return (
        select(
            manifest.c.id,
            manifest.c.document_id,
            document.c.source,
            document.c.path,
            manifest.c.revision_id,
            revision.c.sha256,
            manifest.c.layout_id,
            layout.c.content_type,
            manifest.c.metadata,
            layout.c.recipe_id,
            layout.c.parser,
            manifest.c.from_generation,
            manifest.c.reader_set_id,
            manifest.c.effective_from,
            manifest.c.effective_until,
            *unsound(manifest, document, layout),
        )
        .select_from(
            manifest.join(document, document.c.id == manifest.c.document_id)
            .join(revision, revision.c.id == manifest.c.revision_id)
            .join(layout, layout.c.id == manifest.c.layout_id)
        )
        .where(manifest.c.collection_id == collection_id)
    )


def read_manifest(connection: Connection, query: Select[Any]) -> list[ManifestRow]:
    """Run a `manifest_query`.

    Raises:
        DamagedError: a row is not as it was written.
    """
    return [_row(*require_sound(row, 3)) for row in connection.execute(query).all()]


def _row(identifier: int, document_id: int, source: str, path: bytes, *rest: Any) -> ManifestRow:
    return ManifestRow(identifier, document_id, DocumentName(source, path), *rest)
