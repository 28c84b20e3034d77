"""Places where a range may be cut, each with a priority: the best of those that leave enough."""

from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray

from variorum.chunking.ranges import RangeMax
from variorum.chunking.tokens import Positions, TokenMap
from variorum.records.text import Span


class Candidates:
    """Increasing positions of one text with priorities; n log n to build, log n a question."""

    def __init__(
        self, positions: Positions, priorities: NDArray[np.float64], tokens: TokenMap
    ) -> None:
        self._tokens = tokens
        self._positions: list[int] = positions.tolist()
        self._before: list[int] = tokens.before_each(positions).tolist()
        self._best = RangeMax(priorities)

    def peaks(self, reach: int) -> list[int]:
        """The candidates with none of a higher priority fewer than `reach` tokens away.

        The first of equals; none within `reach` tokens of either end of the text.
        """
        before = np.array(self._before, dtype=np.int64)
        numbers = np.arange(len(before))
        low = np.minimum(np.searchsorted(before, before - reach, side="right"), numbers)
        high = np.maximum(np.searchsorted(before, before + reach, side="left"), numbers + 1)
        highest = self._best.first_highest(low, high) == numbers
        inside = (before >= reach) & (before <= self._tokens.total - reach)
        return [self._positions[number] for number in np.flatnonzero(highest & inside).tolist()]

    def best(self, span: Span, min_tokens: int) -> int | None:
        """The candidate of the highest priority that leaves `min_tokens` on both sides."""
        low = self._tokens.before(span.start) + min_tokens
        high = self._tokens.before(span.end) - min_tokens
        first = max(bisect_left(self._before, low), bisect_right(self._positions, span.start))
        last = min(bisect_right(self._before, high), bisect_left(self._positions, span.end))
        return self._positions[self._best.highest(first, last)] if first < last else None

    def middle(self, span: Span) -> int | None:
        """The candidate inside `span` nearest to its middle token, the first of equals."""
        first = bisect_right(self._positions, span.start)
        last = bisect_left(self._positions, span.end)
        if first >= last:
            return None
        ends = self._tokens.before(span.start) + self._tokens.before(span.end)
        index = bisect_left(self._before, ends / 2, first, last)
        near = [one for one in (index - 1, index) if first <= one < last]
        return self._positions[min(near, key=lambda one: abs(2 * self._before[one] - ends))]
