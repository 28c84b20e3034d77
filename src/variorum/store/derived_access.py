"""Whether what was worked out about access gives no more than what it was worked out from."""

from collections.abc import Iterator

from sqlalchemy import Connection, select

from variorum.access.grants import Grant, grant_for
from variorum.access.narrowing import narrowing_of
from variorum.access.readers import EVERYONE
from variorum.records.names import DocumentName
from variorum.store.granting import parsed_policy, zone_of
from variorum.store.policies import current_grants, newest_policy, readers_of
from variorum.store.schema import collection, document, layout, manifest

Problem = tuple[str, str]


def derived_problems(connection: Connection) -> Iterator[Problem]:
    """Grants that give more than the policy in force, and rows that are not narrowed to what their
    revision says. Linear in documents and rows.
    """
    for identifier in connection.execute(select(collection.c.id)).scalars().all():
        yield from _wide_grants(connection, identifier)
        yield from _wide_rows(connection, identifier)


def _wide_grants(connection: Connection, collection_id: int) -> Iterator[Problem]:
    row = newest_policy(connection, collection_id)
    if row is None:
        return
    policy = parsed_policy(row.text)
    grants = current_grants(connection, collection_id)
    query = select(document.c.id, document.c.source, document.c.path).where(
        document.c.collection_id == collection_id
    )
    for identifier, source, path in connection.execute(query):
        held = grants.get(identifier)
        if held is not None and not _gives_no_more(
            held, grant_for(policy, DocumentName(source, path))
        ):
            yield f"access_grant document_id={identifier}", "gives more than the policy in force"


def _gives_no_more(held: Grant, wanted: Grant | None) -> bool:
    """A deleted document that came back may be left with less."""
    if held == wanted or not held.readers:
        return True
    if wanted is None:
        return False
    readers = EVERYONE in wanted.readers or held.readers <= wanted.readers
    dates = held.interval.within(wanted.interval) == held.interval
    return readers and dates and all(one in held.sections for one in wanted.sections)


def _wide_rows(connection: Connection, collection_id: int) -> Iterator[Problem]:
    zone = zone_of(connection, collection_id)
    query = (
        select(
            manifest.c.id,
            manifest.c.metadata,
            manifest.c.reader_set_id,
            manifest.c.effective_from,
            manifest.c.effective_until,
        )
        .join(layout, layout.c.id == manifest.c.layout_id)
        .where(manifest.c.collection_id == collection_id, layout.c.outline.is_not(None))
    )
    for identifier, metadata, set_id, start_us, end_us in connection.execute(query).all():
        said = metadata.get("access")
        # An older version narrowed to nobody what it could not read of a revision.
        if said is None and (set_id is None or not readers_of(connection, set_id)):
            continue
        wanted = narrowing_of(said or {}, zone)
        dates = (wanted.interval.start_us, wanted.interval.end_us)
        if wanted.readers != readers_of(connection, set_id) or dates != (start_us, end_us):
            yield f"manifest id={identifier}", "is not narrowed to what its revision says"
