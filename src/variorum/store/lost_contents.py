"""Revisions whose bytes are damaged: which they are, who holds them, and writing proven bytes."""

import hashlib
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, select

from variorum.records.repairs import Mended
from variorum.store.flips import RawRow, Value, raw_seal
from variorum.store.mending import raw_rows, row_name, write_raw
from variorum.store.schema import collection, document, manifest, revision
from variorum.store.seals import is_sound


class LostContent(NamedTuple):
    """A revision whose bytes are not those that it is named by, or whose row is damaged.

    `content` are the bytes where they hash to `sha256`, else None.
    """

    row: RawRow
    sha256: str
    content: bytes | None


def lost_contents(connection: Connection) -> list[LostContent]:
    """Every damaged revision. Linear in the revisions' bytes."""
    identifiers = connection.execute(select(revision.c.id)).scalars().all()
    unsound = set(connection.execute(select(revision.c.id).where(~is_sound(revision))).scalars())
    return [
        lost
        for identifier in identifiers
        if (lost := _lost(connection, identifier, is_unsound=identifier in unsound)) is not None
    ]


def _lost(connection: Connection, identifier: int, *, is_unsound: bool) -> LostContent | None:
    [row] = raw_rows(connection, revision, revision.c.id == identifier)
    content = _inflated(row.values["content"])
    found = None if content is None else hashlib.sha256(content).hexdigest()
    named = row.values["sha256"]
    sha256 = named.decode(errors="replace") if isinstance(named, bytes) else ""
    if found == sha256:
        return LostContent(row, sha256, content) if is_unsound else None
    if found is not None and _is_named(row, found):
        return LostContent(row, found, content)
    return LostContent(row, sha256, None)


def _is_named(row: RawRow, sha256: str) -> bool:
    """Whether the row's checksum says that it was named so."""
    return raw_seal(revision, {**row.values, "sha256": sha256.encode()}) == row.seal


def _inflated(packed: object) -> bytes | None:
    try:
        return zlib.decompress(packed) if isinstance(packed, bytes) else None
    except zlib.error:
        return None


def twin_content(connection: Connection, sha256: str) -> bytes | None:
    """The bytes of another tenant's revision of the same content."""
    query = select(revision.c.content).where(revision.c.sha256 == sha256, is_sound(revision))
    for packed in connection.execute(query).scalars():
        content = _inflated(packed)
        if content is not None and hashlib.sha256(content).hexdigest() == sha256:
            return content
    return None


def put_content_back(
    connection: Connection, lost: LostContent, content: bytes, how: str
) -> Iterator[Mended]:
    """Write a revision again with bytes that hash to its name, where it is damaged still."""
    [now] = raw_rows(connection, revision, revision.c.id == lost.row.values["id"])
    if now != lost.row:
        return
    changed: dict[str, Value] = {
        "content": zlib.compress(content, 6),
        "sha256": lost.sha256.encode(),
        "size_bytes": len(content),
    }
    tenant = _tenant_of(connection, lost.row.values["id"])
    if tenant is not None:
        changed["tenant"] = tenant.encode()
    if write_raw(connection, revision, now, **changed):
        yield Mended(row_name(revision, now), how)


def _tenant_of(connection: Connection, revision_id: object) -> str | None:
    """The tenant of the collection that a revision was published in."""
    query = (
        select(collection.c.tenant)
        .join(manifest, manifest.c.collection_id == collection.c.id)
        .where(manifest.c.revision_id == revision_id, is_sound(manifest), is_sound(collection))
    )
    found: str | None = connection.execute(query.limit(1)).scalar()
    return found


def revision_name(connection: Connection, identifier: int) -> str:
    """The hash that a revision is named by, as it is stored."""
    return str(
        connection.execute(select(revision.c.sha256).where(revision.c.id == identifier)).scalar()
    )


def holders(connection: Connection, sha256: str) -> list[tuple[str, bytes, int, int | None]]:
    """(source, path, first generation, the one that replaced it) of each row of a revision."""
    query = (
        select(
            document.c.source,
            document.c.path,
            manifest.c.from_generation,
            manifest.c.to_generation,
        )
        .join(manifest, manifest.c.document_id == document.c.id)
        .join(revision, revision.c.id == manifest.c.revision_id)
        .where(revision.c.sha256 == sha256)
        .order_by(manifest.c.id)
    )
    return [tuple(row) for row in connection.execute(query)]
