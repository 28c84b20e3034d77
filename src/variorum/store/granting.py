"""What a publish does about access: new documents fall under the policy in force, and a revision
that narrows its own readers or dates does so from its first generation on.

Nothing here gives anybody more than before: only a policy that is applied does that.
"""

from collections.abc import Collection, Mapping
from datetime import UTC, tzinfo
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, bindparam, func, select

from variorum.access.grants import grant_for
from variorum.access.narrowing import narrowing_of
from variorum.access.policy import Policy, parse_policy
from variorum.records.names import DocumentName
from variorum.store.engine import write_transaction
from variorum.store.policies import Applied, apply_policy, newest_policy, set_ids, write_grants
from variorum.store.schema import access_grant, document, manifest
from variorum.store.seals import reseal_row
from variorum.store.staged import staged_document

parsed_policy = lru_cache(maxsize=64)(parse_policy)
"""A stored policy parsed; equal texts are one object."""


def newest_document(connection: Connection) -> int:
    """The highest id that a document has."""
    query = select(func.coalesce(func.max(document.c.id), 0))
    return int(connection.execute(query).scalar_one())


def grant_new_documents(connection: Connection, collection_id: int, known: int) -> None:
    """Grant what the policy in force says of the documents above id `known`."""
    row = newest_policy(connection, collection_id)
    if row is None:
        return
    wanted = parsed_policy(row.text)
    query = select(document.c.id, document.c.source, document.c.path).where(
        document.c.id > known, document.c.collection_id == collection_id
    )
    grants = {
        identifier: grant
        for identifier, source, path in connection.execute(query)
        if (grant := grant_for(wanted, DocumentName(source, path))) is not None
    }
    write_grants(connection, collection_id, row.version, grants)


def zone_of(connection: Connection, collection_id: int) -> tzinfo:
    """The time zone of the policy in force, in which a date without a zone is read."""
    row = newest_policy(connection, collection_id)
    return UTC if row is None else parsed_policy(row.text).zone


def newest_row(connection: Connection) -> int:
    """The highest id that a manifest row has; a new row gets a higher one."""
    query = select(func.coalesce(func.max(manifest.c.id), 0))
    return int(connection.execute(query).scalar_one())


def narrow_opened_rows(
    connection: Connection, collection_id: int, known: int, listed: Collection[str]
) -> None:
    """Note what the manifest rows above id `known` say of their revision's own readers and dates.

    The document itself stays narrowed to what its last synced revision says, so that neither an
    older generation nor a restore opens it again: only of a source that was `listed` is a revision
    a newly synced one, and any other was only laid out or embedded anew.
    """
    query = (
        select(
            manifest.c.id,
            manifest.c.document_id,
            manifest.c.metadata,
            document.c.reader_set_id,
            document.c.source,
        )
        .join(document, document.c.id == manifest.c.document_id)
        .where(manifest.c.id > known)
    )
    opened = [row for row in connection.execute(query) if "access" in row[2] or row[3] is not None]
    if not opened:
        return
    zone = zone_of(connection, collection_id)
    for row, of, said, _, source in opened:
        document_id = of if source in listed else None
        narrow(connection, row, document_id, said.get("access", {}), zone)


def narrow(
    connection: Connection,
    row: int,
    document_id: int | None,
    claims: Mapping[str, Any],
    zone: tzinfo,
) -> None:
    """Narrow a manifest row, and the document where one is given, to what checked claims say."""
    said = narrowing_of(claims, zone)
    readers = said.readers
    set_id = None if readers is None else set_ids(connection, [readers])[readers]
    dates = {"effective_from": said.interval.start_us, "effective_until": said.interval.end_us}
    reseal_row(connection, manifest, row, reader_set_id=set_id, **dates)
    if document_id is not None:
        reseal_row(connection, document, document_id, reader_set_id=set_id)


def apply_to_all(
    connection: Connection, collection_id: int, wanted: Policy, author: str, applied_at: str
) -> Applied:
    """Make `wanted` the policy of a collection, of every generation at once, in one transaction."""
    with write_transaction(connection):
        if zone_of(connection, collection_id) != wanted.zone:
            _read_dates_anew(connection, collection_id, wanted.zone)
        return apply_policy(connection, collection_id, wanted, author, applied_at)


def _read_dates_anew(connection: Connection, collection_id: int, zone: tzinfo) -> None:
    """Read the dates of every revision in another time zone. Linear in the dated rows."""
    query = select(manifest.c.id, manifest.c.metadata).where(
        manifest.c.collection_id == collection_id,
        manifest.c.effective_from.is_not(None) | manifest.c.effective_until.is_not(None),
    )
    for identifier, metadata in connection.execute(query).all():
        interval = narrowing_of(metadata["access"], zone).interval
        dates = {"effective_from": interval.start_us, "effective_until": interval.end_us}
        reseal_row(connection, manifest, identifier, **dates)


def unnamed_documents(connection: Connection, collection_id: int | None) -> list[DocumentName]:
    """The documents of the staged plan's generation that nobody but the owner may read.

    Empty where no policy is in force. Linear in what is staged and in what has no grant.
    """
    if collection_id is None:
        return []
    with connection.begin():
        row = newest_policy(connection, collection_id)
        if row is None:
            return []
        kept = connection.execute(_UNGRANTED, {"collection": collection_id}).all()
        added = connection.execute(_ADDED, {"collection": collection_id}).all()
    wanted = parsed_policy(row.text)
    names = [DocumentName(source, path) for source, path in kept]
    for source, path, known, granted in added:
        name = DocumentName(source, path)
        if granted is None and (known is not None or grant_for(wanted, name) is None):
            names.append(name)
    return sorted(names)


_GRANT = (access_grant.c.document_id == document.c.id) & access_grant.c.to_version.is_(None)
_UNGRANTED = (
    select(document.c.source, document.c.path)
    .select_from(
        manifest.join(document, document.c.id == manifest.c.document_id).outerjoin(
            access_grant, _GRANT
        )
    )
    .where(
        manifest.c.collection_id == bindparam("collection"),
        manifest.c.to_generation.is_(None),
        access_grant.c.id.is_(None),
        manifest.c.id.not_in(
            select(staged_document.c.closes).where(staged_document.c.action == "removed")
        ),
    )
)
_ADDED = (
    select(staged_document.c.source, staged_document.c.path, document.c.id, access_grant.c.id)
    .select_from(
        staged_document.outerjoin(
            document,
            (document.c.collection_id == bindparam("collection"))
            & (document.c.source == staged_document.c.source)
            & (document.c.path == staged_document.c.path),
        ).outerjoin(access_grant, _GRANT)
    )
    .where(staged_document.c.action == "added")
)
