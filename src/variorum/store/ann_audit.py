"""Whether approximate indexes are what the store's vectors make of them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from variorum.records.errors import DamagedError
from variorum.store.ann_file import AnnContent, ann_files, is_installed, open_ann
from variorum.store.removals import newest_removal
from variorum.store.vectors import read_vectors

_AT_ONCE = 20_000
_LEAST_LIKENESS = 0.98
"""Least cosine of a vector and of what a byte a dimension keeps of it."""


def ann_problems(connection: Connection, folder: Path) -> Iterator[tuple[str, str]]:
    """(file, what is wrong) of each index. Linear in their rows. A search passes such a one over.

    Without the library they are not looked at, and not used.
    """
    if not is_installed():
        return
    removal = newest_removal(connection)
    for path in ann_files(folder):
        content = open_ann(path)
        if content is None:
            yield path.name, "it is not whole, or not as it was written; delete it"
        elif content.header.removal != removal:
            yield path.name, "it is from before rows were removed; delete it"
        elif (found := _unlike(connection, content)) is not None:
            yield path.name, f"input {found} is not in it as it is stored; delete it"


def _unlike(connection: Connection, content: AnnContent) -> int | None:
    """The first input whose vector is not in the index as it is in the store."""
    content.index.make_direct_map()
    for start in range(0, content.input_ids.size, _AT_ONCE):
        ids = content.input_ids[start : start + _AT_ONCE]
        kept = content.index.reconstruct_n(start, ids.size)
        try:
            stored = read_vectors(connection, ids, content.header.dimensions)
        except DamagedError:
            return int(ids[0])
        unlike = np.flatnonzero(_likeness(stored, kept) < _LEAST_LIKENESS)
        if unlike.size:
            return int(ids[unlike[0]])
    return None


def _likeness(ones: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(ones, axis=1) * np.linalg.norm(others, axis=1)
    found: NDArray[np.float32] = np.einsum("nd,nd->n", ones, others) / np.maximum(lengths, 1e-12)
    return found
