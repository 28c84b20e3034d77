"""Taking an erased document out of the logs of access, and readers out that nothing names."""

import json

from sqlalchemy import Connection, delete, func, select, update

from variorum.access.forgetting import without_document
from variorum.records.names import DocumentName
from variorum.store.schema import (
    access_grant,
    audit,
    document,
    manifest,
    policy,
    reader,
    reader_set,
)
from variorum.store.seals import reseal_row, resealed


def forget_readings(connection: Connection, collection_id: int, name: DocumentName) -> None:
    """Take a document's citations out of the log of readings, and the queries that found it."""
    head = f"{name}@"
    query = select(audit.c.id, audit.c.citations).where(
        audit.c.collection_id == collection_id,
        func.instr(audit.c.citations, json.dumps(head)[1:-1]) > 0,
    )
    for identifier, citations in connection.execute(query).all():
        rest = [one for one in citations if not one.startswith(head)]
        if rest != citations:
            reseal_row(connection, audit, identifier, citations=rest, query=None)


def forget_in_policies(connection: Connection, collection_id: int, name: DocumentName) -> None:
    """Take a document's name out of every policy that was ever applied."""
    mine = policy.c.collection_id == collection_id
    for version, text in connection.execute(
        select(policy.c.version, policy.c.text).where(mine)
    ).all():
        rest = without_document(text, name)
        if rest != text:
            one = update(policy).where(mine, policy.c.version == version)
            connection.execute(one.values(resealed(policy, text=rest)))


def drop_unused_sets(connection: Connection) -> None:
    """Take out the reader sets that no row refers to. Linear in the store's rows about access."""
    used = (
        select(table.c.reader_set_id).where(table.c.reader_set_id.is_not(None))
        for table in (manifest, document, access_grant)
    )
    first, second, third = used
    unused = select(reader_set.c.id).where(reader_set.c.id.not_in(first.union(second, third)))
    connection.execute(delete(reader).where(reader.c.set_id.in_(unused)))
    connection.execute(delete(reader_set).where(reader_set.c.id.in_(unused)))
