"""Writing again what is proven of a store's rows; each within the caller's transaction."""

import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, func, literal, select
from sqlalchemy.exc import DBAPIError

from variorum.records.repairs import Mended
from variorum.store.flips import RawRow, Value, raw_seal
from variorum.store.mending import raw_rows, row_name, write_raw
from variorum.store.removals import record_removal
from variorum.store.schema import (
    chunk,
    collection,
    derived,
    document,
    generation,
    head,
    indexed,
    input_,
    lease,
    manifest,
    model,
    output,
    revision,
    vector,
)
from variorum.store.seals import insert_rows, is_sound, name_of, unsound_rows, write_json
from variorum.store.vectors import Precision, pack

MADE_BY_A_SYNC = "dropped: a sync makes it again"
"""How a copy of something else is mended."""


def remake_indexes(connection: Connection) -> Iterator[Mended]:
    """Make the engine's indexes again, where that leaves less wrong with its file."""
    before = _file_problems(connection)
    if not any("index" in problem for problem in before):
        return
    savepoint = connection.begin_nested()
    try:
        connection.exec_driver_sql("REINDEX")
        is_better = len(_file_problems(connection)) < len(before)
    except DBAPIError:
        is_better = False
    if is_better:
        savepoint.commit()
        yield Mended("store", "indexes made again")
    else:
        savepoint.rollback()


def _file_problems(connection: Connection) -> list[str]:
    problems = connection.exec_driver_sql("PRAGMA integrity_check").scalars()
    return [str(problem) for problem in problems if problem != "ok"]


def mend_heads(connection: Connection) -> Iterator[Mended]:
    """Set a damaged or missing head to the newest generation: a publish writes both, or neither.

    Only where every generation of the collection is as it was written.
    """
    query = select(generation.c.collection_id, func.max(generation.c.number)).group_by(
        generation.c.collection_id
    )
    for identifier, number in connection.execute(query).all():
        mine = generation.c.collection_id == identifier
        damaged = select(generation.c.number).where(mine, ~is_sound(generation))
        sound = select(head.c.generation).where(head.c.collection_id == identifier, is_sound(head))
        if connection.execute(damaged).first() or connection.execute(sound).first():
            continue
        connection.execute(delete(head).where(head.c.collection_id == identifier))
        insert_rows(connection, head, [{"collection_id": identifier, "generation": number}])
        yield Mended(f"head collection_id={identifier}", "the newest generation")


def unsound_documents(connection: Connection) -> bool:
    """Whether a document's row is not as it was written."""
    return next(unsound_rows(connection, document), None) is not None


def mend_documents(connection: Connection, names: Sequence[tuple[str, bytes]]) -> Iterator[Mended]:
    """Give damaged documents the (source, path) under which their checksum fits."""
    for row in raw_rows(connection, document, ~is_sound(document)):
        for source, path in names:
            made: dict[str, Value] = {"source": source.encode(), "path": path}
            fits = raw_seal(document, {**row.values, **made}) == row.seal
            if fits and write_raw(connection, document, row, **made):
                yield Mended(row_name(document, row), "a name in its source")
                break


def mend_metadata(
    connection: Connection, layout_id: int, said: Mapping[str, object]
) -> Iterator[Mended]:
    """Give damaged manifest rows of a layout what its revision says, where their checksum fits.

    What the source says of a document besides is tried as every other row of it has it.
    """
    mine = (manifest.c.layout_id == layout_id) & ~is_sound(manifest)
    for row in raw_rows(connection, manifest, mine):
        same = manifest.c.document_id == row.values["document_id"]
        others = connection.execute(select(manifest.c.metadata).where(same, is_sound(manifest)))
        for source in [{}, *(one.get("source", {}) for one in others.scalars())]:
            made: dict[str, Value] = {"metadata": write_json({**said, "source": source}).encode()}
            fits = raw_seal(manifest, {**row.values, **made}) == row.seal
            if fits and write_raw(connection, manifest, row, **made):
                yield Mended(row_name(manifest, row), "text")
                break


def has_unsound_manifest(connection: Connection, layout_id: int) -> bool:
    """Whether a manifest row of a layout is not as it was written."""
    mine = (manifest.c.layout_id == layout_id) & ~is_sound(manifest)
    return connection.execute(select(manifest.c.id).where(mine)).first() is not None


