"""One total order of scored chunks, whatever scored them (invariant 10)."""

from collections.abc import Iterator, Set
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


@dataclass(frozen=True, slots=True)
class Ranked:
    """Chunks of a view's `Places` with their final scores, best first: intp[n] and float64[n]."""

    indexes: NDArray[np.intp]
    scores: NDArray[np.float64]

    @classmethod
    def nothing(cls) -> "Ranked":
        """No chunk at all."""
        return cls(np.empty(0, np.intp), np.empty(0))

    def __iter__(self) -> Iterator[Scored]:
        for index, score in zip(self.indexes.tolist(), self.scores.tolist(), strict=True):
            yield Scored(index, score)


def chunks_of(places: Places, allowed: Set[int] | None) -> NDArray[np.intp]:
    """The places of the chunks of the allowed manifest rows, of all where None; ascending."""
    if allowed is None:
        return np.arange(places.input_ids.size)
    return np.flatnonzero(np.isin(places.manifest_ids, np.fromiter(allowed, np.int64)))


def best(view: View, indexes: NDArray[np.intp], scores: NDArray[np.float64], k: int) -> Ranked:
    """The k best of chunks with final scores: by score, then document name, then place."""
    if k <= 0 or not indexes.size:
        return Ranked.nothing()
    if indexes.size > k:
        threshold = np.partition(scores, scores.size - k)[scores.size - k]
        near = scores >= threshold
        indexes, scores = indexes[near], scores[near]
    ordinals = view.places.ordinals[indexes]
    order = np.lexsort((ordinals, view.name_order[indexes], -scores))[:k]
    return Ranked(indexes[order], scores[order])
