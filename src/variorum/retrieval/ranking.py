"""One total order of scored chunks, whatever scored them (invariant 10)."""

from collections.abc import Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from variorum.store.snapshot import Places
from variorum.store.view import View

SCORE_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Scored:
    """Chunk `index` of a view's `Places`, and its final score."""

    index: int
    score: float


def chunks_of(places: Places, allowed: Set[int] | None) -> NDArray[np.intp]:
    """The places of the chunks of the allowed manifest rows, of all where None; ascending."""
    if allowed is None:
        return np.arange(places.input_ids.size)
    return np.flatnonzero(np.isin(places.manifest_ids, np.fromiter(allowed, np.int64)))


def best(
    view: View, indexes: NDArray[np.intp], scores: NDArray[np.float64], k: int
) -> list[Scored]:
    """The k best of chunks with final scores: by score, then document name, then place."""
    if k <= 0 or not indexes.size:
        return []
    if indexes.size > k:
        threshold = np.partition(scores, scores.size - k)[scores.size - k]
        near = scores >= threshold
        indexes, scores = indexes[near], scores[near]
    places, documents = view.places, view.documents
    found = [Scored(int(one), float(score)) for one, score in zip(indexes, scores, strict=True)]
    found.sort(
        key=lambda one: (
            -one.score,
            documents[int(places.manifest_ids[one.index])].document,
            int(places.ordinals[one.index]),
        )
    )
    return found[:k]
