"""Reading a whole store for checking, row by row."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, or_, select

from variorum.store.schema import (
    chunk,
    generation,
    head,
    input_,
    layout,
    manifest,
    model,
    recipe,
    revision,
    vector,
)


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as stored, with the key of its input."""

    start: int
    end: int
    prefix: str
    key: bytes


@dataclass(frozen=True, slots=True)
class StoredLayout:
    """A layout as stored, with all that its inputs are made from."""

    tenant: str
    sha256: str
    content: bytes
    content_type: str
    model_fingerprint: str
    chunks: tuple[StoredChunk, ...]


class Audit:
    """Everything a store holds, for `verify`. Memory is bounded by the largest document."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def file_problems(self) -> Iterator[str]:
        """What the engine finds wrong with its own file."""
        for (problem,) in self.connection.exec_driver_sql("PRAGMA quick_check").all():
            if problem != "ok":
                yield str(problem)
        for row in self.connection.exec_driver_sql("PRAGMA foreign_key_check").all():
            yield f"row {row[1]} of {row[0]} points to nothing in {row[2]}"

    def pointer_problems(self) -> Iterator[tuple[str, str]]:
        """(subject, problem) of heads and manifest intervals that contradict each other."""
        newest = (
            select(generation.c.collection_id, func.max(generation.c.number).label("number"))
            .group_by(generation.c.collection_id)
            .subquery()
        )
        heads = (
            select(newest.c.collection_id, newest.c.number, head.c.generation)
            .select_from(newest.outerjoin(head, head.c.collection_id == newest.c.collection_id))
            .where(or_(head.c.generation.is_(None), head.c.generation != newest.c.number))
        )
        for collection_id, number, pointed in self.connection.execute(heads):
            yield f"collection {collection_id}", f"head at {pointed}, newest is {number}"
        backwards = select(manifest.c.id).where(
            manifest.c.to_generation <= manifest.c.from_generation
        )
        for (identifier,) in self.connection.execute(backwards):
            yield f"manifest {identifier}", "ends before it begins"
        yield from self._overlaps()

    def _overlaps(self) -> Iterator[tuple[str, str]]:
        other = manifest.alias("other")
        overlapping = select(manifest.c.id, other.c.id).where(
            manifest.c.document_id == other.c.document_id,
            manifest.c.id < other.c.id,
            manifest.c.from_generation < func.coalesce(other.c.to_generation, 1 << 60),
            other.c.from_generation < func.coalesce(manifest.c.to_generation, 1 << 60),
        )
        for first, second in self.connection.execute(overlapping):
            yield f"manifest {first}", f"visible together with {second}, of the same document"

    def count_layouts(self) -> int:
        """How many layouts there are."""
        return int(self.connection.execute(select(func.count()).select_from(layout)).scalar_one())

    def layouts(self) -> Iterator[StoredLayout]:
        """Every layout with its chunks."""
        query = (
            select(
                layout.c.id,
                revision.c.tenant,
                revision.c.sha256,
                revision.c.content,
                layout.c.content_type,
                recipe.c.settings,
            )
            .select_from(
                layout.join(revision, revision.c.id == layout.c.revision_id).join(
                    recipe, recipe.c.id == layout.c.recipe_id
                )
            )
            .order_by(layout.c.id)
        )
        for identifier, tenant, sha256, content, content_type, settings in self._stream(query):
            yield StoredLayout(
                tenant=tenant,
                sha256=sha256,
                content=_inflate(content),
                content_type=content_type,
                model_fingerprint=settings["model"],
                chunks=self._chunks(identifier),
            )

    def _chunks(self, layout_id: int) -> tuple[StoredChunk, ...]:
        query = (
            select(chunk.c.start, chunk.c.end, chunk.c.prefix, input_.c.key)
            .join(input_, input_.c.id == chunk.c.input_id)
            .where(chunk.c.layout_id == layout_id)
            .order_by(chunk.c.ordinal)
        )
        rows = self.connection.execute(query)
        return tuple(StoredChunk(row[0], row[1], row[2], row[3]) for row in rows)

    def inputs_without_vector(self) -> Iterator[int]:
        """Inputs of stored chunks that have no vector."""
        query = (
            select(chunk.c.input_id)
            .outerjoin(vector, vector.c.input_id == chunk.c.input_id)
            .where(vector.c.input_id.is_(None))
            .distinct()
        )
        for (identifier,) in self.connection.execute(query):
            yield identifier

    def count_vectors(self) -> int:
        """How many vectors there are."""
        return int(self.connection.execute(select(func.count()).select_from(vector)).scalar_one())

    def vectors(self) -> Iterator[tuple[int, bytes, int]]:
        """(input id, stored bytes, dimensions of its model) of every vector."""
        query = (
            select(vector.c.input_id, vector.c.data, model.c.dimensions)
            .join(input_, input_.c.id == vector.c.input_id)
            .join(model, model.c.id == input_.c.model_id)
            .order_by(vector.c.input_id)
        )
        for row in self._stream(query):
            yield row[0], row[1], row[2]

    def _stream(self, query: Select[Any]) -> Iterator[Any]:
        options = {"yield_per": 100}
        result = self.connection.execute(query, execution_options=options)
        for row in result:
            yield tuple(row)


def _inflate(content: bytes) -> bytes:
    try:
        return zlib.decompress(content)
    except zlib.error:
        return b""
