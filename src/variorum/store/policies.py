"""The log of policies, and what each came to for every document.

Rows of `policy` are added and never changed. Rows of `access_grant` carry the policy versions in
which they held, so that what anyone could read under any version can still be told.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, Row, bindparam, func, select, update

from variorum.access.dates import Interval
from variorum.access.grants import Grant, grant_for, read_sections, stored_sections, tightened
from variorum.access.policy import Authority, Policy
from variorum.records.names import DocumentName
from variorum.store.schema import access_grant, document, manifest, policy, reader, reader_set
from variorum.store.seals import insert_rows, require_sound, resealed, unsound


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """One applied policy: its version, when (ISO 8601 in UTC), by whom, and the file's text."""

    version: int
    applied_at: str
    author: str
    text: str

    def as_fields(self) -> dict[str, object]:
        """The policy as JSON fields."""
        return {
            "version": self.version,
            "applied_at": self.applied_at,
            "author": self.author,
            "policy": self.text,
        }


@dataclass(frozen=True, slots=True)
class Applied:
    """What an application of a policy did; `version` None where it changed nothing.

    `named`, `unnamed` and `changed` count the documents of the newest generation that a rule names,
    those that none does, and all whose grant is another one now, deleted ones included.
    """

    version: int | None
    author: str
    applied_at: str
    named: int
    changed: int
    unnamed: tuple[DocumentName, ...]

    def as_fields(self) -> dict[str, object]:
        """The application as JSON fields."""
        return {
            "version": self.version,
            "author": self.author,
            "applied_at": self.applied_at,
            "documents": {
                "named": self.named,
                "unnamed": len(self.unnamed),
                "changed": self.changed,
            },
            "unnamed": [str(name) for name in self.unnamed],
        }


@dataclass(slots=True)
class _Tally:
    """What an application comes to, document by document."""

    closed: list[int] = field(default_factory=list)
    opened: dict[int, Grant] = field(default_factory=dict)
    unnamed: list[DocumentName] = field(default_factory=list)
    named: int = 0

    @property
    def changed(self) -> int:
        """How many documents have another grant than before."""
        return len(set(self.closed) | set(self.opened))


def policy_rows(
    connection: Connection, collection_id: int, version: int | None = None
) -> list[PolicyRow]:
    """The log of a collection's policies, oldest first; only `version` where it is given."""
    query = (
        select(
            policy.c.version, policy.c.applied_at, policy.c.author, policy.c.text, *unsound(policy)
        )
        .where(policy.c.collection_id == collection_id)
        .order_by(policy.c.version)
    )
    if version is not None:
        query = query.where(policy.c.version == version)
    return [PolicyRow(*require_sound(row, 1)) for row in connection.execute(query)]


def newest_policy(connection: Connection, collection_id: int) -> PolicyRow | None:
    """The policy in force; None where none was ever applied."""
    newest = select(func.max(policy.c.version)).where(policy.c.collection_id == collection_id)
    version = connection.execute(newest).scalar()
    return None if version is None else policy_rows(connection, collection_id, version)[0]


def apply_policy(
    connection: Connection, collection_id: int, wanted: Policy, author: str, applied_at: str
) -> Applied:
    """Note `wanted` as the policy of a collection, within the caller's transaction.

    A document that the newest generation does not hold keeps its last grant or a stricter one.
    Linear in the documents that the collection ever held; writes in proportion to what changes.
    """
    last = newest_policy(connection, collection_id)
    tally = _tally(connection, collection_id, wanted)
    version = (last.version if last else 0) + 1
    is_new = last is None or last.text != wanted.text or bool(tally.changed)
    if is_new:
        row = {"version": version, "applied_at": applied_at, "author": author}
        full = {**row, "collection_id": collection_id, "text": wanted.text}
        insert_rows(connection, policy, [full])
        _close(connection, tally.closed, version)
        write_grants(connection, collection_id, version, tally.opened)
    return Applied(
        version if is_new else None,
        author,
        applied_at,
        tally.named,
        tally.changed,
        tuple(sorted(tally.unnamed)),
    )


def _tally(connection: Connection, collection_id: int, wanted: Policy) -> _Tally:
    held = current_grants(connection, collection_id)
    visible = select(manifest.c.document_id).where(
        manifest.c.collection_id == collection_id, manifest.c.to_generation.is_(None)
    )
    alive = set(connection.execute(visible).scalars())
    tally = _Tally()
    for identifier, name in _documents(connection, collection_id):
        old, new = held.get(identifier), grant_for(wanted, name)
        if identifier not in alive:
            new = tightened(old, new) or (None if old is None else _closed(old))
        elif new is None:
            tally.unnamed.append(name)
        else:
            tally.named += 1
        if old != new:
            tally.closed += [identifier] if old else []
            if new is not None:
                tally.opened[identifier] = new
    return tally


