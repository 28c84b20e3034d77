"""Whether anything of an erased document is left in the store's files: the bytes are searched.

Strings of bytes that the document's rows held are looked for in every file of the store's folder.
One that is found must be explained by a row that stays; otherwise the erasure did not work.
"""

import json
import mmap
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, LargeBinary, cast, func, literal, select
from sqlalchemy.types import JSON, String

from variorum.records.errors import UnavailableError
from variorum.records.names import DocumentName
from variorum.store.retention import Gone
from variorum.store.schema import chunk, input_, manifest, metadata, output, revision, vector

SLICE_BYTES = 24
SLICES = 8
"""How many slices of each stored value are looked for, spread evenly over it."""

SHORTEST = 4
"""Fewest different bytes of a string that is looked for."""

MAX_PROBES = 512


def probes_of(connection: Connection, gone: Gone, name: DocumentName) -> Iterator[bytes]:
    """Strings of bytes that only rows of the document should hold, before they go."""
    found: dict[bytes, None] = {}
    for value in _values(connection, gone, name):
        if len(set(value)) >= SHORTEST:  # Zeros stand anywhere, and tell nothing.
            found.setdefault(value)
    yield from list(found)[:MAX_PROBES]


def _values(connection: Connection, gone: Gone, name: DocumentName) -> Iterator[bytes]:
    yield name.path
    yield _as_json(str(name))
    contents = select(revision.c.sha256, revision.c.content).where(
        revision.c.id.in_(gone.of("revision"))
    )
    for sha256, content in connection.execute(contents):
        yield sha256.encode()
        yield from _slices(content)
        yield from _lines(content)
    chunks = select(chunk.c.prefix, chunk.c.heading_path).where(
        chunk.c.layout_id.in_(gone.of("layout"))
    )
    for prefix, headings in connection.execute(chunks.distinct()):
        yield prefix.encode()
        yield from (_as_json(title) for title in headings)
    described = select(manifest.c.metadata).where(manifest.c.id.in_(gone.of("manifest")))
    for (fields,) in connection.execute(described.distinct()):
        yield from _strings(fields)
    made = select(output.c.key, output.c.text).where(output.c.id.in_(gone.of("output")))
    for key, text in connection.execute(made):
        yield key
        yield from _slices(text.encode())
    vectors = (
        select(input_.c.key, vector.c.data)
        .join(vector, vector.c.input_id == input_.c.id)
        .where(input_.c.id.in_(gone.of("input")))
    )
    for key, data in connection.execute(vectors):
        yield key
        yield max(_slices(data), key=lambda piece: len(set(piece)))


def _as_json(text: str) -> bytes:
    """How a JSON column holds a string, without its quotes."""
    return json.dumps(text)[1:-1].encode()


def _strings(fields: Any) -> Iterator[bytes]:
    """Every string within a JSON value, as a column holds it."""
    if isinstance(fields, str):
        yield _as_json(fields)
    elif isinstance(fields, dict):
        for value in fields.values():
            yield from _strings(value)
    elif isinstance(fields, list):
        for value in fields:
            yield from _strings(value)


def _slices(stored: bytes) -> Iterator[bytes]:
    last = max(0, len(stored) - SLICE_BYTES)
    for place in range(SLICES):
        start = last * place // (SLICES - 1)
        yield stored[start : start + SLICE_BYTES]


def _lines(content: bytes) -> Iterator[bytes]:
    """A few of a revision's lines as they are read, should they stand anywhere uncompressed.

    None of one that is damaged.
    """
    try:
        lines = [line.strip() for line in zlib.decompress(content).splitlines()]
    except (zlib.error, TypeError):
        return
    long = [line for line in lines if len(line) >= SLICE_BYTES]
    yield from (line[:200] for line in long[:: max(1, len(long) // SLICES)])


def search_files(connection: Connection, folder: Path, probes: tuple[bytes, ...]) -> int:
    """Look for the probes in every file of the store; how many a row that stays holds too.

    Linear in the files' bytes times the probes.

    Raises:
        UnavailableError: one was found that no row explains.
    """
    present = {probe for file in sorted(folder.rglob("*")) for probe in _in_file(file, probes)}
    for probe in sorted(present):
        if not _is_held(connection, probe):
            raise UnavailableError(
                "bytes of the erased document are left in the store's files",
                kind="erase-unfinished",
                subject=str(folder),
                expected="none: its rows are gone, and the files were rebuilt",
                found=f"{len(present)} strings, such as {probe[:SLICE_BYTES].hex()}",
                remedy="end the programs that read the store, then run the command again",
            )
    return len(present)


def _in_file(file: Path, probes: tuple[bytes, ...]) -> Iterator[bytes]:
    if not file.is_file() or not file.stat().st_size:
        return
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield from (probe for probe in probes if data.find(probe) >= 0)


def _is_held(connection: Connection, probe: bytes) -> bool:
    """Whether any row of any table holds the bytes. Linear in the store."""
    for table in metadata.sorted_tables:
        for column in table.c:
            if isinstance(column.type, String | JSON | LargeBinary):
                held = select(literal(1)).where(_contains(column, probe)).limit(1)
                if connection.execute(held).first() is not None:
                    return True
    return False


def _contains(column: Column[Any], probe: bytes) -> Any:
    return func.instr(cast(column, LargeBinary), probe) > 0
