"""Values in portions that one statement can name."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_AT_ONCE = 500


def batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """The values in portions that one statement can name."""
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]
