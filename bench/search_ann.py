"""The approximate index: how much faster than scoring every row, what it finds of the true hits,
and from how many rows on it pays.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import variorum
from bench.search_rows import RowEmbedder, Rows
from bench.study import Result, Table, Target
from bench.turns import alternated
from variorum.records.protocols import Vectors
from variorum.retrieval.dense import search_dense
from variorum.retrieval.filters import Filter
from variorum.retrieval.ranking import chunks_of
from variorum.store import ann
from variorum.store.ann import Ann
from variorum.store.ann_building import ann_of
from variorum.store.ann_file import AnnContent, AnnHeader
from variorum.store.view import View
from variorum.sync.target import no_progress

DEPTHS = (10, 100, 1000)
SIZES = (10_000, 20_000, 50_000, 100_000)
PART = "t[0-5]/**"
"""Six tenants of ten, as the owner's own filter."""

Vector = NDArray[np.float32]


def open_exact(home: Path, rows: Rows) -> "variorum.Index":
    """The same store, its approximate index turned off."""
    config = home / "exact.toml"
    settings = (home / "variorum.toml").read_text()
    config.write_text(f"{settings}\n[store]\nann = false\n")
    return variorum.open(home, config=config, embedder=RowEmbedder(rows))


def _scored(view: Any, chosen: NDArray[np.intp], k: int) -> Callable[[Vector], object]:
    return lambda vector: search_dense(view, vector, chosen, k)


def _found(view: View, chosen: NDArray[np.intp], k: int, vector: Vector) -> set[int]:
    return {*search_dense(view, vector, chosen, k).indexes.tolist()}


def against_exact(
    result: Result,
    index: "variorum.Index",
    other: "variorum.Index",
    rows: Rows,
    vectors: Sequence[Vector],
) -> None:
    """By `index` and by every row, as `other` does, in turn; what is found of what is nearest."""
    view, exact = index.view(effective="any"), other.view(effective="any")
    printed: list[list[object]] = []
    part = Filter.of(PART, None, None).documents(view)
    for name, allowed in (("no filter", None), (f"the path {PART}", part)):
        chosen = chunks_of(view.places, allowed)
        for k in DEPTHS:
            works = {"ann": _scored(view, chosen, k), "exact": _scored(exact, chosen, k)}
            alternated(works, vectors[:3])
            times = alternated(works, vectors)
            shares = [
                len(_found(view, chosen, k, one) & _found(exact, chosen, k, one)) / k
                for one in vectors
            ]
            recall, ratio = float(np.mean(shares)), times["exact"] / times["ann"]
            printed.append([name, chosen.size, k, times["exact"], times["ann"], ratio, recall])
    same = _hybrid(index, other, rows)
    columns = ("filter", "rows", "hits", "exact, ms", "ann, ms", "times faster", "recall")
    result.tables.append(Table("By the approximate index", columns, printed))
    faster, recall = float(printed[0][5]), float(printed[0][6])  # type: ignore[arg-type]
    met = faster >= 10 and recall >= 0.99
    measured = f"{faster:.1f} times at recall@10 {recall:.4f}"
    result.targets.append(Target("ann, no filter", ">= 10 times at >= 0.99", measured, met))
    result.figures["hybrid: of the ten hits of exact, with the index"] = same


def _hybrid(index: "variorum.Index", other: "variorum.Index", rows: Rows) -> float:
    """Of the ten hits of hybrid by every row, the share that it has with the index."""
    shares = []
    for query in rows.questions[:60]:
        ones, others = (
            {hit.citation for hit in one.search(query, 10, effective="any").hits}
            for one in (index, other)
        )
        shares.append(len(ones & others) / len(others))
    return float(np.mean(shares))


# From how many rows on


@dataclass(frozen=True)
class _Part:
    """So many rows as a view has them, for the scoring step alone."""

    matrix: Vectors
    index: Ann | None

    @cached_property
    def places(self) -> object:
        return SimpleNamespace(ordinals=np.zeros(len(self.matrix), np.int64))

    @cached_property
    def name_order(self) -> NDArray[np.int64]:
        return np.arange(len(self.matrix))

    def vectors(self, chosen: NDArray[np.intp]) -> tuple[Vectors, NDArray[np.intp]]:
        return self.matrix, chosen

    @cached_property
    def _mask(self) -> ann.Mask | None:
        return self.index and self.index.mask(self.index.input_ids)

    def near(self, _: NDArray[np.intp], query: Vector, k: int) -> NDArray[np.intp] | None:
        return self.index.near(self._mask, query, k) if self.index and self._mask else None


def _index_of(matrix: Vectors) -> Ann:
    ids = np.arange(len(matrix))
    made = ann_of(lambda wanted: [matrix[wanted]], ids, matrix.shape[1], no_progress)
    header = AnnHeader(1, 1, "", "", matrix.shape[1], 0, len(matrix), len(matrix) - 1)
    return Ann(AnnContent(made, ids, header))


def crossover(result: Result, rows: Rows, vectors: Sequence[Vector]) -> None:
    """The scoring step by the index and by every row, for more and more rows."""
    printed = []
    order = np.random.default_rng(0).permutation(len(rows.texts))
    least, ann.LEAST_ROWS = ann.LEAST_ROWS, 0
    for size in (one for one in SIZES if one <= len(rows.texts)):
        matrix = np.ascontiguousarray(rows.vectors[order[:size]])
        started = perf_counter()
        by_index, by_rows = _Part(matrix, _index_of(matrix)), _Part(matrix, None)
        made_s = perf_counter() - started
        chosen = np.arange(size)
        cells: list[object] = [size, made_s]
        for k in DEPTHS:
            works = {"exact": _scored(by_rows, chosen, k), "ann": _scored(by_index, chosen, k)}
            times = alternated(works, vectors)
            is_asked = by_index.near(chosen, vectors[0], k) is not None
            cells += [times["exact"], times["ann"] if is_asked else "exact"]
        printed.append(cells)
    ann.LEAST_ROWS = least
    heads = [f"{k} hits: {what}, ms" for k in DEPTHS for what in ("exact", "ann")]
    title = f"The scoring step by size; used from {least:,} rows on"
    result.tables.append(Table(title, ("rows", "made in, s", *heads), printed))
