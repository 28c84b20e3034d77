"""The outputs that a plan's generation lacks: staged, made before its publish, noted within it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, func, literal, select

from variorum.records.names import DocumentName
from variorum.records.reports import DerivedCounts
from variorum.store.contents import read_layout_content
from variorum.store.schema import (
    chunk,
    derivation,
    derived,
    document,
    layout,
    manifest,
    output,
    revision,
)
from variorum.store.seals import insert_selected, require_sound, unsound
from variorum.store.staged import (
    BRINGS_LAYOUT,
    CLOSING,
    SAME_LAYOUT,
    SAME_REVISION,
    staged_chunk,
    staged_derived,
    staged_document,
    staged_output,
)
from variorum.store.staged_layouts import staged_content
from variorum.store.staging import Staging


class Ranges(NamedTuple):
    """A revision, and the (start, end) of each chunk of a layout of it, in order."""

    content: bytes
    content_type: str
    spans: list[tuple[int, int]]


def staged_ranges(staging: Staging, document_id: int) -> Ranges:
    """Those of a staged document that brings a layout."""
    spans = (
        select(staged_chunk.c.start, staged_chunk.c.end)
        .where(staged_chunk.c.document_id == document_id)
        .order_by(staged_chunk.c.ordinal)
    )
    with staging.connection.begin():
        content, content_type = staged_content(staging, document_id)
        rows = staging.connection.execute(spans).all()
    return Ranges(content, content_type, [tuple(row) for row in rows])


def stored_ranges(staging: Staging, layout_id: int) -> Ranges:
    """Those of a stored layout.

    Raises:
        DamagedError: one of its rows is not as it was written.
    """
    spans = (
        select(chunk.c.start, chunk.c.end, *unsound(chunk))
        .where(chunk.c.layout_id == layout_id)
        .order_by(chunk.c.ordinal)
    )
    with staging.connection.begin():
        content, content_type = read_layout_content(staging.connection, layout_id)
        rows = [require_sound(one, 1) for one in staging.connection.execute(spans)]
    return Ranges(content, content_type, [(start, end) for start, end in rows])


class Wanted(NamedTuple):
    """An output that is to be made: of which function of the run, and of what text."""

    key: bytes
    derivation: int
    text: str


class Lacking(NamedTuple):
    """A chunk without an output: of a staged document, or of a stored layout."""

    document_id: int | None
    layout_id: int | None
    ordinal: int
    key: bytes


def _stays(collection_id: int | None) -> ColumnElement[bool]:
    """Whether a manifest row is of the parent generation and of the plan's."""
    return and_(
        manifest.c.collection_id == (collection_id or 0),
        manifest.c.to_generation.is_(None),
        manifest.c.id.not_in(CLOSING),
    )


def layouts_lacking(
    staging: Staging, collection_id: int | None, name: str, version: str
) -> list[int]:
    """The stored layouts of the plan's generation that have a chunk without the output."""
    reused = select(staged_document.c.layout_id).where(staged_document.c.layout_id.is_not(None))
    stays = select(manifest.c.layout_id).where(_stays(collection_id))
    has = (
        select(literal(1))
        .select_from(derived.join(derivation, derivation.c.id == derived.c.derivation_id))
        .where(
            derived.c.layout_id == chunk.c.layout_id,
            derived.c.ordinal == chunk.c.ordinal,
            derivation.c.name == name,
            derivation.c.version == version,
        )
        .exists()
    )
    wanted = reused.union(stays).subquery()
    query = (
        select(chunk.c.layout_id)
        .where(chunk.c.layout_id.in_(select(wanted.c[0])), ~has)
        .distinct()
        .order_by(chunk.c.layout_id)
    )
    with staging.connection.begin():
        return list(staging.connection.execute(query).scalars())


def bringing_documents(staging: Staging) -> list[int]:
    """The staged documents that bring a layout of their own."""
    query = select(staged_document.c.id).where(staged_document.c.sha256.is_not(None), BRINGS_LAYOUT)
    with staging.connection.begin():
        return list(staging.connection.execute(query).scalars())


def stage_outputs(staging: Staging, lacking: Sequence[Lacking], wanted: Iterable[Wanted]) -> None:
    """Stage chunks without an output, and what is to be made for them, each once."""
    rows = [one._asdict() for one in wanted]
    with staging.connection.begin():
        if lacking:
            staging.connection.execute(staged_derived.insert(), [one._asdict() for one in lacking])
        if rows:
            staging.connection.execute(staged_output.insert().prefix_with("OR IGNORE"), rows)
            known = select(literal(1)).where(output.c.key == staged_output.c.key).exists()
            staging.connection.execute(staged_output.update().where(known).values(text=None))


