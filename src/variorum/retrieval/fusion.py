"""One ranking of several: by reciprocal ranks, which need no common scale of scores."""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from variorum.records.hits import LegScore
from variorum.retrieval.ranking import Ranked

RANK_CONSTANT = 10
"""The smaller, the more the first ranks stand out. Chosen on questions that nothing else is told
from: see the page on benchmarks.
"""
DECIMALS = 9
"""Fused scores are small, and neighbouring ranks must stay apart."""

LegScores = dict[int, tuple[LegScore, ...]]
"""What each leg gave a chunk, by the chunk's index."""


def scores_of(leg: str, ranked: Ranked) -> LegScores:
    """What a single leg gave: its score is all of the final one."""
    return {
        one.index: (LegScore(leg, rank, one.score, one.score),)
        for rank, one in enumerate(ranked, start=1)
    }


def fuse(
    legs: Mapping[str, Ranked], weights: Mapping[str, float]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The chunks that any leg found, ascending, and the score of each.

    It is the sum, over the legs that found it, of weight / (constant + rank). A chunk that one leg
    alone found keeps what that leg gives. Linear.
    """
    indexes = np.unique(np.concatenate([ranked.indexes for ranked in legs.values()]))
    totals = np.zeros(indexes.size)
    for leg, ranked in legs.items():
        shares = _shares(weights[leg], ranked.indexes.size)
        totals[np.searchsorted(indexes, ranked.indexes)] += shares
    return indexes, np.round(totals, DECIMALS)


def shares_of(
    chosen: Ranked, legs: Mapping[str, Ranked], weights: Mapping[str, float]
) -> LegScores:
    """What each leg gave each of the chosen chunks."""
    given: LegScores = {int(index): () for index in chosen.indexes}
    for leg, ranked in legs.items():
        shares = _shares(weights[leg], ranked.indexes.size)
        for place in np.flatnonzero(np.isin(ranked.indexes, chosen.indexes)).tolist():
            index, score = int(ranked.indexes[place]), float(ranked.scores[place])
            given[index] += (LegScore(leg, place + 1, score, float(shares[place])),)
    return given


@lru_cache(maxsize=64)
def _shares(weight: float, depth: int) -> NDArray[np.float64]:
    """What a leg gives the chunks of its first ranks."""
    ranks = range(1, depth + 1)
    shares = np.array([round(weight / (RANK_CONSTANT + rank), DECIMALS) for rank in ranks])
    shares.flags.writeable = False
    return shares
