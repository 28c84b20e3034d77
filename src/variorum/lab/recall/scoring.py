"""Ranking measures over gold items, as TREC's tools define them, with binary relevance.

How spans become relevance: the gold items of a question are the passages of one sufficient set.
Reading a ranking of units downwards, a unit that completes passages stands for those passages, in
the label's order; any other unit stands for one item that is not relevant. So every passage is
counted once, however many units hold it, and the number of relevant items comes from the label,
never from how the documents were cut. Of several sufficient sets the best score counts.
"""

from collections.abc import Iterator, Sequence
from math import log2

from variorum.lab.measure import Measure
from variorum.records.errors import UnsupportedError

Item = str
"""A gold passage's name, or any other for an item that is not relevant."""


def items(completed: Sequence[int | None], units: int) -> list[Item]:
    """The ranking of gold items of `units` ranked units: `completed` says where each passage is.

    >>> items([1, 1, None], 3)
    ['-0', '0', '1', '-2']
    """
    return [item for rank in range(units) for item in _at(completed, rank)]


def _at(completed: Sequence[int | None], rank: int) -> Iterator[Item]:
    here = [str(number) for number, place in enumerate(completed) if place == rank]
    yield from here or [f"-{rank}"]


def score(measure: Measure, gold: Sequence[Item], ranked: Sequence[Item]) -> float | None:
    """A ranking measure of one question; None where nothing is relevant.

    An item that is named twice keeps its ranks and counts at the first; in `gold` it counts once.

    Raises:
        UnsupportedError: kind `not-a-ranking-measure`.
    """
    relevant = set(gold)
    if not relevant:
        return None
    top = _without_repeats(ranked, relevant)[: measure.cutoff]
    places = [place for place, item in enumerate(top) if item is not None]
    if measure.name == "recall":
        return len(places) / len(relevant)
    if measure.name == "MRR":
        return 1 / (1 + places[0]) if places else 0.0
    if measure.name == "nDCG":
        best = len(relevant) if measure.cutoff is None else min(len(relevant), measure.cutoff)
        return _gain(places) / _gain(range(best))
    raise UnsupportedError(
        f"{measure} does not score a ranking",
        kind="not-a-ranking-measure",
        subject=str(measure),
        expected="nDCG, recall or MRR",
        found=measure.name,
        remedy="name one of those",
    )


def _without_repeats(ranked: Sequence[Item], relevant: set[Item]) -> list[Item | None]:
    """The relevant items at their first rank; None at every other rank."""
    seen: set[Item] = set()
    found: list[Item | None] = []
    for item in ranked:
        found.append(item if item in relevant and item not in seen else None)
        seen.add(item)
    return found


def _gain(places: Sequence[int] | range) -> float:
    return sum(1 / log2(2 + place) for place in places)
