"""Making a collection's approximate index, when there is none or it lacks too much.

Made by whoever publishes, afterwards: a reader never waits for it, and never needs it. Making it
anew takes a few millionths of what embedding its rows took, so none is ever added to.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select

from variorum.records.protocols import Progress
from variorum.store import ann
from variorum.store.ann_file import (
    AnnHeader,
    ann_path,
    is_installed,
    library,
    name_ann,
    read_header,
    read_input_ids,
    written_ann,
)
from variorum.store.engine import write_transaction
from variorum.store.removals import newest_removal
from variorum.store.schema import input_
from variorum.store.snapshot import Snapshot
from variorum.store.store import Store
from variorum.store.vectors import read_vectors

Reads = Callable[[NDArray[np.int64]], Iterable[NDArray[np.float32]]]

MOST_NEW = 0.1
"""Share of inputs, of those that an index holds, after which it is made anew."""

_LISTS = 2.0
"""Lists for each square root of rows."""
_TRAINED_WITH = 64
"""Rows for each list that the lists are found with."""
_AT_ONCE = 20_000
_ROUNDS = 10
_NEWEST_INPUT = select(func.coalesce(func.max(input_.c.id), 0))


def keep_ann(store: Store, tenant: str, name: str, progress: Progress) -> bool:
    """Make the index of a collection's newest generation where that is due; whether it was made.

    Linear in the generation's vectors where it is made, in its chunks where it may be due; else a
    look at two numbers.

    Raises:
        DamagedError: something of the generation is not as it was written.
        UnavailableError: the disk is full or failed.
    """
    if not is_installed() or store.head(tenant, name)[1] is None:
        return False
    # Before the snapshot: rows that are removed after it are then known to be.
    with store.reading() as connection:
        removal = newest_removal(connection)
        newest = int(connection.execute(_NEWEST_INPUT).scalar_one())
    if newest < ann.LEAST_ROWS:
        return False
    snapshot = store.snapshot(tenant, name)
    path = ann_path(store.folder, snapshot.collection_id)
    before = read_header(path)
    if before is not None and not _is_of(before, snapshot, removal):
        before = None
    if before and newest - before.newest_input <= _bearable(before):
        return False
    ids = np.unique(snapshot.places.input_ids)
    if ids.size < ann.LEAST_ROWS or (before and _missing(path, before, ids) <= _bearable(before)):
        return False
    head = _header(snapshot, ids, removal)
    made = ann_of(partial(_read, store, head.dimensions), ids, head.dimensions, progress)
    with written_ann(path, made, ids, head) as beside:
        return _named(store, beside, path, removal)


def _named(store: Store, beside: Path, path: Path, removal: int) -> bool:
    """Give a finished file its name, unless rows were removed since `removal`.

    A removal is either seen here, or it deletes the file that is named here: what was erased does
    not come back with an index.
    """
    with store.connection(create=True) as connection, write_transaction(connection):
        if newest_removal(connection) != removal:
            return False
        with suppress(FileNotFoundError):  # A removal took it away.
            name_ann(beside, path)
            return True
    return False


def _is_of(header: AnnHeader, snapshot: Snapshot, removal: int) -> bool:
    return header.removal == removal and header.model == snapshot.generation.model_fingerprint


def _bearable(header: AnnHeader) -> int:
    return int(MOST_NEW * header.rows)


def _missing(path: Path, header: AnnHeader, ids: NDArray[np.int64]) -> int:
    """How many of `ids` an index does not hold."""
    return int(np.count_nonzero(~np.isin(ids, read_input_ids(path, header))))


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


def ann_of(reads: Reads, ids: NDArray[np.int64], dimensions: int, progress: Progress) -> Any:
    """Lists of near rows, each as a byte a dimension; `reads` gives the vectors of ids in order."""
    faiss = library()
    lists = max(1, round(_LISTS * sqrt(ids.size)))
    index = faiss.index_factory(dimensions, f"IVF{lists},SQ8", faiss.METRIC_INNER_PRODUCT)
    index.cp.niter = _ROUNDS
    step = max(1, ids.size // (_TRAINED_WITH * lists))
    index.train(np.concatenate(list(reads(ids[::step]))))
    done = 0
    progress("index vectors", done, ids.size)
    for vectors in reads(ids):
        index.add(vectors)
        done += len(vectors)
        progress("index vectors", done, ids.size)
    return index


def _read(store: Store, dimensions: int, ids: NDArray[np.int64]) -> Iterator[NDArray[np.float32]]:
    """The vectors of some inputs, in order, a part at a time, each in a short transaction."""
    for start in range(0, ids.size, _AT_ONCE):
        with store.reading() as connection:
            yield read_vectors(connection, ids[start : start + _AT_ONCE], dimensions)
