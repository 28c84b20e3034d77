"""Reading one generation: a pinned number, not a database snapshot (invariant 5)."""

import json
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Select, bindparam, or_, select

from variorum.records.errors import DamagedError, NotFoundError
from variorum.records.names import DocumentName
from variorum.records.protocols import Vectors
from variorum.store.schema import (
    chunk,
    document,
    generation,
    input_,
    layout,
    manifest,
    model,
    recipe,
    revision,
)
from variorum.store.vectors import VectorCache, VectorRows


class ManifestRow(NamedTuple):
    """What one generation holds of one document."""

    id: int
    document_id: int
    document: DocumentName
    revision_id: int
    sha256: str
    layout_id: int
    content_type: str
    metadata: Mapping[str, Mapping[str, object]]
    recipe_id: int
    parser: str
    from_generation: int

    @property
    def fields(self) -> dict[str, object]:
        """The user's metadata: the source's own, over what the document says of itself."""
        return {**self.metadata.get("document", {}), **self.metadata.get("source", {})}


def same_metadata(old: Mapping[str, object], new: Mapping[str, object]) -> bool:
    """Whether two metadata are stored alike. Unlike `==`, tells 1 from true and from 1.0."""
    return json.dumps(dict(old), sort_keys=True) == json.dumps(dict(new), sort_keys=True)


@dataclass(frozen=True, slots=True)
class GenerationRow:
    """One published state: its number, parent, time (ISO 8601 UTC), model and report."""

    number: int
    parent: int | None
    kind: str
    created_at: str
    model_id: int
    model_fingerprint: str
    model_spec: str
    dimensions: int
    recipe_fingerprint: str
    recipe: Mapping[str, object]
    report: Mapping[str, object]

    @property
    def counts(self) -> Mapping[str, int]:
        """Documents by what the publish did to them."""
        counts = self.report["documents"]
        return counts if isinstance(counts, Mapping) else {}

    @property
    def embedded(self) -> int:
        """How many inputs the publish embedded."""
        inputs = self.report["inputs"]
        return int(inputs["embed"]) if isinstance(inputs, Mapping) else 0

    @property
    def recompute_fraction(self) -> float | None:
        """The publish's recompute fraction, where a document changed."""
        fraction = self.report["recompute_fraction"]
        return fraction if isinstance(fraction, float) else None

    def as_fields(self) -> dict[str, object]:
        """The generation as JSON fields."""
        return {
            "generation": self.number,
            "parent": self.parent,
            "kind": self.kind,
            "created_at": self.created_at,
            "model": self.model_spec,
            "chunker": self.recipe["chunker"],
            "documents": dict(self.counts),
            "inputs_embedded": self.embedded,
            "recompute_fraction": self.recompute_fraction,
        }


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


def visible_at(number: int) -> ColumnElement[bool]:
    """The condition under which a manifest row belongs to generation `number`."""
    return (manifest.c.from_generation <= number) & or_(
        manifest.c.to_generation.is_(None), manifest.c.to_generation > number
    )


def manifest_query(collection_id: int) -> Select[Any]:
    """Manifest rows of a collection with the names and hashes that they point to."""
    return (
        select(
            manifest.c.id,
            manifest.c.document_id,
            document.c.source,
            document.c.path,
            manifest.c.revision_id,
            revision.c.sha256,
            manifest.c.layout_id,
            layout.c.content_type,
            manifest.c.metadata,
            layout.c.recipe_id,
            layout.c.parser,
            manifest.c.from_generation,
        )
        .select_from(
            manifest.join(document, document.c.id == manifest.c.document_id)
            .join(revision, revision.c.id == manifest.c.revision_id)
            .join(layout, layout.c.id == manifest.c.layout_id)
        )
        .where(manifest.c.collection_id == collection_id)
    )


def read_manifest(connection: Connection, query: Select[Any]) -> list[ManifestRow]:
    """Run a `manifest_query`."""
    return [
        ManifestRow(identifier, document_id, DocumentName(source, path), *rest)
        for identifier, document_id, source, path, *rest in connection.execute(query).all()
    ]


def generations(
    connection: Connection, collection_id: int, number: int | None = None
) -> list[GenerationRow]:
    """The published generations of a collection, oldest first; only `number` where it is given."""
    query = (
        select(
            generation.c.number,
            generation.c.parent,
            generation.c.kind,
            generation.c.created_at,
            model.c.id,
            model.c.fingerprint,
            model.c.spec,
            model.c.dimensions,
            recipe.c.fingerprint,
            recipe.c.settings,
            generation.c.report,
        )
        .select_from(
            generation.join(model, model.c.id == generation.c.model_id).join(
                recipe, recipe.c.id == generation.c.recipe_id
            )
        )
        .where(generation.c.collection_id == collection_id)
        .order_by(generation.c.number)
    )
    if number is not None:
        query = query.where(generation.c.number == number)
    return [GenerationRow(*row) for row in connection.execute(query)]


def inflated(packed: bytes, revision_id: int) -> bytes:
    """The bytes of a revision from how they are stored.

    Raises:
        DamagedError: they are not what was stored.
    """
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        raise DamagedError(
            "a stored revision cannot be read",
            kind="revision-damaged",
            subject=f"revision {revision_id}",
            expected="compressed bytes",
            found=str(error),
            remedy="run `variorum verify` to locate it, and restore the file from a backup",
        ) from error