def drop_leases(connection: Connection) -> Iterator[Mended]:
    """Take damaged leases away: at worst two runs embed the same input."""
    for name in list(unsound_rows(connection, lease)):
        yield Mended(name, "dropped: it lapses with its run")
    connection.execute(delete(lease).where(~is_sound(lease)))


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


def input_id_of(connection: Connection, key: bytes) -> int | None:
    """The id of the input with a key."""
    found: int | None = connection.execute(select(input_.c.id).where(input_.c.key == key)).scalar()
    return found


def model_id_of(connection: Connection, fingerprint: str) -> int | None:
    """The id of a model."""
    query = select(model.c.id).where(model.c.fingerprint == fingerprint)
    found: int | None = connection.execute(query).scalar()
    return found


def put_chunk(connection: Connection, row: Mapping[str, object]) -> str:
    """Write a chunk in the place of the one at its ordinal, and return its name."""
    place = (chunk.c.layout_id == row["layout_id"]) & (chunk.c.ordinal == row["ordinal"])
    connection.execute(delete(chunk).where(place))
    insert_rows(connection, chunk, [row])
    return name_of(chunk, (row["layout_id"], row["ordinal"]))


class Unembedded(NamedTuple):
    """An input of a chunk without a vector that is as it was written."""

    input_id: int
    key: bytes
    tokens: int
    fingerprint: str
    layout_id: int
    ordinal: int


_HAS_SOUND_VECTOR = (
    select(literal(1)).where(vector.c.input_id == input_.c.id, is_sound(vector)).exists()
)


def unembedded(connection: Connection) -> list[Unembedded]:
    """Every such input, with one chunk that holds it. Linear in the chunks."""
    query = (
        select(
            input_.c.id,
            input_.c.key,
            input_.c.tokens,
            model.c.fingerprint,
            func.min(chunk.c.layout_id),
            chunk.c.ordinal,
        )
        .select_from(
            chunk.join(input_, input_.c.id == chunk.c.input_id).join(
                model, model.c.id == input_.c.model_id
            )
        )
        .where(~_HAS_SOUND_VECTOR, is_sound(input_), is_sound(chunk))
        .group_by(input_.c.id)
        .order_by(input_.c.id)
    )
    return [Unembedded(*row) for row in connection.execute(query)]


def vector_name(input_id: int) -> str:
    """The name of a vector's row in messages."""
    return name_of(vector, (input_id,))


def put_vectors(
    connection: Connection, made: Mapping[int, NDArray[np.float32]], precision: Precision
) -> None:
    """Write the vectors of inputs that have no sound one still."""
    for identifier, values in made.items():
        mine = vector.c.input_id == identifier
        connection.execute(delete(vector).where(mine, ~is_sound(vector)))
        row = {"input_id": identifier, "data": pack(values, precision)}
        insert_rows(connection, vector, [row])


def drop_outputs(connection: Connection, now: datetime) -> Iterator[Mended]:
    """Take away what users' functions made that is damaged: a sync makes it again."""
    names = [name for one in (derived, output) for name in unsound_rows(connection, one)]
    if not names:
        return
    bad = select(output.c.id).where(~is_sound(output))
    connection.execute(delete(derived).where(~is_sound(derived) | derived.c.output_id.in_(bad)))
    connection.execute(delete(output).where(~is_sound(output)))
    _note_removal(connection, now)
    for name in names:
        yield Mended(name, MADE_BY_A_SYNC)


def _note_removal(connection: Connection, now: datetime) -> None:
    """Say that rows went: their ids may be given to others."""
    for identifier in connection.execute(select(collection.c.id).limit(1)).scalars().all():
        record_removal(connection, identifier, "repair", now)


def drop_cached(connection: Connection, now: datetime) -> Iterator[Mended]:
    """Take damaged inputs away that no chunk holds: they only saved embedding something again."""
    held = select(literal(1)).where(chunk.c.input_id == input_.c.id).exists()
    terms = select(literal(1)).where(indexed.c.input_id == input_.c.id).exists()
    bad = select(literal(1)).where(vector.c.input_id == input_.c.id, ~is_sound(vector)).exists()
    query = select(input_.c.id).where(~held, ~terms, bad | ~is_sound(input_))
    gone = list(connection.execute(query).scalars())
    if not gone:
        return
    for table, column in ((vector, vector.c.input_id), (input_, input_.c.id)):
        connection.execute(delete(table).where(column.in_(gone)))
    _note_removal(connection, now)
    for identifier in gone:
        yield Mended(name_of(input_, (identifier,)), "dropped: no chunk holds it")


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
