"""Exact search by vector over the allowed rows, in a total order (invariant 10)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from variorum.records.protocols import Vectors
from variorum.store.snapshot import Places
from variorum.store.view import View

SCORE_DECIMALS = 6
_SLACK = np.float32(1e-5)
"""How far a product's float32 sum may stand from the score recomputed in a fixed order."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Chunk `index` of a generation's `Places`, and its final score."""

    index: int
    score: float


def search_dense(
    view: View, query: NDArray[np.float32], allowed: set[int] | None, k: int
) -> list[Scored]:
    """The k best chunks among the allowed manifest rows (all where None), best first.

    Scores are recomputed in a fixed order and rounded before they are ranked; ties break by
    document name, then place. Linear in the generation's chunks.
    """
    places = view.places
    chosen = _chosen(places, allowed)
    if not chosen.size or k <= 0:
        return []
    wanted = places.input_ids if allowed is None else places.input_ids[chosen]
    matrix, rows = view.vectors(wanted)
    rough = _products(matrix, rows, query)
    near = _near_the_top(rough, k)
    exact = _final_scores(matrix[rows[near]], query)
    scored = [
        Scored(int(index), float(score)) for index, score in zip(chosen[near], exact, strict=True)
    ]
    documents = view.documents
    scored.sort(
        key=lambda one: (
            -one.score,
            documents[int(places.manifest_ids[one.index])].document,
            int(places.ordinals[one.index]),
        )
    )
    return scored[:k]


def _chosen(places: Places, allowed: set[int] | None) -> NDArray[np.intp]:
    if allowed is None:
        return np.arange(places.input_ids.size)
    return np.flatnonzero(np.isin(places.manifest_ids, np.fromiter(allowed, np.int64)))


def _products(
    matrix: Vectors, rows: NDArray[np.intp], query: NDArray[np.float32]
) -> NDArray[np.float32]:
    if rows.size * 4 < len(matrix):
        return matrix[rows] @ query
    return (matrix @ query)[rows]


def _near_the_top(rough: NDArray[np.float32], k: int) -> NDArray[np.intp]:
    if k >= rough.size:
        return np.arange(rough.size)
    threshold = np.partition(rough, rough.size - k)[rough.size - k]
    return np.flatnonzero(rough >= threshold - _SLACK)


def _final_scores(vectors: Vectors, query: NDArray[np.float32]) -> NDArray[np.float64]:
    products = vectors.astype(np.float64) * query.astype(np.float64)
    return np.round(np.cumsum(products, axis=1)[:, -1], SCORE_DECIMALS)
