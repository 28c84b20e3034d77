"""The highest value of any range of an array, in constant time after n log n."""

import numpy as np
from numpy.typing import NDArray

Indexes = NDArray[np.int64]


class RangeMax:
    """A sparse table over `values`: the index of the highest one in a range, leftmost of equals."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.values = values
        indexes = np.arange(len(values), dtype=np.int32)
        self._levels = [indexes]
        width = 1
        while 2 * width <= len(values):
            left = indexes[:-width]
            right = indexes[width:]
            indexes = np.where(values[left] >= values[right], left, right).astype(np.int32)
            self._levels.append(indexes)
            width *= 2

    def highest(self, low: int, high: int) -> int:
        """Index of the highest value in `[low, high)`, which must not be empty.

        Where the middle one is as high as the highest, it wins, so that equals split evenly.
        """
        level = (high - low).bit_length() - 1
        table = self._levels[level]
        left, right = int(table[low]), int(table[high - (1 << level)])
        best = left if self.values[left] >= self.values[right] else right
        middle = (low + high) // 2
        return middle if self.values[middle] == self.values[best] else best

    def first_highest(self, lows: Indexes, highs: Indexes) -> Indexes:
        """Index of the highest value in each `[low, high)`, none empty; the first of equals."""
        found = np.zeros(len(lows), dtype=np.int64)
        sizes = (highs - lows).astype(np.int64)
        for level, table in enumerate(self._levels):
            here = np.flatnonzero((sizes >> level) == 1)
            left, right = table[lows[here]], table[highs[here] - (1 << level)]
            found[here] = np.where(self.values[left] >= self.values[right], left, right)
        return found
