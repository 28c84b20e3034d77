"""Pieces of work that are timed in turns, so that what else the machine does falls on all alike."""

from collections.abc import Callable, Iterable, Mapping
from statistics import median
from time import perf_counter
from typing import TypeVar

Q = TypeVar("Q")


def alternated(works: Mapping[str, Callable[[Q], object]], asked: Iterable[Q]) -> dict[str, float]:
    """Median milliseconds of each piece of work, each question given to all, in turns."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn, question in enumerate(asked):
        for name in list(works) if turn % 2 else list(reversed(works)):
            started = perf_counter()
            works[name](question)
            taken[name].append(1e3 * (perf_counter() - started))
    return {name: median(times) for name, times in taken.items()}
