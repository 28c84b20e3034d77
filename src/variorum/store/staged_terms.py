"""The terms that a plan's publish brings: worked out before its transaction, copied within it."""

from collections.abc import Iterator, Sequence

from sqlalchemy import delete, func, insert, select

from variorum.records.errors import ConflictError
from variorum.store.lexicon import (
    Terms,
    Unindexed,
    UnindexedChunk,
    claim,
    indexed_rows,
)
from variorum.store.postings import packed_lists
from variorum.store.schema import indexed, input_, posting
from variorum.store.seals import insert_selected
from variorum.store.staged import (
    BRINGS_LAYOUT,
    staged_chunk,
    staged_document,
    staged_indexed,
    staged_posting,
)
from variorum.store.staged_layouts import staged_content
from variorum.store.staging import Staging

_UNINDEXED = (
    staged_chunk.join(input_, input_.c.key == staged_chunk.c.key)
    .outerjoin(indexed, indexed.c.input_id == input_.c.id)
    .join(staged_document, staged_document.c.id == staged_chunk.c.document_id)
)


def unindexed_documents(staging: Staging) -> Iterator[Unindexed]:
    """Every staged revision that has chunks whose inputs have no terms. Each was embedded before.

    Linear in the staged documents.
    """
    documents = (
        select(staged_chunk.c.document_id)
        .select_from(_UNINDEXED)
        .where(BRINGS_LAYOUT, indexed.c.input_id.is_(None))
        .distinct()
        .order_by(staged_chunk.c.document_id)
    )
    with staging.connection.begin():
        found = staging.connection.execute(documents).scalars().all()
    for identifier in found:
        yield _read(staging, identifier)


def _read(staging: Staging, identifier: int) -> Unindexed:
    places = (
        select(input_.c.id, staged_chunk.c.start, staged_chunk.c.end, staged_chunk.c.prefix)
        .select_from(_UNINDEXED)
        .where(staged_chunk.c.document_id == identifier, indexed.c.input_id.is_(None))
        .order_by(staged_chunk.c.ordinal)
    )
    with staging.connection.begin():
        chunks = [UnindexedChunk(*row) for row in staging.connection.execute(places)]
        content, content_type = staged_content(staging, identifier)
    return Unindexed(content, content_type, tuple(chunks))


class TermsTakenError(ConflictError):
    """Another writer gave an input its terms since they were staged: stage those left again."""


def forget_terms(staging: Staging) -> None:
    """Forget the terms that were staged."""
    with staging.connection.begin():
        for table in (staged_indexed, staged_posting):
            staging.connection.execute(delete(table))


def stage_terms(staging: Staging, inputs: Sequence[tuple[int, Terms]]) -> None:
    """Stage the terms of inputs as one segment; an input is staged once."""
    with staging.connection.begin():
        new = sorted(inputs)
        staging.connection.execute(insert(staged_indexed), indexed_rows(new))
        segment = new[0][0]
        rows = [(term, segment, data) for term, data in packed_lists(segment, new)]
        if rows:
            # As they are: turning each value into the engine's type takes longer than storing it.
            statement = insert(staged_posting).compile(dialect=staging.connection.dialect)
            staging.connection.exec_driver_sql(str(statement), rows)


def add_terms(staging: Staging, analyzer: str) -> None:
    """Inside the publish: copy what is staged.

    Raises:
        TermsTakenError: another writer indexed one of the inputs since.
        ConflictError: the store's terms are of other rules since.
    """
    connection = staging.connection
    claim(connection, analyzer)
    both = staged_indexed.join(indexed, indexed.c.input_id == staged_indexed.c.input_id)
    taken = connection.execute(select(func.count()).select_from(both)).scalar_one()
    if taken:
        raise TermsTakenError(
            "another writer published some of the same text while this plan was being carried out",
            kind="generation-conflict",
            expected="inputs without terms",
            found=f"{taken} of them with terms",
            remedy="run the command again: it plans from the new state; vectors are kept",
        )
    insert_selected(connection, indexed, ("input_id", "segment", "length"), _INDEXED)
    insert_selected(connection, posting, ("term", "segment", "data"), _LISTS)


_INDEXED = select(staged_indexed)
_LISTS = select(staged_posting).order_by(staged_posting.c.term, staged_posting.c.segment)
