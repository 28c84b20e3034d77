"""What a span costs the reuse planner: tokens to embed, and penalties for its shape."""

from collections.abc import Sequence
from itertools import pairwise

from variorum.chunking import boundaries as levels
from variorum.chunking.boundaries import Boundaries
from variorum.chunking.chunker import Shape
from variorum.chunking.tokens import TokenMap

INPUT_OVERHEAD = 2
"""Special tokens of one more input."""

OFF_TARGET = 12.0
"""Penalty in tokens of a span off the target size by its whole target; grows with the square."""

UNDER_MINIMUM = 12.0
"""Penalty in tokens of a span of no tokens; falls linearly to none at the minimum."""

WEAK_BOUNDARY = {
    levels.BLANK_LINE: 0.5,
    levels.LINE: 1.0,
    levels.SENTENCE: 2.0,
    levels.WRAPPED_LINE: 4.0,
    levels.CODE_BLANK_LINE: 4.0,
    levels.CODE_LINE: 6.0,
    levels.AFTER_HEADING: 8.0,
    levels.NOWHERE: 10.0,
}
"""Penalty in tokens of ending a span at a boundary of each level; at a heading none."""


MAX_PENALTY = OFF_TARGET + UNDER_MINIMUM + WEAK_BOUNDARY[levels.NOWHERE]
"""Most penalty in tokens of one span up to twice the target size."""


DRIFT_PER_CHUNK = 5.0
"""Penalty in tokens that a layout may have above a fresh one's, for each chunk of target size."""

DRIFT_TOKENS = 32.0
"""Penalty in tokens that a layout may have above that, so that short texts have room to reuse."""


def drift(shape: Shape, tokens: int) -> float:
    """Penalty in tokens by which a layout of `tokens` tokens may exceed a fresh one's."""
    return DRIFT_PER_CHUNK * tokens / shape.target_tokens + DRIFT_TOKENS


def of_size(shape: Shape, tokens: int) -> float:
    """Penalty of a span of that many tokens."""
    off_target = (tokens - shape.target_tokens) / shape.target_tokens
    return OFF_TARGET * off_target**2 + UNDER_MINIMUM * max(0.0, 1 - tokens / shape.min_tokens)


def of_boundary(level: int) -> float:
    """Penalty of a boundary of that level."""
    return WEAK_BOUNDARY.get(level, 0.0)


def usual(shape: Shape, tokens: int) -> float:
    """Penalty that a fresh layout of `tokens` tokens is taken to have without being made."""
    return shape.usual_penalty * tokens / shape.target_tokens


class Pricing:
    """Penalties of spans of one text, scaled by `weight`."""

    def __init__(
        self, tokens: TokenMap, candidates: Boundaries, shape: Shape, weight: float = 1.0
    ) -> None:
        self._tokens = tokens
        self._shape = shape
        self._weight = weight
        self._levels = dict(
            zip(candidates.positions.tolist(), candidates.levels.tolist(), strict=True)
        )
        self.by_size = [weight * of_size(shape, size) for size in range(shape.max_tokens + 1)]

    def size(self, tokens: int) -> float:
        """Penalty of a span of that many tokens."""
        if tokens < len(self.by_size):
            return self.by_size[tokens]
        return self._weight * of_size(self._shape, tokens)

    def boundary(self, position: int) -> float:
        """Penalty of a boundary there."""
        level = self._levels.get(position, levels.NOWHERE)
        return self._weight * of_boundary(level)

    def total(self, cuts: Sequence[int]) -> float:
        """Penalty of a whole layout, given by its boundaries, both ends of the text included."""
        before = [self._tokens.before(cut) for cut in cuts]
        sizes = sum(self.size(after - first) for first, after in pairwise(before))
        return sizes + sum(map(self.boundary, cuts[1:-1]))
