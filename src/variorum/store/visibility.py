"""Deciding what a filter lets through, in SQL, and the reads that obey it.

A document is decided once for all generations: by the policy's grant, by what its last synced
revision says of its readers, and by date. A generation's row is decided by what that revision says
itself, and a chunk by the sections that it stands in. Rows read while deciding are rows that pass.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select, true

from variorum.access.dates import Interval
from variorum.access.filter import AccessFilter
from variorum.access.grants import read_sections
from variorum.access.policy import Section
from variorum.store.manifests import ManifestRow
from variorum.store.policies import sets_holding
from variorum.store.schema import access_grant, document, manifest
from variorum.store.seals import require_sound, unsound


@dataclass(frozen=True)
class Decision:
    """What a filter lets through of a collection.

    `documents` are the sorted ids of the documents that pass or, for the owner, of those that do
    not; `reader_sets` are the sets that the principal is in (None for the owner); `sections` are
    those of the grants that have any, by document id.
    """

    filter: AccessFilter
    documents: NDArray[np.int64]
    reader_sets: frozenset[int] | None
    sections: Mapping[int, tuple[Section, ...]]

    @property
    def is_owner(self) -> bool:
        """Whether the filter is the owner's."""
        return self.reader_sets is None

    def passes(self, document_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the documents pass."""
        listed = np.isin(document_ids, self.documents)
        return ~listed if self.is_owner else listed

    def passes_document(self, document_id: int) -> bool:
        """Whether one document passes."""
        place = int(np.searchsorted(self.documents, document_id))
        is_listed = place < self.documents.size and int(self.documents[place]) == document_id
        return is_listed is not self.is_owner

    def passes_row(self, row: ManifestRow) -> bool:
        """Whether a revision passes by what it says itself."""
        return self.passes_narrowing(row.reader_set_id) and Interval(
            row.effective_from, row.effective_until
        ).holds(self.filter.at_us)

    def passes_narrowing(self, reader_set_id: int | None) -> bool:
        """Whether a revision that narrows itself to a reader set passes."""
        sets = self.reader_sets
        return sets is None or reader_set_id is None or reader_set_id in sets


def decide(connection: Connection, collection_id: int, wanted: AccessFilter) -> Decision:
    """Decide a filter over a collection. Reads in proportion to what passes, by index.

    Raises:
        DamagedError: a grant, a document or a reader that lets through is not as it was written.
    """
    sets = None if wanted.readers is None else sets_holding(connection, wanted.readers)
    if not wanted.policy_version:
        return Decision(wanted, _NONE, sets, {})
    if sets is None:
        listed = _current(collection_id).where(~_in_force(wanted.at_us))
        with_sections = _current(collection_id)
    else:
        listed = with_sections = _allowed(collection_id, sets, wanted.at_us)
    return Decision(wanted, _ids(connection, listed), sets, _sections(connection, with_sections))


def _ids(connection: Connection, listed: Select[tuple[int]]) -> NDArray[np.int64]:
    """The ids of the listed documents, sorted; what decides them is as it was written."""
    rows = connection.execute(listed.add_columns(*unsound(access_grant, document)))
    ids = np.fromiter((require_sound(row, 2)[0] for row in rows), np.int64)
    ids.sort()
    return ids


_NONE = np.empty(0, np.int64)


def _current(collection_id: int) -> Select[tuple[int]]:
    return (
        select(access_grant.c.document_id)
        .join(document, document.c.id == access_grant.c.document_id)
        .where(access_grant.c.collection_id == collection_id, access_grant.c.to_version.is_(None))
    )


def _allowed(collection_id: int, sets: frozenset[int], at_us: int | None) -> Select[tuple[int]]:
    narrowed_to = document.c.reader_set_id
    return _current(collection_id).where(
        access_grant.c.reader_set_id.in_(sorted(sets)),
        or_(narrowed_to.is_(None), narrowed_to.in_(sorted(sets))),
        _in_force(at_us),
    )


def _in_force(at_us: int | None) -> ColumnElement[bool]:
    if at_us is None:
        return true()
    start, end = access_grant.c.effective_from, access_grant.c.effective_until
    return and_(or_(start.is_(None), start <= at_us), or_(end.is_(None), end > at_us))


def _sections(
    connection: Connection, documents: Select[tuple[int]]
) -> dict[int, tuple[Section, ...]]:
    query = documents.add_columns(access_grant.c.sections).where(access_grant.c.section_count > 0)
    return {identifier: read_sections(stored) for identifier, stored in connection.execute(query)}


def boundaries(connection: Connection, collection_id: int) -> tuple[int, ...]:
    """The instants at which anything in a collection begins or ends, sorted. Linear in what is
    dated, by index.
    """
    dated = manifest.c.effective_from.is_not(None) | manifest.c.effective_until.is_not(None)
    rows = manifest.c.collection_id == collection_id
    found: set[int | None] = set()
    for query in (
        select(manifest.c.effective_from, manifest.c.effective_until).where(rows, dated),
        select(access_grant.c.effective_from, access_grant.c.effective_until).where(
            access_grant.c.collection_id == collection_id, access_grant.c.to_version.is_(None)
        ),
    ):
        for start, end in connection.execute(query.distinct()):
            found |= {start, end}
    for sections in _sections(connection, _current(collection_id)).values():
        for one in sections:
            found |= {one.interval.start_us, one.interval.end_us}
    return tuple(sorted(instant for instant in found if instant is not None))
