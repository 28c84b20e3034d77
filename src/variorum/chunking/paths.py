"""The cheapest way through the places where chunks may meet."""

from collections import defaultdict
from collections.abc import Sequence

from variorum.chunking.pricing import INPUT_OVERHEAD, Pricing


def cheapest_path(
    places: Sequence[int],
    before: Sequence[int],
    reusable: Sequence[tuple[int, int]],
    pricing: Pricing,
    max_tokens: int,
) -> list[int]:
    """The places after the first, up to and with the last, of the cheapest path between the two.

    `before` counts the tokens before each place; `reusable` spans cost no tokens. A step of more
    than `max_tokens` tokens is taken only where it is reusable or there is no place inside it.
    Cost: the places times those within `max_tokens` of one.
    """
    numbers = {place: number for number, place in enumerate(places)}
    free: dict[int, list[int]] = defaultdict(list)
    for start, end in reusable:
        free[numbers[end]].append(numbers[start])
    costs = [0.0]
    origins = [0]
    for number in range(1, len(places)):
        cost, origin = _best_new_step(number, costs, before, pricing, max_tokens)
        for start in free.get(number, ()):
            reused = costs[start] + pricing.size(before[number] - before[start])
            if reused < cost:
                cost, origin = reused, start
        costs.append(cost + pricing.boundary(places[number]))
        origins.append(origin)
    return [places[number] for number in _trace(origins)]


def _best_new_step(
    number: int, costs: Sequence[float], before: Sequence[int], pricing: Pricing, max_tokens: int
) -> tuple[float, int]:
    """The cheapest step to a place over characters that must be embedded, and where it starts."""
    penalties = pricing.by_size
    here = before[number]
    origin = number - 1
    size = here - before[origin]
    best = costs[origin] + size + pricing.size(size)
    for start in range(number - 2, -1, -1):
        size = here - before[start]
        if size > max_tokens:
            break
        cost = costs[start] + size + penalties[size]
        if cost < best:
            best, origin = cost, start
    return best + INPUT_OVERHEAD, origin


def _trace(origins: Sequence[int]) -> list[int]:
    """The numbers of the places of the path, first to last, the start left out."""
    path: list[int] = []
    number = len(origins) - 1
    while number:
        path.append(number)
        number = origins[number]
    return path[::-1]
