"""Erasing a document: out of every generation, out of the log and the ledger, and for good."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select, update

from variorum.records.names import DocumentName
from variorum.records.retention import Removed
from variorum.store.costs import cost
from variorum.store.denials import deny
from variorum.store.engine import write_transaction
from variorum.store.forgetting import forget_in_policies, forget_readings
from variorum.store.manifests import visible_at
from variorum.store.removals import count_one_less, kept, record_removal
from variorum.store.residue import probes_of
from variorum.store.retention import Gone
from variorum.store.schema import document, generation, held, manifest
from variorum.store.seals import resealed


@dataclass(frozen=True, slots=True)
class Erasure:
    """What an erasure took out, who holds a revision of it still, and byte strings to look for."""

    removed: Removed
    shared_with: tuple[DocumentName, ...]
    probes: tuple[bytes, ...]


def erase(connection: Connection, collection_id: int, name: DocumentName, now: datetime) -> Erasure:
    """Take a document out of every generation, in one transaction, and deny its name.

    Its rows, its reports' mentions and its ledger go; an input, layout or revision that another
    document holds stays. A name that is denied already is only looked for again.
    """
    gone = Gone(connection)
    try:
        with write_transaction(connection):
            identifier = _identifier(connection, collection_id, name)
            if identifier is not None:
                gone.list_document(identifier)
            removed = gone.counted()
            probes = tuple(probes_of(connection, gone, name))
            shared = tuple(_shared_with(connection, identifier))
            _forget_mentions(connection, collection_id, name, identifier)
            forget_readings(connection, collection_id, name)
            forget_in_policies(connection, collection_id, name)
            if _was_kept_by_prune(connection, collection_id, identifier):
                count_one_less(connection, collection_id)
            gone.delete()
            deny(connection, collection_id, name)
            record_removal(connection, collection_id, "erase", now)
        return Erasure(removed, shared, probes)
    finally:
        gone.drop()


def is_known(connection: Connection, collection_id: int, name: DocumentName) -> bool:
    """Whether a collection has anything of a document: content, or that it was held."""
    mine = select(held.c.path).where(
        held.c.collection_id == collection_id,
        held.c.source == name.source,
        held.c.path == name.path,
    )
    has_rows = _identifier(connection, collection_id, name) is not None
    return has_rows or connection.execute(mine).first() is not None


def _identifier(connection: Connection, collection_id: int, name: DocumentName) -> int | None:
    query = select(document.c.id).where(
        document.c.collection_id == collection_id,
        document.c.source == name.source,
        document.c.path == name.path,
    )
    found: int | None = connection.execute(query).scalar()
    return found


def _was_kept_by_prune(connection: Connection, collection_id: int, identifier: int | None) -> bool:
    """Whether the oldest generation kept holds the document, so that the prune counted it."""
    oldest = kept(connection, collection_id).oldest
    query = select(manifest.c.id).where(manifest.c.document_id == identifier, visible_at(oldest))
    return connection.execute(query).first() is not None


def _shared_with(connection: Connection, identifier: int | None) -> Iterator[DocumentName]:
    """The other documents, of any collection, that hold a revision of this one."""
    mine = select(manifest.c.revision_id).where(manifest.c.document_id == identifier)
    query = (
        select(document.c.source, document.c.path)
        .join(manifest, manifest.c.document_id == document.c.id)
        .where(manifest.c.revision_id.in_(mine), document.c.id != (identifier or 0))
        .distinct()
        .order_by(document.c.source, document.c.path)
    )
    for source, path in connection.execute(query):
        yield DocumentName(source, path)


def _forget_mentions(
    connection: Connection, collection_id: int, name: DocumentName, identifier: int | None
) -> None:
    """Take the name out of what the last listing held and out of every report of the log."""
    connection.execute(
        delete(held).where(
            held.c.collection_id == collection_id,
            held.c.source == name.source,
            held.c.path == name.path,
        )
    )
    erased = _counts(connection, collection_id, identifier)
    query = select(generation.c.number, generation.c.report).where(
        generation.c.collection_id == collection_id
    )
    for number, report in connection.execute(query).all():
        amended = _amended(report, str(name), erased.get(number, {}))
        if amended != report:
            connection.execute(
                update(generation)
                .where(generation.c.collection_id == collection_id, generation.c.number == number)
                .values(resealed(generation, report=amended))
            )


def _amended(report: Mapping[str, Any], name: str, erased: Mapping[str, int]) -> Mapping[str, Any]:
    """A report without a document's name, which says how much of its counts is gone."""
    amended = {key: _without(value, name) for key, value in report.items()}
    if erased:
        before: Mapping[str, int] = report.get("erased", {})
        keys = {*before, *erased}
        amended["erased"] = {key: before.get(key, 0) + erased.get(key, 0) for key in sorted(keys)}
    return amended


def _without(value: Any, name: str) -> Any:
    if isinstance(value, list):
        return [
            one for one in value if not (isinstance(one, Mapping) and one.get("document") == name)
        ]
    return value


def _counts(
    connection: Connection, collection_id: int, identifier: int | None
) -> dict[int, dict[str, int]]:
    """What each publish did to a document, as it is counted in its report, and what it embedded."""
    rows = connection.execute(
        select(manifest.c.from_generation, manifest.c.to_generation)
        .where(manifest.c.document_id == identifier)
        .order_by(manifest.c.from_generation)
    ).all()
    opened, closed = {row[0] for row in rows}, {row[1] for row in rows} - {None}
    counts: dict[int, dict[str, int]] = {}
    for number in opened | closed:
        action = "changed" if number in opened & closed else _edge(number in opened)
        counts.setdefault(number, {})[action] = 1
    for number, inputs in connection.execute(_embedded(collection_id, identifier)):
        counts.setdefault(number, {})["rows"] = 1
        counts[number]["inputs"] = inputs
    return counts


def _edge(is_opened: bool) -> str:
    return "added" if is_opened else "removed"


def _embedded(collection_id: int, identifier: int | None) -> Any:
    return select(cost.c.generation, cost.c.embedded_inputs).where(
        cost.c.collection_id == collection_id, cost.c.document_id == identifier
    )
