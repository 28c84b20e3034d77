"""Who searched and opened what: an append-only log, kept where a collection is configured so."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from sqlalchemy import Connection, select, update

from variorum.store.engine import write_transaction
from variorum.store.schema import audit, collection
from variorum.store.seals import insert_rows, require_sound, resealed, unsound


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One reading: when (ISO 8601 in UTC), by whom, of which citations, under which policy.

    `query` is None unless the collection logs queries. What was asked to be opened is logged
    whether it could be or not.
    """

    at: str
    principal: str
    verified_by: str
    action: str
    generation: int
    policy_version: int
    effective: str
    query: str | None
    citations: tuple[str, ...]

    def as_fields(self) -> dict[str, object]:
        """The reading as JSON fields."""
        return {**asdict(self), "citations": list(self.citations)}


def record_reading(connection: Connection, collection_id: int, entry: AuditEntry) -> None:
    """Append a reading, in a transaction of its own."""
    with write_transaction(connection):
        insert_rows(connection, audit, [{"collection_id": collection_id, **entry.as_fields()}])
        mine = update(collection).where(collection.c.id == collection_id)
        more = collection.c.readings + 1
        connection.execute(mine.values(resealed(collection, readings=more)))


def readings(connection: Connection, collection_id: int) -> list[AuditEntry]:
    """Every logged reading, oldest first."""
    columns = [audit.c[one.name] for one in fields(AuditEntry)]
    query = select(*columns, *unsound(audit)).where(audit.c.collection_id == collection_id)
    rows = connection.execute(query.order_by(audit.c.id))
    return [_entry(*require_sound(row, 1)) for row in rows]


def _entry(*values: Any) -> AuditEntry:
    return AuditEntry(*[*values[:-1], tuple(values[-1])])
