"""What another generation in memory knows of this one, so that only the rest is read.

A manifest row keeps its id, its document and its layout for as long as it is there, and a layout
its chunks: two generations share what an edit between them left alone. An id may be given again
once its row was removed; the generation that a row was opened by tells the two apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, select

from variorum.store.batches import batches
from variorum.store.manifests import ManifestRow, manifest_query, read_manifest
from variorum.store.schema import manifest


@dataclass(frozen=True, slots=True)
class Known:
    """The documents of a generation in memory, and the chunks that `model_id` embedded.

    `chunks` is int64[n, 5], a row a chunk, its second column the manifest row; None where they were
    not asked for yet.
    """

    documents: Mapping[int, ManifestRow]
    chunks: NDArray[np.int64] | None
    model_id: int


def read_documents(
    connection: Connection,
    collection_id: int,
    visible: ColumnElement[bool],
    known: Mapping[int, ManifestRow],
) -> dict[int, ManifestRow]:
    """The documents of the `visible` manifest rows of a collection, by the row's id.

    Those `known` are the same objects: of each two numbers are read.
    """
    whole = manifest_query(collection_id).where(visible)
    if not known:
        return {row.id: row for row in read_manifest(connection, whole)}
    query = select(manifest.c.id, manifest.c.from_generation).where(
        manifest.c.collection_id == collection_id, visible
    )
    found = [
        (identifier, row if row is not None and row.from_generation == opened else None)
        for identifier, opened in connection.execute(query)
        for row in (known.get(identifier),)
    ]
    unknown = [identifier for identifier, row in found if row is None]
    if 2 * len(unknown) > len(found):
        return {row.id: row for row in read_manifest(connection, whole)}
    read = {
        row.id: row
        for some in batches(unknown)
        for row in read_manifest(connection, whole.where(manifest.c.id.in_(some)))
    }
    return {identifier: row or read[identifier] for identifier, row in found}


def known_chunks(
    known: Known | None, documents: Mapping[int, ManifestRow], model_id: int
) -> tuple[NDArray[np.int64], list[int]] | None:
    """The chunks of the known documents among `documents`, and the manifest rows of the others.

    None where it is as well to read them all.
    """
    if known is None or known.chunks is None or known.model_id != model_id:
        return None
    unknown = [row.id for row in documents.values() if known.documents.get(row.id) is not row]
    if 2 * len(unknown) > len(documents):
        return None
    shared = np.setdiff1d(np.fromiter(documents, np.int64), np.array(unknown, np.int64))
    return known.chunks[np.isin(known.chunks[:, 1], shared)], unknown
