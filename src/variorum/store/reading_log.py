"""Who searched and opened what: an append-only log, kept where a collection is configured so."""

from dataclasses import asdict, dataclass

from sqlalchemy import Connection, insert, select

from variorum.store.engine import write_transaction
from variorum.store.schema import audit


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
        connection.execute(insert(audit), {"collection_id": collection_id, **entry.as_fields()})


def readings(connection: Connection, collection_id: int) -> list[AuditEntry]:
    """Every logged reading, oldest first."""
    names = [column for column in audit.c if column.name not in ("id", "collection_id")]
    query = select(*names).where(audit.c.collection_id == collection_id).order_by(audit.c.id)
    rows = (row._asdict() for row in connection.execute(query))
    return [AuditEntry(**{**row, "citations": tuple(row["citations"])}) for row in rows]
