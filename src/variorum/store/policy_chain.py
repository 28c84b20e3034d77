"""Whether the log of policies and what they came to are all there, and fit each other."""

import hashlib
from collections.abc import Iterator

from sqlalchemy import Connection, func, select

from variorum.store.derived_access import derived_problems
from variorum.store.schema import (
    access_grant,
    audit,
    collection,
    document,
    policy,
    reader,
    reader_set,
)

Problem = tuple[str, str]


def policy_problems(connection: Connection) -> Iterator[Problem]:
    """Versions, grants, readings and reader sets that are missing or do not belong. Linear."""
    for identifier, readings in connection.execute(
        select(collection.c.id, collection.c.readings)
    ).all():
        yield from _version_problems(connection, identifier)
        yield from _count_problem(connection, identifier, readings)
    yield from _grant_problems(connection)
    yield from _set_problems(connection)
    yield from derived_problems(connection)


def _version_problems(connection: Connection, collection_id: int) -> Iterator[Problem]:
    mine = policy.c.collection_id == collection_id
    versions = list(
        connection.execute(
            select(policy.c.version).where(mine).order_by(policy.c.version)
        ).scalars()
    )
    for place, version in enumerate(versions, start=1):
        if version != place:
            row = f"policy collection_id={collection_id} version={version}"
            yield row, f"follows {place - 1}: a policy between is missing"
            break
    newest = versions[-1] if versions else 0
    latest = func.max(access_grant.c.from_version, func.coalesce(access_grant.c.to_version, 0))
    query = select(access_grant.c.id).where(
        access_grant.c.collection_id == collection_id, latest > newest
    )
    for identifier in connection.execute(query).scalars():
        yield f"access_grant id={identifier}", f"is of a policy after {newest}, the newest"


def _count_problem(connection: Connection, collection_id: int, readings: int) -> Iterator[Problem]:
    query = select(func.count()).where(audit.c.collection_id == collection_id)
    found = connection.execute(query).scalar_one()
    if found != readings:
        yield f"audit collection_id={collection_id}", f"{found} readings, {readings} were logged"


def _grant_problems(connection: Connection) -> Iterator[Problem]:
    count = func.count(access_grant.c.id)
    query = (
        select(document.c.id, document.c.grants, count)
        .outerjoin(access_grant, access_grant.c.document_id == document.c.id)
        .group_by(document.c.id)
        .having(document.c.grants != count)
    )
    for identifier, expected, found in connection.execute(query):
        yield f"access_grant document_id={identifier}", f"{found} rows, {expected} were written"


def _set_problems(connection: Connection) -> Iterator[Problem]:
    members: dict[int, list[str]] = {}
    for identifier, name in connection.execute(select(reader.c.set_id, reader.c.name)):
        members.setdefault(identifier, []).append(str(name))
    for identifier, digest in connection.execute(select(reader_set.c.id, reader_set.c.digest)):
        names = sorted(members.get(identifier, []))
        if hashlib.sha256("\n".join(names).encode()).hexdigest() != digest:
            yield f"reader_set id={identifier}", "its readers do not hash to its digest"
