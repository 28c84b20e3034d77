"""A second look at the best hits, by a model that reads query and passage together.

It is given passages of the view alone, so it sees what the asker may see and nothing else.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from variorum.chunking import render
from variorum.records.errors import BugError, UnavailableError
from variorum.records.hits import LegScore
from variorum.records.protocols import Reranker
from variorum.retrieval.fusion import LegScores
from variorum.retrieval.legs import Ranking
from variorum.retrieval.ranking import SCORE_DECIMALS, best
from variorum.retrieval.texts import text_of
from variorum.store.view import View

RERANK_DEPTH = 50
"""The best so many hits are read again, and no others are returned."""
LEG = "reranker"


def reranked(view: View, reranker: Reranker, query: str, ranking: Ranking) -> Ranking:
    """The best hits in the order of the reranker's scores; as they were where it cannot answer.

    Raises:
        BugError: it gives no finite score for each passage.
        UnsupportedError: it cannot be run at all.
    """
    indexes = ranking.scored.indexes
    if not indexes.size:
        return ranking
    try:
        given = reranker.scores(query, [_passage(view, int(place)) for place in indexes])
    except UnavailableError as error:
        why = f"not reranked: {error.message}"
        return replace(ranking, fallback=f"{ranking.fallback}; {why}" if ranking.fallback else why)
    scores: NDArray[np.float64] = np.asarray(given, np.float64).round(SCORE_DECIMALS)
    _require_sound(reranker, scores, indexes.size)
    scored = best(view, indexes, scores, indexes.size)
    legs: LegScores = {
        one.index: (
            *(replace(leg, share=0.0) for leg in ranking.legs[one.index]),
            LegScore(LEG, rank, one.score, one.score),
        )
        for rank, one in enumerate(scored, start=1)
    }
    return replace(ranking, scored=scored, legs=legs)


def _passage(view: View, place: int) -> str:
    """A chunk's own text, as an embedder would be given it."""
    places = view.places
    row = view.documents[int(places.manifest_ids[place])]
    text = text_of(view, row.revision_id, row.content_type).characters
    return render("", text[int(places.starts[place]) : int(places.ends[place])])


def _require_sound(reranker: Reranker, scores: NDArray[np.float64], count: int) -> None:
    if scores.shape != (count,) or not np.isfinite(scores).all():
        raise BugError(
            f"the reranker {reranker.name!r} does not score each passage",
            kind="reranker-broke-contract",
            subject=reranker.name,
            expected=f"{count} finite numbers",
            found=f"{scores.size} numbers, {int(np.isfinite(scores).sum())} of them finite",
            remedy="report it to the reranker's author",
        )
