"""Search by vector over the allowed rows, in a total order (invariant 10)."""

import numpy as np
from numpy.typing import NDArray

from variorum.records.protocols import Vectors
from variorum.retrieval.ranking import SCORE_DECIMALS, Ranked, best
from variorum.store.view import View

_SLACK = np.float32(1e-5)
"""How far a product's float32 sum may stand from the score recomputed in a fixed order."""
_BLOCK = 128
"""Vectors whose products are in work at once: few enough for the processor's cache."""


def search_dense(
    view: View, query: NDArray[np.float32], chosen: NDArray[np.intp], k: int
) -> Ranked:
    """The k best of the chosen chunks, best first.

    Scores are recomputed in a fixed order and rounded before they are ranked. Linear in the chosen
    chunks, unless an approximate index says which of them to look at.
    """
    if not chosen.size or k <= 0:
        return Ranked.nothing()
    matrix, rows = view.vectors(chosen)
    if (candidates := view.near(chosen, query, k)) is not None:
        chosen, rows = chosen[candidates], rows[candidates]
    near = _near_the_top(_products(matrix, rows, query), k)
    scores = np.round(final_scores(matrix[rows[near]], query), SCORE_DECIMALS)
    return best(view, chosen[near], scores, k)


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


def final_scores(vectors: Vectors, query: NDArray[np.float32]) -> NDArray[np.float64]:
    """The products with `query`, each summed from the first dimension to the last."""
    wide = query.astype(np.float64)[:, None]
    scores = np.empty(len(vectors))
    # A row a dimension: such a sum goes row by row, as long as there are two columns at least.
    products = np.zeros((query.size, min(len(vectors), _BLOCK) + 1))
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        np.multiply(block.T, wide, out=products[:, : len(block)])
        scores[start : start + _BLOCK] = products.sum(axis=0)[: len(block)]
    return scores
