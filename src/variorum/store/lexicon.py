"""Whether every stored chunk that can be read is found by its terms, and making it so.

A store has the terms of one analyzer. Under another they are made anew, in short transactions,
from the revisions; a search meanwhile says that they are not there yet.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, delete, select, update

from variorum.records.errors import ConflictError, DamagedError
from variorum.store.contents import read_layout_content
from variorum.store.engine import write_transaction
from variorum.store.postings import packed_lists
from variorum.store.schema import chunk, indexed, layout, lexicon, posting
from variorum.store.seals import insert_rows, require_sound, resealed, unsound

Terms = Mapping[str, int]
"""How often each term occurs in an input."""


@dataclass(frozen=True, slots=True)
class UnindexedChunk:
    """A range of a revision whose input has no terms yet."""

    input_id: int
    start: int
    end: int
    prefix: str


@dataclass(frozen=True, slots=True)
class Unindexed:
    """A revision, and its chunks whose inputs have no terms yet."""

    content: bytes
    content_type: str
    chunks: tuple[UnindexedChunk, ...]


def is_ready(connection: Connection, analyzer: str) -> bool:
    """Whether every stored chunk has the terms of `analyzer`. Constant."""
    with within(connection):
        known = _lexicon(connection)
        if known is None:
            return not connection.execute(select(layout.c.id).limit(1)).first()
        return known == (analyzer, True)


def is_lost(connection: Connection) -> bool:
    """Whether there are terms, and nothing says whose."""
    with within(connection):
        has_terms = connection.execute(select(indexed.c.input_id).limit(1)).first() is not None
        return has_terms and _lexicon(connection) is None


def within(connection: Connection) -> AbstractContextManager[object]:
    """The transaction that the connection is in, or one of its own."""
    return nullcontext() if connection.in_transaction() else connection.begin()


def _lexicon(connection: Connection) -> tuple[str, bool] | None:
    query = select(lexicon.c.analyzer, lexicon.c.is_complete, *unsound(lexicon))
    row = connection.execute(query).first()
    if row is None:
        return None
    analyzer, is_complete = require_sound(row, 1)
    return (analyzer, is_complete)


def claim(connection: Connection, analyzer: str) -> None:
    """Inside a publish: the terms that it brings are those of the store's analyzer.

    Raises:
        ConflictError: another version of the program changed it since the plan was made.
    """
    known = _lexicon(connection)
    if known is None and not connection.execute(select(chunk.c.layout_id).limit(1)).first():
        _write_lexicon(connection, analyzer, is_complete=True)
    elif known is None or known[0] != analyzer:
        raise ConflictError(
            "the store's terms were made anew while this plan was being carried out",
            kind="generation-conflict",
            expected=analyzer,
            found=known[0] if known else "none",
            remedy="run the command again: it makes them anew; vectors are kept",
        )


def begin_rebuild(connection: Connection, analyzer: str) -> None:
    """Forget the terms of another analyzer; those of this one stay, where a rebuild broke off."""
    with write_transaction(connection):
        known = _lexicon(connection)
        if known is None or known[0] != analyzer:
            forget_all_terms(connection, analyzer)


def forget_all_terms(connection: Connection, analyzer: str) -> None:
    """Within a transaction: forget every term, and begin to make those of `analyzer`."""
    for table in (posting, indexed, lexicon):
        connection.execute(delete(table))
    _write_lexicon(connection, analyzer, is_complete=False)


def _write_lexicon(connection: Connection, analyzer: str, *, is_complete: bool) -> None:
    row = {"id": 1, "analyzer": analyzer, "is_complete": is_complete}
    insert_rows(connection, lexicon, [row])


def unindexed_layouts(connection: Connection, damaged: set[int]) -> Iterator[Unindexed]:
    """Every stored layout that has chunks without terms, one after the other.

    Those that cannot be read are left out, and their ids added to `damaged`.
    """
    return _layouts(connection, _unindexed, damaged)


def indexed_layouts(connection: Connection) -> Iterator[Unindexed]:
    """Every stored layout that can be read with all of its chunks, one after the other."""
    return _layouts(connection, select, set())


def _layouts(
    connection: Connection, chosen: Callable[..., Select[Any]], damaged: set[int]
) -> Iterator[Unindexed]:
    last = 0
    following = chosen(chunk.c.layout_id).where(chunk.c.layout_id > bindparam("last"))
    following = following.order_by(chunk.c.layout_id).limit(1)
    places = chosen(chunk.c.input_id, chunk.c.start, chunk.c.end, chunk.c.prefix, *unsound(chunk))
    places = places.where(chunk.c.layout_id == bindparam("layout"))
    while True:
        with within(connection):
            found = connection.execute(following, {"last": last}).scalar()
            if found is None:
                return
            unindexed = _read_if_sound(connection, found, places)
        if unindexed is None:
            damaged.add(found)
        else:
            yield unindexed
        last = found


def _read_if_sound(connection: Connection, layout_id: int, places: Select[Any]) -> Unindexed | None:
    try:
        return _read(connection, layout_id, places)
    except DamagedError:
        return None


def _unindexed(*columns: ColumnElement[Any]) -> Select[Any]:
    return (
        select(*columns)
        .select_from(chunk.outerjoin(indexed, indexed.c.input_id == chunk.c.input_id))
        .where(indexed.c.input_id.is_(None))
    )


def _read(connection: Connection, layout_id: int, places: Select[Any]) -> Unindexed:
    rows = connection.execute(places, {"layout": layout_id})
    chunks = tuple(UnindexedChunk(*require_sound(row, 1)) for row in rows)
    return Unindexed(*read_layout_content(connection, layout_id), chunks)


def record_terms(connection: Connection, inputs: Sequence[tuple[int, Terms]]) -> None:
    """Keep the terms of stored inputs, as one segment; those that have some by now stay."""
    with write_transaction(connection):
        add_terms(connection, inputs)


def add_terms(connection: Connection, inputs: Sequence[tuple[int, Terms]]) -> None:
    """Within a transaction: as `record_terms`."""
    query = select(indexed.c.input_id).where(
        indexed.c.input_id.in_([identifier for identifier, _ in inputs])
    )
    known = set(connection.execute(query).scalars())
    new = sorted(one for one in inputs if one[0] not in known)
    if new:
        insert_rows(connection, indexed, indexed_rows(new))
        insert_rows(connection, posting, posting_rows(new))


def indexed_rows(inputs: Sequence[tuple[int, Terms]]) -> list[dict[str, object]]:
    """The rows of `indexed` for a segment's inputs, ascending by id."""
    segment = inputs[0][0]
    return [
        {"input_id": identifier, "segment": segment, "length": sum(terms.values())}
        for identifier, terms in inputs
    ]


def posting_rows(inputs: Sequence[tuple[int, Terms]]) -> list[dict[str, object]]:
    """The rows of `posting` for a segment's inputs, ascending by id."""
    segment = inputs[0][0]
    return [
        {"term": term, "segment": segment, "data": data}
        for term, data in packed_lists(segment, inputs)
    ]


def finish_rebuild(connection: Connection, damaged: set[int]) -> None:
    """Say that every chunk that can be read has its terms, unless one has none.

    Those of the `damaged` layouts cannot: a search that comes upon one says so, and no other does.
    """
    left = _unindexed(chunk.c.layout_id).where(chunk.c.layout_id.not_in(list(damaged)))
    with write_transaction(connection):
        if connection.execute(left.limit(1)).first() is None:
            connection.execute(update(lexicon).values(resealed(lexicon, is_complete=True)))
