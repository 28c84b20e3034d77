"""What was taken out of a store: the log of it, by which readers and writers know that it was."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, func, select, update

from variorum.records.errors import ConflictError, NotFoundError
from variorum.store.schema import removal
from variorum.store.seals import insert_rows, require_sound, resealed, unsound

# Built once: every read asks, and building costs more than running.
_NEWEST = select(func.coalesce(func.max(removal.c.id), 0))
_PRUNED = (
    select(removal.c.oldest, removal.c.documents, *unsound(removal))
    .where(removal.c.collection_id == bindparam("collection"), removal.c.oldest.is_not(None))
    .order_by(removal.c.oldest)
)
_LAST_ERASURE = _NEWEST.where(
    removal.c.collection_id == bindparam("collection"), removal.c.kind == "erase"
)


class Kept(NamedTuple):
    """The oldest generation that a collection keeps, and how many documents it held when it was
    pruned to; None where nothing was pruned.
    """

    oldest: int = 1
    documents: int | None = None


def newest_removal(connection: Connection) -> int:
    """The number of the last prune, erasure or collection of garbage; 0 before the first."""
    return int(connection.execute(_NEWEST).scalar_one())


def kept(connection: Connection, collection_id: int) -> Kept:
    """What a collection keeps of its generations.

    Raises:
        DamagedError: a row is not as it was written.
    """
    found = connection.execute(_PRUNED, {"collection": collection_id})
    rows = [require_sound(row, 1) for row in found]
    return Kept(*rows[-1]) if rows else Kept()


def last_erasure(connection: Connection, collection_id: int) -> int:
    """The number of a collection's last erasure; 0 before the first."""
    return int(connection.execute(_LAST_ERASURE, {"collection": collection_id}).scalar_one())


def record_removal(
    connection: Connection,
    collection_id: int,
    kind: str,
    now: datetime,
    pruned_to: Kept | None = None,
) -> None:
    """Within a transaction that takes rows out: say so."""
    row = {
        "collection_id": collection_id,
        "kind": kind,
        "removed_at": now.isoformat(timespec="milliseconds"),
        "oldest": pruned_to and pruned_to.oldest,
        "documents": pruned_to and pruned_to.documents,
    }
    insert_rows(connection, removal, [row])


def count_one_less(connection: Connection, collection_id: int) -> None:
    """Within an erasure: every generation that was pruned to holds one document less."""
    rows = select(removal.c.id, removal.c.documents).where(
        removal.c.collection_id == collection_id, removal.c.oldest.is_not(None)
    )
    for identifier, documents in connection.execute(rows).all()[-1:]:
        less = resealed(removal, documents=documents - 1)
        connection.execute(update(removal).where(removal.c.id == identifier).values(less))


def require_nothing_removed(connection: Connection, since: int) -> None:
    """Within a publish: what the plan read must still be there.

    Raises:
        ConflictError: something was taken out since removal number `since`.
    """
    if newest_removal(connection) != since:
        raise ConflictError(
            "rows were removed from the store while this plan was being carried out",
            kind="generation-conflict",
            subject="the plan",
            expected="the store that was planned from",
            found="one that a prune, an erasure or a collection of garbage has changed",
            remedy="run the command again: it plans from the new state; vectors are kept",
        )


def pruned(number: int, oldest: int) -> NotFoundError:
    """The error about a generation that was pruned."""
    return NotFoundError(
        f"generation {number} was pruned",
        kind="generation-pruned",
        subject=str(number),
        expected=f"generation {oldest} or a newer one",
        found=f"generation {number}, of which `variorum prune` left only its line in the log",
        remedy="list what is kept with `variorum log`",
    )


def erased_from(number: int) -> ConflictError:
    """The error about a generation that was pinned before a document was erased from it."""
    return ConflictError(
        f"a document was erased since generation {number} was pinned",
        kind="snapshot-outdated",
        subject=str(number),
        expected="a snapshot pinned after the last erasure",
        found="an older one",
        remedy="pin the generation again: it holds every other document as before",
    )
