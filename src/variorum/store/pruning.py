"""Taking old generations, and vectors that nothing holds, out of a store."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select

from variorum.records.retention import Removed
from variorum.store.derived import unkept_derivations
from variorum.store.engine import write_transaction
from variorum.store.manifests import visible_at
from variorum.store.removals import Kept, kept, record_removal
from variorum.store.retention import Gone
from variorum.store.schema import chunk, derived, generation, head, manifest


def prunable(connection: Connection, collection_id: int, oldest: int) -> Removed:
    """What pruning to generation `oldest` would take out. Writes nothing."""
    gone = Gone(connection)
    try:
        with connection.begin():
            return _listed(connection, gone, collection_id, oldest)
    finally:
        gone.drop()


def prune(connection: Connection, collection_id: int, oldest: int, now: datetime) -> Removed:
    """Take out every row that no generation from `oldest` on holds, in one transaction.

    What another row holds stays, and so does an input that a writer is at. The lines of the log
    and the ledger stay.
    """
    gone = Gone(connection)
    try:
        with write_transaction(connection):
            removed = _listed(connection, gone, collection_id, oldest)
            if not removed.is_nothing:
                gone.delete()
                documents = _count_documents(connection, collection_id, oldest)
                record_removal(connection, collection_id, "prune", now, Kept(oldest, documents))
        return removed
    finally:
        gone.drop()


def _listed(connection: Connection, gone: Gone, collection_id: int, oldest: int) -> Removed:
    """List what goes; the head stays whatever was asked for."""
    newest = connection.execute(
        select(head.c.generation).where(head.c.collection_id == collection_id)
    ).scalar_one()
    before = kept(connection, collection_id).oldest
    wanted = max(before, min(oldest, newest))
    if wanted == before:
        return Removed()
    gone.list_closed(collection_id, wanted)
    gone.list_derivations(unkept_derivations(connection, {collection_id: wanted}))
    return gone.counted(wanted - before)


def _count_documents(connection: Connection, collection_id: int, number: int) -> int:
    query = select(func.count()).where(
        manifest.c.collection_id == collection_id, visible_at(number)
    )
    return int(connection.execute(query).scalar_one())


def collectable(connection: Connection, recorded_before: datetime | None) -> Removed:
    """What `collect` would take out. Writes nothing."""
    gone = Gone(connection)
    try:
        with connection.begin():
            _list_unused(connection, gone, recorded_before)
            return gone.counted()
    finally:
        gone.drop()


def collect(
    connection: Connection, collection_id: int, recorded_before: datetime | None, now: datetime
) -> Removed:
    """Take out the inputs that no chunk holds and no writer is at, with their vectors.

    With a time, those alone that were recorded before it: an input is older than any generation
    that was published with a newer one.
    """
    gone = Gone(connection)
    try:
        with write_transaction(connection):
            _list_unused(connection, gone, recorded_before)
            removed = gone.counted()
            if not removed.is_nothing:
                gone.delete()
                record_removal(connection, collection_id, "gc", now)
        return removed
    finally:
        gone.drop()


def _list_unused(connection: Connection, gone: Gone, recorded_before: datetime | None) -> None:
    """List what no chunk holds, as far as it is known to be as old."""
    gone.list_unheld(_newest_input(connection, recorded_before))
    gone.list_unlinked(_newest_output(connection, recorded_before))


def _newest_output(connection: Connection, recorded_before: datetime | None) -> int | None:
    """The highest id of an output that a chunk has of a generation that is as old."""
    if recorded_before is None:
        return None
    known_at = recorded_before.isoformat(timespec="milliseconds")
    query = select(func.coalesce(func.max(derived.c.output_id), 0)).where(
        derived.c.layout_id.in_(_layouts_before(known_at))
    )
    return int(connection.execute(query).scalar_one())


def _layouts_before(known_at: str) -> Select[Any]:
    published = (generation.c.collection_id == manifest.c.collection_id) & (
        generation.c.number == manifest.c.from_generation
    )
    return (
        select(manifest.c.layout_id)
        .join(generation, published)
        .where(generation.c.created_at <= known_at)
    )


def _newest_input(connection: Connection, recorded_before: datetime | None) -> int | None:
    """The highest id of an input that is known to be as old; ids grow with time."""
    if recorded_before is None:
        return None
    known_at = recorded_before.isoformat(timespec="milliseconds")
    query = select(func.coalesce(func.max(chunk.c.input_id), 0)).where(
        chunk.c.layout_id.in_(_layouts_before(known_at))
    )
    return int(connection.execute(query).scalar_one())
