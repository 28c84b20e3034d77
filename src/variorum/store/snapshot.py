"""Reading one generation: a pinned number, not a database snapshot (invariant 5)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, bindparam, select

from variorum.access.dates import Interval
from variorum.access.policy import Authority
from variorum.access.sections import Outline, read_outline
from variorum.access.standing import Standing
from variorum.records.derivations import unit_of
from variorum.records.names import DocumentName
from variorum.records.protocols import Vectors
from variorum.store.ann import Ann
from variorum.store.batches import batches
from variorum.store.contents import ContentCache
from variorum.store.derived import outputs_of, versions_of
from variorum.store.generations import GenerationRow
from variorum.store.heads import missing_generation
from variorum.store.known import Known, known_chunks, read_documents
from variorum.store.manifests import ManifestRow, manifest_query, read_manifest, visible_at
from variorum.store.postings import Sought
from variorum.store.removals import erased_from, kept, last_erasure, pruned
from variorum.store.schema import (
    access_grant,
    chunk,
    document,
    generation,
    input_,
    layout,
    manifest,
    revision,
)
from variorum.store.seals import damaged_row, is_sound, name_of, require_sound, unsound
from variorum.store.terms import LengthCache, Occurrences, occurrences, require_terms
from variorum.store.vectors import VectorCache, VectorRows


@dataclass(frozen=True, slots=True)
class Places:
    """Every chunk of a generation, as parallel arrays: its input, manifest row and place.

    `input_ids` and `manifest_ids` are int64[n], `ordinals`, `starts` and `ends` int64[n]. Ordered
    by manifest row, then ordinal.
    """

    input_ids: NDArray[np.int64]
    manifest_ids: NDArray[np.int64]
    ordinals: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def chosen(self, wanted: NDArray[np.bool_]) -> "Places":
        """Those of the wanted chunks."""
        return Places(*(getattr(self, one.name)[wanted] for one in fields(self)))

    @property
    def columns(self) -> tuple[NDArray[np.int64], ...]:
        """The arrays in order."""
        return (self.input_ids, self.manifest_ids, self.ordinals, self.starts, self.ends)


class Snapshot:
    """One generation of one collection. Immutable, and safe for many threads."""

    def __init__(
        self,
        connect: Callable[[], AbstractContextManager[Connection]],
        collection_id: int,
        row: GenerationRow,
        vectors: VectorCache,
        contents: ContentCache,
        lengths: LengthCache,
        erasure: int = 0,
        known: Known | None = None,
        ann: Callable[[], Ann | None] = lambda: None,
    ) -> None:
        self._connect = connect
        self.collection_id = collection_id
        self.generation = row
        self._vectors = vectors
        self._contents = contents
        self._lengths = lengths
        self.erasure = erasure
        self._known = known
        self._ann = ann

    @property
    def has_documents(self) -> bool:
        """Whether the documents were read already."""
        return "documents" in self.__dict__

    def known(self) -> Known:
        """What this generation knows of another one."""
        chunks = np.stack(self.places.columns, axis=1) if "places" in self.__dict__ else None
        return Known(self.documents, chunks, self.generation.model_id)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """A transaction in which the generation is still there as it was pinned.

        Raises:
            NotFoundError: it was pruned.
            ConflictError: a document was erased from it.
        """
        with self._connect() as connection, connection.begin():
            number = self.generation.number
            oldest = kept(connection, self.collection_id).oldest
            if number < oldest:
                raise pruned(number, oldest)
            if last_erasure(connection, self.collection_id) != self.erasure:
                raise erased_from(number)
            yield connection

    @cached_property
    def documents(self) -> dict[int, ManifestRow]:
        """Every document of the generation, by its manifest row's id."""
        number = self.generation.number
        with self._reading() as connection:
            known = self._known.documents if self._known else {}
            return read_documents(connection, self.collection_id, visible_at(number), known)

    @cached_property
    def narrowed_rows(self) -> frozenset[int]:
        """The manifest rows whose revision narrows its own readers or dates."""
        return frozenset(
            row.id
            for row in self.documents.values()
            if (row.reader_set_id, row.effective_from, row.effective_until) != (None, None, None)
        )

    @cached_property
    def places(self) -> Places:
        """Every chunk of the generation that its own model embedded (invariant 4)."""
        model_id = self.generation.model_id
        begun = known_chunks(self._known, self.documents, model_id)
        self._known = None  # What it holds is here too by now.
        with self._reading() as connection:
            if begun is None:
                table = _read_chunks(connection, self._chunk_query)
            else:
                table, unknown = begun
                queries = (self._chunk_query.where(manifest.c.id.in_(b)) for b in batches(unknown))
                table = np.concatenate([table, *(_read_chunks(connection, q) for q in queries)])
        order = np.lexsort((table[:, 2], table[:, 1]))
        return Places(*np.ascontiguousarray(table[order].T))

    @property
    def _chunk_query(self) -> Select[Any]:
        return (
            select(
                chunk.c.input_id,
                manifest.c.id,
                chunk.c.ordinal,
                chunk.c.start,
                chunk.c.end,
                chunk.c.layout_id,
                input_.c.model_id == self.generation.model_id,
                is_sound(chunk),
                is_sound(input_),
            )
            .select_from(
                manifest.join(chunk, chunk.c.layout_id == manifest.c.layout_id).join(
                    input_, input_.c.id == chunk.c.input_id
                )
            )
            .where(
                manifest.c.collection_id == self.collection_id,
                visible_at(self.generation.number),
            )
        )

    def matrix_of(self, loads: int) -> Vectors | None:
        """The matrix of vectors, where none was loaded since `loads`: its rows are as then."""
        return self._vectors.matrix_of(loads)

    def vector_rows(self, input_ids: NDArray[np.int64]) -> VectorRows:
        """Where the vector of each input stands in the matrix; loads those not yet there."""
        with self._reading() as connection:
            return self._vectors.rows(connection, input_ids)

    def ann(self) -> Ann | None:
        """The approximate index of its vectors, where there is one."""
        return self._ann()

    def require_terms(self, analyzer: str) -> None:
        """Refuse to go on where the store has no terms of `analyzer`.

        Raises:
            UnsupportedError: it has none, or not of every chunk.
        """
        with self._connect() as connection:
            require_terms(connection, analyzer)

    def lengths(self, input_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many terms each input has, repetitions counted; `input_ids` ascending."""
        with self._reading() as connection:
            return self._lengths.lengths(connection, input_ids)

    def occurrences(
        self, terms: Sequence[Sought], input_ids: NDArray[np.int64], analyzer: str
    ) -> list[Occurrences]:
        """For each of `terms`, which of `input_ids`, ascending, hold it.

        Raises:
            UnsupportedError: the store has no terms of `analyzer`, or not of every chunk.
        """
        with self._connect() as connection, connection.begin():
            require_terms(connection, analyzer)
            return occurrences(connection, terms, input_ids)

    def content(self, revision_id: int) -> bytes:
        """The bytes of a revision."""
        held = self._contents.held(revision_id)
        if held is not None:
            return held
        with self._reading() as connection:
            return self._contents.content(connection, revision_id)

    def heading_paths(self, chunks: Iterable[tuple[int, int]]) -> list[tuple[str, ...]]:
        """The headings, outermost first, that each chunk (layout id, ordinal) stands under."""
        places = [{"layout": layout_id, "place": ordinal} for layout_id, ordinal in chunks]
        with self._reading() as connection:
            rows = [connection.execute(_HEADING_PATH, place).one() for place in places]
        return [tuple(require_sound(row, 1)[0]) for row in rows]

    def derived(self, chunks: Iterable[tuple[int, int, bool]]) -> list[dict[str, str]]:
        """What users' functions made of each chunk (layout id, ordinal), by name: those functions
        alone that the generation was published with; of its section too where that may be shown.
        """
        versions = versions_of(self.generation.report)
        of_chunks = {one: said for one, said in versions.items() if unit_of(said) == "chunk"}
        places = list(chunks)
        if not versions:
            return [{} for _ in places]
        with self._reading() as connection:
            return [
                outputs_of(connection, layout, ordinal, versions if is_whole else of_chunks)
                for layout, ordinal, is_whole in places
            ]

    @cached_property
    def document_ids(self) -> dict[DocumentName, int]:
        """Every document that the collection ever held. Linear in them.

        Raises:
            DamagedError: a name is not as it was written.
        """
        query = select(document.c.id, document.c.source, document.c.path, *unsound(document)).where(
            document.c.collection_id == self.collection_id
        )
        with self._reading() as connection:
            rows = [require_sound(row, 1) for row in connection.execute(query)]
        return {DocumentName(source, path): identifier for identifier, source, path in rows}

    def narrowed_to(self, document_id: int) -> int | None:
        """The reader set that a document's last synced revision narrows it to."""
        query = select(document.c.reader_set_id).where(document.c.id == document_id)
        with self._reading() as connection:
            found: int | None = connection.execute(query).scalar_one()
            return found

    def outlines(self, document_ids: Iterable[int]) -> dict[int, Outline | None]:
        """The outline of what the generation holds of each document, by manifest row."""
        query = (
            select(manifest.c.id, layout.c.outline)
            .join(layout, layout.c.id == manifest.c.layout_id)
            .where(
                manifest.c.document_id == bindparam("wanted"), visible_at(self.generation.number)
            )
        )
        with self._reading() as connection:
            return {
                row.id: read_outline(row.outline)
                for identifier in document_ids
                for row in connection.execute(query, {"wanted": identifier})
            }

    def outline(self, layout_id: int) -> Outline | None:
        """The outline of one layout."""
        query = select(layout.c.outline).where(layout.c.id == layout_id)
        with self._reading() as connection:
            return read_outline(connection.execute(query).scalar_one())

    def authorities(self, document_ids: Sequence[int]) -> dict[int, Standing]:
        """What the policy in force says of documents beside their readers, by document id."""
        found: dict[int, Standing] = {}
        with self._reading() as connection:
            for identifier in set(document_ids):
                row = connection.execute(_AUTHORITY, {"wanted": identifier}).first()
                if row is not None:
                    authority = Authority(row[0], row[1], row[2]) if row[0] else None
                    found[identifier] = Standing(authority, Interval(row[3], row[4]))
        return found

    def chunks_of(self, layout_id: int) -> list[tuple[int, int, tuple[str, ...]]]:
        """(start, end, heading path) of every chunk of a layout, in order."""
        query = (
            select(chunk.c.start, chunk.c.end, chunk.c.heading_path, *unsound(chunk))
            .where(chunk.c.layout_id == layout_id)
            .order_by(chunk.c.ordinal)
        )
        with self._reading() as connection:
            rows = [require_sound(row, 1) for row in connection.execute(query)]
        return [(row[0], row[1], tuple(row[2])) for row in rows]

    def earlier_revisions(
        self, row: ManifestRow, passes: Callable[[int, int | None], bool]
    ) -> Iterator[tuple[int, str]]:
        """(revision id, when it was published) of a document, newest first, from `row` back.

        Follows the document through generations without a gap, and through a rename that left its
        content unchanged, up to the first row of which `passes(document id, reader set id)` is
        false.
        """
        yield row.revision_id, self.created_at[row.from_generation]
        if row.from_generation > 1:  # Nothing ended with the first generation.
            with self._reading() as connection:
                yield from _earlier(connection, self.collection_id, row, passes)

    @cached_property
    def created_at(self) -> dict[int, str]:
        """When each generation up to this one was published."""
        query = select(generation.c.number, generation.c.created_at).where(
            generation.c.collection_id == self.collection_id,
            generation.c.number <= self.generation.number,
        )
        with self._reading() as connection:
            found = {row.number: row.created_at for row in connection.execute(query)}
        for number in range(1, self.generation.number + 1):
            if number not in found:
                raise missing_generation(self.collection_id, number)
        return found

    def revisions_of(self, document_id: int, sha256_head: str) -> list[ManifestRow]:
        """What every kept generation holds of a document under a revision, newest first."""
        query = (
            manifest_query(self.collection_id)
            .where(
                manifest.c.document_id == document_id,
                revision.c.sha256.startswith(sha256_head, autoescape=True),
            )
            .order_by(manifest.c.from_generation.desc())
        )
        with self._reading() as connection:
            return read_manifest(connection, query)

    def require_sound_revisions(self, document_id: int) -> None:
        """Refuse a document of which something is not as it was written: what was not found may be.

        Raises:
            DamagedError: a row of its history or of its revisions is damaged.
        """
        query = (
            select(*unsound(manifest, revision))
            .join(revision, revision.c.id == manifest.c.revision_id)
            .where(manifest.c.document_id == document_id)
        )
        with self._reading() as connection:
            for row in connection.execute(query):
                require_sound(row, 2)


def _read_chunks(connection: Connection, query: Select[Any]) -> NDArray[np.int64]:
    """The columns of `Places`, int64[n, 5]: of the chunks that the generation's model embedded.

    Raises:
        DamagedError: a chunk or an input is not as it was written.
    """
    rows = connection.execute(query)
    table = np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, 9)
    _require_sound_places(table)
    return table[table[:, 6] == 1, :5]


