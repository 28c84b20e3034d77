"""Exact ranking of a pool by cosine, in a total order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from variorum.lab.questions.records import Question
from variorum.lab.recall.units import Units
from variorum.records.protocols import Vectors

DEPTH = 100
"""Candidates of a question that are looked at."""

_DECIMALS = 6
_BLOCK = 64


@dataclass(frozen=True, slots=True)
class Ranked:
    """The best units of a question's pool, best first, at most `DEPTH`.

    Equal scores stand in the order of documents' names and of places. `tied_after` are the ranks
    (1-based) behind which the next unit has the same score.
    """

    places: tuple[int, ...]
    scores: tuple[float, ...]
    tied_after: frozenset[int]


def rank(
    units: Units, vectors: Vectors, questions: Sequence[Question], queries: Vectors
) -> Iterator[Ranked]:
    """Rank each question's pool by the products of `queries` with the units' `vectors`.

    `vectors` has a row for each of `units.inputs`. Scores are rounded to six decimals first, so
    that the order of a sum decides nothing. Exact, linear in the units.
    """
    matrix = vectors.astype(np.float64).T
    for start in range(0, len(questions), _BLOCK):
        block = queries[start : start + _BLOCK].astype(np.float64) @ matrix
        rounded = np.round(block, _DECIMALS)
        for question, scores in zip(questions[start : start + _BLOCK], rounded, strict=True):
            yield _best(scores[units.input_rows], units.pool(question))


def _best(scores: NDArray[np.float64], allowed: NDArray[np.bool_]) -> Ranked:
    places = np.flatnonzero(allowed)
    # Stable, so that equal scores keep the order of names and places.
    order = places[np.argsort(-scores[places], kind="stable")][: DEPTH + 1]
    best = scores[order]
    ties = frozenset(int(rank) + 1 for rank in np.flatnonzero(best[1:] == best[:-1]))
    top = order[:DEPTH]
    return Ranked(tuple(map(int, top)), tuple(map(float, best[:DEPTH])), ties)
