"""One ranking of several: by reciprocal ranks, which need no common scale of scores."""

from collections.abc import Mapping, Sequence

from variorum.records.hits import LegScore
from variorum.retrieval.ranking import Scored

RANK_CONSTANT = 10
"""The smaller, the more the first ranks stand out. Chosen on questions that nothing else is told
from: see the page on benchmarks.
"""
DECIMALS = 9
"""Fused scores are small, and neighbouring ranks must stay apart."""

LegScores = dict[int, tuple[LegScore, ...]]
"""What each leg gave a chunk, by the chunk's index."""


def scores_of(leg: str, ranked: Sequence[Scored]) -> LegScores:
    """What a single leg gave: its score is all of the final one."""
    return {
        one.index: (LegScore(leg, rank, one.score, one.score),)
        for rank, one in enumerate(ranked, start=1)
    }


def fuse(
    legs: Mapping[str, Sequence[Scored]], weights: Mapping[str, float]
) -> tuple[list[Scored], LegScores]:
    """Each chunk's score is the sum, over the legs that found it, of weight / (constant + rank).

    In no order yet. A chunk that one leg alone found keeps what that leg gives. Linear.
    """
    given: LegScores = {}
    for leg, ranked in legs.items():
        for rank, one in enumerate(ranked, start=1):
            share = round(weights[leg] / (RANK_CONSTANT + rank), DECIMALS)
            score = LegScore(leg, rank, one.score, share)
            given[one.index] = (*given.get(one.index, ()), score)
    totals = [
        Scored(index, round(sum(one.share for one in scores), DECIMALS))
        for index, scores in given.items()
    ]
    return totals, given