def _require_sound_places(table: NDArray[np.int64]) -> None:
    """Refuse chunks and inputs that are not as they were written: int64[n, 9] of `places`."""
    for row in table[table[:, 7] == 0][:1]:
        raise damaged_row(name_of(chunk, (row[5], row[2])))
    for row in table[table[:, 8] == 0][:1]:
        raise damaged_row(name_of(input_, (row[0],)))


# Built once: a hit asks several times, and building costs as much as running.
_HEADING_PATH = select(chunk.c.heading_path, *unsound(chunk)).where(
    chunk.c.layout_id == bindparam("layout"), chunk.c.ordinal == bindparam("place")
)
_AUTHORITY = select(
    access_grant.c.status,
    access_grant.c.status_by,
    access_grant.c.status_at,
    access_grant.c.effective_from,
    access_grant.c.effective_until,
).where(access_grant.c.document_id == bindparam("wanted"), access_grant.c.to_version.is_(None))
_PUBLISHED = select(
    manifest.c.document_id,
    manifest.c.revision_id,
    manifest.c.from_generation,
    generation.c.created_at,
    manifest.c.reader_set_id,
).join(
    generation,
    (generation.c.collection_id == manifest.c.collection_id)
    & (generation.c.number == manifest.c.from_generation),
)
# The sum keeps SQLite off the index of visible rows: a generation may have ended many at once.
_ENDED_THEN = _PUBLISHED.where(
    manifest.c.collection_id + 0 == bindparam("collection"),
    manifest.c.to_generation == bindparam("since"),
)
_SAME_DOCUMENT = _ENDED_THEN.where(manifest.c.document_id == bindparam("document"))
_SAME_REVISION = _ENDED_THEN.where(manifest.c.revision_id == bindparam("revision"))


def _earlier(
    connection: Connection,
    collection_id: int,
    row: ManifestRow,
    passes: Callable[[int, int | None], bool],
) -> Iterator[tuple[int, str]]:
    document_id, revision_id, since = row.document_id, row.revision_id, row.from_generation
    while True:
        ended_then = {"collection": collection_id, "since": since}
        found = (
            connection.execute(_SAME_DOCUMENT, {**ended_then, "document": document_id}).first()
            or connection.execute(_SAME_REVISION, {**ended_then, "revision": revision_id}).first()
        )
        if found is None:
            return
        document_id, revision_id, since, created_at, narrowed_to = found
        if not passes(document_id, narrowed_to):
            return
        yield revision_id, created_at