def count_outputs(staging: Staging, collection_id: int | None) -> DerivedCounts:
    """Count what is staged."""
    to_make = staged_output.c.text.is_not(None)
    counts = select(func.count().filter(to_make), func.count().filter(~to_make)).select_from(
        staged_output
    )
    stays = (
        select(func.count(manifest.c.document_id.distinct()))
        .join(staged_derived, staged_derived.c.layout_id == manifest.c.layout_id)
        .where(_stays(collection_id))
    )
    with staging.connection.begin():
        run, reuse = staging.connection.execute(counts).one()
        return DerivedCounts(run, reuse, staging.connection.execute(stays).scalar_one())


def outputs_to_make(staging: Staging, page_size: int = 64) -> Iterator[Wanted]:
    """What is to be made still. Read a page at a time, in the order of the chunks."""
    first = (
        select(func.min(staged_derived.c.id))
        .where(staged_derived.c.key == staged_output.c.key)
        .scalar_subquery()
    )
    query = (
        select(first, staged_output.c.key, staged_output.c.derivation, staged_output.c.text)
        .where(staged_output.c.text.is_not(None), first > bindparam("after"))
        .order_by(first)
        .limit(page_size)
    )
    after = 0
    while True:
        with staging.connection.begin():
            page = staging.connection.execute(query, {"after": after}).all()
        if not page:
            return
        for place, *row in page:
            after = place
            yield Wanted(*row)


def forget_output(staging: Staging, key: bytes) -> tuple[list[int], list[int]]:
    """Unstage an output that could not be made; the (staged documents, stored layouts) it is of."""
    places = select(staged_derived.c.document_id, staged_derived.c.layout_id).where(
        staged_derived.c.key == key
    )
    with staging.connection.begin():
        rows = staging.connection.execute(places.distinct()).all()
        for table in (staged_derived, staged_output):
            staging.connection.execute(delete(table).where(table.c.key == key))
    documents = [row.document_id for row in rows if row.document_id is not None]
    return documents, [row.layout_id for row in rows if row.layout_id is not None]


def documents_with(
    staging: Staging, collection_id: int | None, document_ids: Sequence[int], layouts: Sequence[int]
) -> list[tuple[DocumentName, bool]]:
    """The documents of staged ids, or with stored layouts; each, and whether it is staged."""
    mine = (
        staged_document.c.id.in_(document_ids)
        | staged_document.c.laid_out_by.in_(document_ids)
        | staged_document.c.layout_id.in_(layouts)
    )
    staged = select(staged_document.c.source, staged_document.c.path).where(mine)
    stays = (
        select(document.c.source, document.c.path)
        .join(manifest, manifest.c.document_id == document.c.id)
        .where(_stays(collection_id), manifest.c.layout_id.in_(layouts))
    )
    with staging.connection.begin():
        first = [(DocumentName(*row), True) for row in staging.connection.execute(staged)]
        return [*first, *((DocumentName(*row), False) for row in staging.connection.execute(stays))]


def output_keys(staging: Staging) -> set[bytes]:
    """What the staged plan needs, made or not."""
    with staging.connection.begin():
        return set(staging.connection.execute(select(staged_output.c.key)).scalars())


def forget_unneeded(staging: Staging) -> None:
    """Unstage what only documents needed that are not staged any more."""
    gone = staged_derived.c.document_id.is_not(None) & staged_derived.c.document_id.not_in(
        select(staged_document.c.id)
    )
    needed = select(literal(1)).where(staged_derived.c.key == staged_output.c.key).exists()
    with staging.connection.begin():
        staging.connection.execute(delete(staged_derived).where(gone))
        staging.connection.execute(delete(staged_output).where(~needed))


def add_derived(connection: Connection, recipe_id: int) -> None:
    """Within a publish: note which output each chunk has, of new layouts and of stored ones."""
    columns = ("layout_id", "ordinal", "derivation_id", "output_id")
    wanted = {"of_recipe": recipe_id}
    insert_selected(connection, derived, columns, _OF_NEW_LAYOUTS, wanted, ignoring=True)
    insert_selected(connection, derived, columns, _OF_STORED_LAYOUTS, ignoring=True)


_OF_OUTPUT = staged_derived.join(output, output.c.key == staged_derived.c.key)
_REST = (staged_derived.c.ordinal, output.c.derivation_id, output.c.id)
_OF_NEW_LAYOUTS = select(layout.c.id, *_REST).select_from(
    _OF_OUTPUT.join(staged_document, staged_document.c.id == staged_derived.c.document_id)
    .join(revision, SAME_REVISION)
    .join(layout, SAME_LAYOUT & (layout.c.recipe_id == bindparam("of_recipe")))
)
_OF_STORED_LAYOUTS = (
    select(staged_derived.c.layout_id, *_REST)
    .select_from(_OF_OUTPUT)
    .where(staged_derived.c.layout_id.is_not(None))
)
