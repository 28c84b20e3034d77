"""Searching an approximate index: candidates among the rows that somebody may see.

A derived copy (invariant 9): it says which rows to look at, never how near they are. Rows that it
does not hold yet are candidates all.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from variorum.store.ann_file import AnnContent, AnnHeader, library

LEAST_ROWS = 25_000
"""Fewest allowed rows for which it pays: fewer are scored in a few milliseconds."""
LEAST_SHARE = 0.5
"""Least share of the index's rows that is allowed: below it, too many lists hold none of them."""
MOST_MISSING = 0.2
"""Largest share of the allowed rows that the index may lack: these are scored all."""
DEEPEST = 0.01
"""Largest share of the index's rows that is asked for: farther down a ranking, rows lie in ever
more lists.
"""
SHALLOW = 20
"""Hits up to which fewer lists are looked at."""
PROBED = (10, 4)
"""One list of so many is looked at, where hits are few and where they are many."""
_FEWEST_CANDIDATES = 64
"""Candidates come in the order of vectors of one byte a dimension: somewhat more than the hits."""


@dataclass(frozen=True)
class Mask:
    """What an index may give of a choice of rows: `order` and `places` map the index's rows back
    to the choice, `missing` are the chosen that it does not hold.
    """

    selector: Any
    order: NDArray[np.intp]
    places: NDArray[np.intp]
    missing: NDArray[np.intp]
    is_worthwhile: bool


class Ann:
    """An open index. Immutable, and safe for many threads."""

    def __init__(self, content: AnnContent) -> None:
        self.header: AnnHeader = content.header
        self.input_ids = content.input_ids
        self._index = content.index

    def mask(self, input_ids: NDArray[np.int64]) -> Mask:
        """A choice of rows, by the input of each. n log n."""
        faiss = library()
        places = np.searchsorted(self.input_ids, input_ids)
        inside = places < self.input_ids.size
        inside[inside] = self.input_ids[places[inside]] == input_ids[inside]
        held = np.flatnonzero(inside)
        order = held[np.argsort(places[held], kind="stable")]
        bits = np.zeros(self.input_ids.size, np.bool_)
        bits[places[held]] = True
        missing = np.flatnonzero(~inside)
        is_worthwhile = (
            input_ids.size >= LEAST_ROWS
            and np.count_nonzero(bits) >= LEAST_SHARE * bits.size
            and missing.size <= MOST_MISSING * input_ids.size
        )
        packed = np.packbits(bits, bitorder="little")
        selector = None if bits.all() else faiss.IDSelectorBitmap(packed)
        return Mask(selector, order, places[order], missing, bool(is_worthwhile))

    def near(self, mask: Mask, query: NDArray[np.float32], k: int) -> NDArray[np.intp] | None:
        """Places, in the choice of `mask`, of what may be its k nearest; None where all should be
        looked at: too few came back, or that is no dearer.
        """
        if not mask.is_worthwhile or k > DEEPEST * self.input_ids.size:
            return None
        faiss = library()
        wanted = max(_FEWEST_CANDIDATES, k + k // 2)
        asked = faiss.SearchParametersIVF(sel=mask.selector, nprobe=self._probed(k))
        with _alone(faiss):
            _, (found,) = self._index.search(query[None], wanted, params=asked)
        found = np.sort(found[found >= 0])
        first = np.searchsorted(mask.places, found, "left")
        last = np.searchsorted(mask.places, found, "right")
        ranges = np.repeat(first, last - first) + _counted(last - first)
        candidates = np.concatenate([mask.order[ranges], mask.missing])
        candidates.sort()
        return candidates if candidates.size >= k else None

    def _probed(self, k: int) -> int:
        return -(-int(self._index.nlist) // PROBED[k > SHALLOW])


@contextmanager
def _alone(faiss: Any) -> Iterator[None]:
    """This thread alone: one question is too little to share out, and a busy core would be waited
    for. The number is the calling thread's own.
    """
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


def _counted(lengths: NDArray[np.intp]) -> NDArray[np.intp]:
    """0, 1, … for each length in turn."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - lengths, lengths)