class ContentCache:
    """The bytes of recently read revisions, by row id. Revisions never change, so neither do they.

    Holds at most `max_bytes` of content. Safe for many threads.
    """

    def __init__(self, max_bytes: int = 32_000_000) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[int, bytes] = OrderedDict()
        self._size = 0

    def held(self, revision_id: int) -> bytes | None:
        """The revision's bytes where they are here."""
        with self._lock:
            if revision_id in self._held:
                self._held.move_to_end(revision_id)
            return self._held.get(revision_id)

    def content(self, connection: Connection, revision_id: int) -> bytes:
        """The revision's bytes."""
        held = self.held(revision_id)
        if held is not None:
            return held
        query = select(revision.c.content).where(revision.c.id == revision_id)
        content = inflated(connection.execute(query).scalar_one(), revision_id)
        with self._lock:
            self._held[revision_id] = content
            self._size += len(content)
            while self._size > self._max_bytes and len(self._held) > 1:
                _, dropped = self._held.popitem(last=False)
                self._size -= len(dropped)
        return content


class Snapshot:
    """One generation of one collection. Immutable, and safe for many threads."""

    def __init__(
        self,
        connect: Callable[[], AbstractContextManager[Connection]],
        collection_id: int,
        row: GenerationRow,
        vectors: VectorCache,
        contents: ContentCache,
    ) -> None:
        self._connect = connect
        self.collection_id = collection_id
        self.generation = row
        self._vectors = vectors
        self._contents = contents
        self._all_rows = (-1, np.empty(0, np.intp))

    @cached_property
    def documents(self) -> dict[int, ManifestRow]:
        """Every document of the generation, by its manifest row's id."""
        query = manifest_query(self.collection_id).where(visible_at(self.generation.number))
        with self._connect() as connection, connection.begin():
            return {row.id: row for row in read_manifest(connection, query)}

    @cached_property
    def places(self) -> Places:
        """Every chunk of the generation that its own model embedded (invariant 4)."""
        query = (
            select(chunk.c.input_id, manifest.c.id, chunk.c.ordinal, chunk.c.start, chunk.c.end)
            .select_from(
                manifest.join(chunk, chunk.c.layout_id == manifest.c.layout_id).join(
                    input_, input_.c.id == chunk.c.input_id
                )
            )
            .where(
                manifest.c.collection_id == self.collection_id,
                visible_at(self.generation.number),
                input_.c.model_id == self.generation.model_id,
            )
        )
        with self._connect() as connection, connection.begin():
            rows = connection.execute(query)
            table = np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, 5)
        order = np.lexsort((table[:, 2], table[:, 1]))
        return Places(*np.ascontiguousarray(table[order].T))

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
        with self._connect() as connection, connection.begin():
            return self._vectors.rows(connection, input_ids)

    def content(self, revision_id: int) -> bytes:
        """The bytes of a revision."""
        held = self._contents.held(revision_id)
        if held is not None:
            return held
        with self._connect() as connection, connection.begin():
            return self._contents.content(connection, revision_id)

    def heading_paths(self, chunks: Iterable[tuple[int, int]]) -> list[tuple[str, ...]]:
        """The headings, outermost first, that each chunk (layout id, ordinal) stands under."""
        places = [{"layout": layout_id, "place": ordinal} for layout_id, ordinal in chunks]
        with self._connect() as connection, connection.begin():
            return [
                tuple(connection.execute(_HEADING_PATH, place).scalar_one()) for place in places
            ]

    def chunks_of(self, layout_id: int) -> list[tuple[int, int, tuple[str, ...]]]:
        """(start, end, heading path) of every chunk of a layout, in order."""
        query = (
            select(chunk.c.start, chunk.c.end, chunk.c.heading_path)
            .where(chunk.c.layout_id == layout_id)
            .order_by(chunk.c.ordinal)
        )
        with self._connect() as connection, connection.begin():
            return [(row[0], row[1], tuple(row[2])) for row in connection.execute(query)]

    def earlier_revisions(self, row: ManifestRow) -> Iterator[tuple[int, str]]:
        """(revision id, when it was published) of a document, newest first, from `row` back.

        Follows the document through generations without a gap, and through a rename that left its
        content unchanged.
        """
        yield row.revision_id, self._created_at[row.from_generation]
        if row.from_generation > 1:  # Nothing ended with the first generation.
            with self._connect() as connection, connection.begin():
                yield from _earlier(connection, self.collection_id, row)

    @cached_property
    def _created_at(self) -> dict[int, str]:
        """When each generation up to this one was published."""
        query = select(generation.c.number, generation.c.created_at).where(
            generation.c.collection_id == self.collection_id,
            generation.c.number <= self.generation.number,
        )
        with self._connect() as connection, connection.begin():
            return {row.number: row.created_at for row in connection.execute(query)}

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
        with self._connect() as connection, connection.begin():
            found = connection.execute(query).first()
        if found is None:
            raise NotFoundError(
                "no such revision of that document in the index",
                kind="no-such-citation",
                subject=f"{name}@{sha256_head}",
                expected="a document and revision that a kept generation holds",
                remedy="copy the citation as `variorum search` printed it, in quotes",
            )
        return (found[0], found[1], found[2])


# Built once: a hit asks several times, and building costs as much as running.
_HEADING_PATH = select(chunk.c.heading_path).where(
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
