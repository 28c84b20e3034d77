"""Other kinds of approximate index over the same rows: what each finds, and how fast at most.

The library alone, its candidates scored by NumPy: no filter, no order of ties, no store around it.
So these are bounds of what an index of that kind could bring to a search.
"""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.search_peers import K, nearest
from bench.search_rows import Rows
from bench.study import Result, Table
from bench.turns import alternated

Vector = NDArray[np.float32]

KINDS: dict[str, tuple[tuple[int, int], ...]] = {
    "IVF632,SQ8": ((79, 64), (63, 64), (40, 64)),
    "IVF632,PQ192x4fs": ((79, 256), (63, 512), (40, 512)),
    "HNSW24,Flat": ((64, 64), (128, 64), (200, 64)),
    "HNSW32,SQ8": ((64, 64), (96, 64), (200, 64)),
}
"""faiss's own names, and for each what is asked: (lists or rows looked at, candidates)."""

_TRAINED_WITH = 40_000


def kinds(result: Result, rows: Rows, vectors: Sequence[Vector]) -> None:
    """Each kind in turn with every row's product, and its share of the true ten."""
    import faiss

    matrix = np.ascontiguousarray(rows.vectors)
    truth = [{*nearest(matrix, None, one).tolist()} for one in vectors]
    printed = []
    for spec, asked in KINDS.items():
        started = perf_counter()
        index = _made(faiss, spec, matrix)
        made_s = perf_counter() - started
        for looked_at, candidates in asked:
            search = _search(faiss, index, matrix, looked_at, candidates)
            works: dict[str, Callable[[Vector], object]] = {
                "exact": lambda vector: nearest(matrix, None, vector),
                "ann": search,
            }
            times = alternated(works, vectors)
            shares = [
                len(truth[place] & {*search(one).tolist()}) / K for place, one in enumerate(vectors)
            ]
            faster = times["exact"] / times["ann"]
            cells = (spec, looked_at, candidates, made_s, times["exact"], times["ann"])
            printed.append((*cells, faster, float(np.mean(shares))))
    heads = ("index", "looks at", "candidates", "made in, s", "exact, ms", "ann, ms")
    columns = (*heads, "times faster", "recall@10")
    result.tables.append(Table("Other kinds of index, alone", columns, printed))


def _made(faiss: Any, spec: str, matrix: NDArray[np.float32]) -> Any:
    index = faiss.index_factory(matrix.shape[1], spec, faiss.METRIC_INNER_PRODUCT)
    chosen = np.random.default_rng(0).permutation(len(matrix))[:_TRAINED_WITH]
    index.train(matrix[chosen])
    index.add(matrix)
    return index


def _search(
    faiss: Any, index: Any, matrix: NDArray[np.float32], looked_at: int, candidates: int
) -> Callable[[Vector], NDArray[np.int64]]:
    if hasattr(index, "nlist"):
        asked = faiss.SearchParametersIVF(nprobe=looked_at)
    else:
        asked = faiss.SearchParametersHNSW(efSearch=looked_at)

    def search(vector: Vector) -> NDArray[np.int64]:
        faiss.omp_set_num_threads(1)
        _, (found,) = index.search(vector[None], candidates, params=asked)
        return nearest(matrix, np.sort(found[found >= 0]), vector)

    return search
