"""Reading one generation: a pinned number, not a database snapshot (invariant 5)."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, bindparam, select

from variorum.records.errors import NotFoundError
from variorum.records.names import DocumentName
from variorum.records.protocols import Vectors
from variorum.store.contents import ContentCache
from variorum.store.generations import GenerationRow
from variorum.store.heads import missing_generation
from variorum.store.known import Known, batches, known_chunks, read_documents
from variorum.store.manifests import ManifestRow, visible_at
from variorum.store.removals import erased_from, kept, last_erasure, pruned
from variorum.store.schema import (
    chunk,
    document,
    generation,
    input_,
    layout,
    manifest,
    revision,
)
from variorum.store.seals import damaged_row, is_sound, name_of, require_sound, unsound
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
        erasure: int = 0,
        known: Known | None = None,
    ) -> None:
        self._connect = connect
        self.collection_id = collection_id
        self.generation = row
        self._vectors = vectors
        self._contents = contents
        self._erasure = erasure
        self._all_rows = (-1, np.empty(0, np.intp))
        self._known = known

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
            if last_erasure(connection, self.collection_id) != self._erasure:
                raise erased_from(number)
            yield connection

    @cached_property
    def documents(self) -> dict[int, ManifestRow]:
        """Every document of the generation, by its manifest row's id."""
        number = self.generation.number
        with self._reading() as connection:
            return read_documents(connection, self.collection_id, number, self._known)

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

    def vectors(self, input_ids: NDArray[np.int64]) -> tuple[Vectors, NDArray[np.intp]]:
        """A matrix of vectors and the row of each input in it."""
        if input_ids is self.places.input_ids:
            return self._all_vectors()
        found = self._vector_rows(input_ids)
        return found.matrix, found.rows

    def _all_vectors(self) -> tuple[Vectors, NDArray[np.intp]]:
        loads, rows = self._all_rows
        matrix = self._vectors.matrix_of(loads)
        if matrix is None:
            found = self._vector_rows(self.places.input_ids)
            # The rows alone are kept: a matrix that has grown since must not live on here.
            matrix, rows, self._all_rows = found.matrix, found.rows, (found.loads, found.rows)
        return matrix, rows

    def _vector_rows(self, input_ids: NDArray[np.int64]) -> VectorRows:
        with self._reading() as connection:
            return self._vectors.rows(connection, input_ids)

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

    def earlier_revisions(self, row: ManifestRow) -> Iterator[tuple[int, str]]:
        """(revision id, when it was published) of a document, newest first, from `row` back.

        Follows the document through generations without a gap, and through a rename that left its
        content unchanged.
        """
        yield row.revision_id, self._created_at[row.from_generation]
        if row.from_generation > 1:  # Nothing ended with the first generation.
            with self._reading() as connection:
                yield from _earlier(connection, self.collection_id, row)

    @cached_property
    def _created_at(self) -> dict[int, str]:
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

    def find_revision(self, name: DocumentName, sha256_head: str) -> tuple[int, str, str]:
        """(revision id, SHA-256, content type) of any revision that history keeps of a document.

        Raises:
            NotFoundError: no such document, or no such revision of it.
        """
        query = (
            select(revision.c.id, revision.c.sha256, layout.c.content_type)
            .select_from(
                manifest.join(document, document.c.id == manifest.c.document_id)
                .join(revision, revision.c.id == manifest.c.revision_id)
                .join(layout, layout.c.id == manifest.c.layout_id)
            )
            .where(
                manifest.c.collection_id == self.collection_id,
                document.c.source == name.source,
                document.c.path == name.path,
                revision.c.sha256.startswith(sha256_head, autoescape=True),
            )
            .order_by(manifest.c.from_generation.desc())
        )
        with self._reading() as connection:
            found = connection.execute(query).first()
            if found is None:
                self._require_sound_names(connection, name)
        if found is None:
            raise NotFoundError(
                "no such revision of that document in the index",
                kind="no-such-citation",
                subject=f"{name}@{sha256_head}",
                expected="a document and revision that a kept generation holds",
                remedy="copy the citation as `variorum search` printed it, in quotes",
            )
        return (found[0], found[1], found[2])

    def _require_sound_names(self, connection: Connection, name: DocumentName) -> None:
        """What was not found may be damaged: the documents' names, or the named one's revisions."""
        query = select(*unsound(document, manifest)).where(
            manifest.c.document_id == document.c.id,
            manifest.c.collection_id == self.collection_id,
        )
        for row in connection.execute(query):
            require_sound(row, 2)
        mine = (
            select(*unsound(revision))
            .join(manifest, manifest.c.revision_id == revision.c.id)
            .join(document, document.c.id == manifest.c.document_id)
            .where(document.c.source == name.source, document.c.path == name.path)
        )
        for row in connection.execute(mine):
            require_sound(row, 1)


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
_PUBLISHED = select(
    manifest.c.document_id,
    manifest.c.revision_id,
    manifest.c.from_generation,
    generation.c.created_at,
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
    connection: Connection, collection_id: int, row: ManifestRow
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
        document_id, revision_id, since, created_at = found
        yield revision_id, created_at
