"""Making a collection's approximate index, when there is none or it lacks too much.

Made by whoever publishes, afterwards: a reader never waits for it, and never needs it. Making it
anew takes a few millionths of what embedding its rows took, so none is ever added to.
"""

from collections.abc import Iterator
from contextlib import suppress
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from variorum.records.protocols import Progress
from variorum.store import ann
from variorum.store.ann_file import AnnHeader, ann_path, name_ann, read_header, written_ann
from variorum.store.engine import write_transaction
from variorum.store.removals import newest_removal
from variorum.store.schema import input_
from variorum.store.snapshot import Snapshot
from variorum.store.store import Store
from variorum.store.vectors import read_vectors

MOST_NEW = 0.1
"""Share of inputs, of those that an index holds, after which it is made anew."""

_LISTS = 2.0
"""Lists for each square root of rows."""
_TRAINED_WITH = 64
"""Rows for each list that the lists are found with."""
_AT_ONCE = 20_000
_ROUNDS = 10


def keep_ann(store: Store, tenant: str, name: str, progress: Progress) -> bool:
    """Make the index of a collection's newest generation where that is due; whether it was made.

    Linear in the generation's vectors, where it is due; else it takes a count of what is new.

    Raises:
        DamagedError: a vector is not as it was written.
        UnavailableError: the disk is full or failed.
    """
    if not ann.is_installed() or store.head(tenant, name)[1] is None:
        return False
    snapshot = store.snapshot(tenant, name)
    with store.reading() as connection:
        removal = newest_removal(connection)
        if not _is_due(connection, store, snapshot, removal):
            return False
    ids = np.unique(snapshot.places.input_ids)
    if ids.size < ann.LEAST_ROWS:
        return False
    head = _header(snapshot, ids, removal)
    index = _made(store, ids, head.dimensions, progress)
    path = ann_path(store.folder, snapshot.collection_id)
    with (
        written_ann(path, index, ids, head) as beside,
        store.connection(create=True) as connection,
        write_transaction(connection),
    ):
        # What was removed meanwhile must not come back with the index: a removal is either seen
        # here, or it deletes the file that is named here.
        if newest_removal(connection) != removal:
            return False
        with suppress(FileNotFoundError):
            name_ann(beside, path)
            return True
    return False


def _is_due(connection: Connection, store: Store, snapshot: Snapshot, removal: int) -> bool:
    """Whether there is no index of this model and store, or it lacks too much."""
    header = read_header(ann_path(store.folder, snapshot.collection_id))
    row = snapshot.generation
    mine = input_.c.model_id == row.model_id
    if header is None or header.removal != removal or header.model != row.model_fingerprint:
        query = select(func.count()).where(mine)
        return int(connection.execute(query).scalar_one()) >= ann.LEAST_ROWS
    query = select(func.count()).where(mine, input_.c.id > header.newest_input)
    return int(connection.execute(query).scalar_one()) > MOST_NEW * header.rows


def _header(snapshot: Snapshot, ids: NDArray[np.int64], removal: int) -> AnnHeader:
    row = snapshot.generation
    return AnnHeader(
        collection_id=snapshot.collection_id,
        generation=row.number,
        created_at=row.created_at,
        model=row.model_fingerprint,
        dimensions=row.dimensions,
        removal=removal,
        rows=int(ids.size),
        newest_input=int(ids[-1]),
    )


def _made(store: Store, ids: NDArray[np.int64], dimensions: int, progress: Progress) -> Any:
    """Lists of near rows, each as a byte a dimension."""
    import faiss

    lists = max(1, round(_LISTS * sqrt(ids.size)))
    index = faiss.index_factory(dimensions, f"IVF{lists},SQ8", faiss.METRIC_INNER_PRODUCT)
    index.cp.niter = _ROUNDS
    step = max(1, ids.size // (_TRAINED_WITH * lists))
    sample = np.concatenate(list(_read(store, ids[::step], dimensions)))
    index.train(sample)
    done = 0
    progress("index vectors", done, ids.size)
    for vectors in _read(store, ids, dimensions):
        index.add(vectors)
        done += len(vectors)
        progress("index vectors", done, ids.size)
    return index


def _read(
    store: Store, ids: NDArray[np.int64], dimensions: int
) -> Iterator[NDArray[np.float32]]:
    """The vectors of some inputs, in order, a part at a time, each in a short transaction."""
    for start in range(0, ids.size, _AT_ONCE):
        with store.reading() as connection:
            yield read_vectors(connection, ids[start : start + _AT_ONCE], dimensions)