def _closed(old: Grant) -> Grant:
    """Readable by nobody, so that no later policy opens a deleted document again."""
    return Grant(frozenset(), old.interval, old.authority, old.sections)


def _documents(connection: Connection, collection_id: int) -> Iterator[tuple[int, DocumentName]]:
    query = select(document.c.id, document.c.source, document.c.path).where(
        document.c.collection_id == collection_id
    )
    for identifier, source, path in connection.execute(query):
        yield identifier, DocumentName(source, path)


def _close(connection: Connection, documents: list[int], version: int) -> None:
    closing = update(access_grant).where(
        access_grant.c.document_id == bindparam("closing"), access_grant.c.to_version.is_(None)
    )
    if documents:
        connection.execute(
            closing.values(resealed(access_grant, to_version=version)),
            [{"closing": identifier} for identifier in documents],
        )


def write_grants(
    connection: Connection, collection_id: int, version: int, grants: Mapping[int, Grant]
) -> None:
    """Open the grants of documents, by their ids, from a policy version on."""
    sets = set_ids(connection, (grant.readers for grant in grants.values()))
    rows = [
        {
            "collection_id": collection_id,
            "document_id": identifier,
            "from_version": version,
            "reader_set_id": sets[grant.readers],
            "effective_from": grant.interval.start_us,
            "effective_until": grant.interval.end_us,
            "status": grant.authority.status if grant.authority else None,
            "status_by": grant.authority.by if grant.authority else None,
            "status_at": grant.authority.at if grant.authority else None,
            "section_count": len(grant.sections),
            "sections": stored_sections(grant.sections),
            "rules": list(grant.rules),
        }
        for identifier, grant in grants.items()
    ]
    if rows:
        insert_rows(connection, access_grant, rows)
        more = update(document).where(document.c.id == bindparam("granted"))
        counted = more.values(resealed(document, grants=document.c.grants + 1))
        connection.execute(counted, [{"granted": identifier} for identifier in grants])


def set_ids(connection: Connection, sets: Iterable[frozenset[str]]) -> dict[frozenset[str], int]:
    """The ids of reader sets, registered where they are new. Equal sets are one row."""
    find = select(reader_set.c.id).where(reader_set.c.digest == bindparam("wanted"))
    found: dict[frozenset[str], int] = {}
    for names in set(sets):
        digest = hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()
        identifier = connection.execute(find, {"wanted": digest}).scalar()
        if identifier is None:
            insert_rows(connection, reader_set, [{"digest": digest}])
            identifier = connection.execute(find, {"wanted": digest}).scalar_one()
            if names:
                rows = [{"set_id": identifier, "name": name} for name in sorted(names)]
                insert_rows(connection, reader, rows)
        found[names] = identifier
    return found


def sets_holding(connection: Connection, readers: Iterable[str]) -> frozenset[int]:
    """The reader sets that hold at least one of the readers."""
    query = select(reader.c.set_id, *unsound(reader)).where(reader.c.name == bindparam("wanted"))
    return frozenset(
        require_sound(row, 1)[0]
        for name in sorted(readers)
        for row in connection.execute(query, {"wanted": name})
    )


def readers_of(connection: Connection, set_id: int | None) -> frozenset[str] | None:
    """The members of a reader set; None for none."""
    if set_id is None:
        return None
    query = select(reader.c.name).where(reader.c.set_id == set_id)
    return frozenset(connection.execute(query).scalars())


def current_grants(connection: Connection, collection_id: int) -> dict[int, Grant]:
    """The grants in force, by document id."""
    query = select(access_grant).where(
        access_grant.c.collection_id == collection_id, access_grant.c.to_version.is_(None)
    )
    return _grants(connection, query.order_by(access_grant.c.id))


def _grants(connection: Connection, query: object) -> dict[int, Grant]:
    rows = connection.execute(query).all()  # type: ignore[call-overload]
    members = {one: readers_of(connection, one) for one in {row.reader_set_id for row in rows}}
    return {row.document_id: _grant(row, members[row.reader_set_id]) for row in rows}


def grant_of(connection: Connection, document_id: int) -> Grant | None:
    """The grant in force of one document."""
    query = select(access_grant).where(
        access_grant.c.document_id == document_id, access_grant.c.to_version.is_(None)
    )
    return _grants(connection, query).get(document_id)


def _grant(row: Row[tuple[object, ...]], members: frozenset[str] | None) -> Grant:
    authority = Authority(row.status, row.status_by, row.status_at) if row.status else None
    return Grant(
        members or frozenset(),
        Interval(row.effective_from, row.effective_until),
        authority,
        read_sections(row.sections),
        tuple(row.rules),
    )
