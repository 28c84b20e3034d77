"""Reading a whole store for checking, row by row."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, String, bindparam, func, select, type_coerce

from variorum.store.columns import ill_typed
from variorum.store.damage import dangling_rows
from variorum.store.schema import (
    chunk,
    derivation,
    derived,
    input_,
    layout,
    metadata,
    model,
    output,
    posting,
    recipe,
    revision,
    vector,
)
from variorum.store.seals import is_sound, require_sound, unsound, unsound_rows

Problem = tuple[str, str]
"""A row, and what is wrong with it."""

ILL_SEALED = "its checksum does not fit"
"""What is wrong with a row that is not as it was written."""


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as stored, with the key of its input; None where it has none.

    `heading_path` is the JSON that is stored. `is_sound` tells whether the row is as it was
    written, `is_input_sound` that of its input.
    """

    ordinal: int
    start: int
    end: int
    prefix: str
    heading_path: str
    input_id: int
    key: bytes | None
    is_sound: bool
    is_input_sound: bool | None


@dataclass(frozen=True, slots=True)
class StoredLayout:
    """A layout as stored, with all that its inputs are made from; `outline` as its JSON."""

    id: int
    revision_id: int
    tenant: str
    sha256: str
    size_bytes: int
    content: bytes
    content_type: str
    parser: str
    outline: str | None
    model_fingerprint: str
    heading_depth: int
    chunks: tuple[StoredChunk, ...]


_LAYOUTS = (
    select(
        layout.c.id,
        revision.c.id,
        revision.c.tenant,
        revision.c.sha256,
        revision.c.size_bytes,
        revision.c.content,
        layout.c.content_type,
        layout.c.parser,
        type_coerce(layout.c.outline, String),
        recipe.c.settings,
        *unsound(recipe),
    )
    .select_from(
        layout.join(revision, revision.c.id == layout.c.revision_id).join(
            recipe, recipe.c.id == layout.c.recipe_id
        )
    )
    .order_by(layout.c.id)
)
_CHUNKS = (
    select(
        chunk.c.ordinal,
        chunk.c.start,
        chunk.c.end,
        chunk.c.prefix,
        type_coerce(chunk.c.heading_path, String),
        chunk.c.input_id,
        input_.c.key,
        is_sound(chunk),
        is_sound(input_),
    )
    .outerjoin(input_, input_.c.id == chunk.c.input_id)
    .where(chunk.c.layout_id == bindparam("layout"))
    .order_by(chunk.c.ordinal)
)


_OUTPUTS = (
    select(derived.c.ordinal, derivation.c.name, derivation.c.version, output.c.key)
    .select_from(
        derived.join(output, output.c.id == derived.c.output_id).join(
            derivation, derivation.c.id == derived.c.derivation_id
        )
    )
    .where(derived.c.layout_id == bindparam("layout"))
    .order_by(derived.c.ordinal, derivation.c.name)
)


class Audit:
    """Everything a store holds, for `verify`. Memory is bounded by the largest document."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def file_problems(self) -> Iterator[Problem]:
        """What the engine finds wrong with its own file: pages, indexes, references."""
        for (problem,) in self.connection.exec_driver_sql("PRAGMA integrity_check").all():
            if problem != "ok":
                yield "store", str(problem)
        yield from dangling_rows(self.connection)

    def row_problems(self) -> Iterator[Problem]:
        """Rows that are not as they were written, and columns of the wrong type.

        Checksums of postings are looked at by whoever reads the postings.
        """
        for table in metadata.sorted_tables:
            if table is not posting:
                for row in unsound_rows(self.connection, table):
                    yield row, ILL_SEALED
            yield from ill_typed(self.connection, table)

    def count_layouts(self) -> int:
        """How many layouts there are."""
        return int(self.connection.execute(select(func.count()).select_from(layout)).scalar_one())

    def layouts(self, *only: int) -> Iterator[StoredLayout]:
        """Every layout with its chunks, or those of the given ids.

        Raises:
            DamagedError: a recipe is not as it was written.
        """
        query = _LAYOUTS.where(layout.c.id.in_(only)) if only else _LAYOUTS
        for row in self._stream(query):
            identifier, revision_id, tenant, sha256, size_bytes, content, *rest = require_sound(
                row, 1
            )
            content_type, parser, outline, settings = rest
            yield StoredLayout(
                id=identifier,
                revision_id=revision_id,
                tenant=tenant,
                sha256=sha256,
                size_bytes=size_bytes,
                content=_inflate(content),
                content_type=content_type,
                parser=parser,
                outline=outline,
                model_fingerprint=settings["model"],
                heading_depth=settings["heading_depth"],
                chunks=self._chunks(identifier),
            )

    def _chunks(self, layout_id: int) -> tuple[StoredChunk, ...]:
        rows = self.connection.execute(_CHUNKS, {"layout": layout_id})
        return tuple(StoredChunk(*row) for row in rows)

    def outputs(self, layout_id: int) -> Iterator[tuple[int, str, str, bytes]]:
        """(ordinal, function, version, key) of every output that a layout's chunks have."""
        yield from (tuple(row) for row in self.connection.execute(_OUTPUTS, {"layout": layout_id}))

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
    except (zlib.error, TypeError):  # Not even bytes: a damaged row may hold anything.
        return b""
