"""Search by words: BM25 over the allowed rows, which alone count (invariant 10).

How rare a term is and how long a chunk is on average are told by what the asker may see; otherwise
a score would tell of documents that may not be read.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from variorum.analysis import ANALYZER, QueryTerm, query_terms
from variorum.records.hits import TermScore
from variorum.retrieval.ranking import SCORE_DECIMALS, Ranked, best
from variorum.store.terms import Occurrences
from variorum.store.view import View

K1 = 0.9
"""How soon more occurrences of a term in a chunk stop adding."""
B = 0.4
"""How much a chunk's length takes from its score, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Matched:
    """One term of a query among the allowed chunks: what it adds to each input that holds it.

    `chunks` is how many allowed chunks hold it; `rows` are places in the searched inputs, `counts`
    its occurrences, `shares` float64[n] its part of their scores.
    """

    term: QueryTerm
    chunks: int
    rows: NDArray[np.intp]
    counts: NDArray[np.int64]
    shares: NDArray[np.float64]

    def share_of(self, row: int) -> TermScore | None:
        """What the term gave one of the searched inputs."""
        place = int(np.searchsorted(self.rows, row))
        if place == self.rows.size or self.rows[place] != row:
            return None
        written = f"{self.term.text}*" if self.term.is_prefix else self.term.text
        share = round(float(self.shares[place]), SCORE_DECIMALS)
        return TermScore(written, int(self.counts[place]), self.chunks, share)


@dataclass(frozen=True, slots=True)
class Searched:
    """The allowed chunks by their inputs: `input_ids` ascending, how many chunks each has, and
    what its length makes of a score.
    """

    chosen: NDArray[np.intp]
    input_ids: NDArray[np.int64]
    owners: NDArray[np.intp]
    chunks: NDArray[np.int64]
    norms: NDArray[np.float64]

    @classmethod
    def of(cls, view: View, chosen: NDArray[np.intp]) -> "Searched":
        """Those of the chosen chunks of a view.

        Raises:
            UnsupportedError: the store has no terms for the generation yet.
        """
        view.require_terms(ANALYZER)
        ids, owners, chunks = np.unique(
            view.places.input_ids[chosen], return_inverse=True, return_counts=True
        )
        lengths = view.lengths(ids)
        mean = int(lengths @ chunks) / max(1, chosen.size)
        relative = lengths / mean if mean else np.ones(ids.size)
        return cls(chosen, ids, owners, chunks, K1 * (1 - B + B * relative))

    def row_of(self, index: int) -> int:
        """The place of a chosen chunk's input."""
        return int(self.owners[np.searchsorted(self.chosen, index)])


@dataclass(frozen=True, slots=True)
class LexicalLeg:
    """The k best chunks, and the terms that found them."""

    hits: Ranked
    searched: Searched
    matched: tuple[Matched, ...]

    def terms_of(self, index: int) -> tuple[TermScore, ...]:
        """What each term of the query gave a chunk; empty for one that holds none of them."""
        row = self.searched.row_of(index)
        found = (one.share_of(row) for one in self.matched)
        return tuple(share for share in found if share is not None)


def search_lexical(view: View, query: str, chosen: NDArray[np.intp], k: int) -> LexicalLeg:
    """The k best of the chosen chunks that hold a term of the query, best first.

    Linear in the chosen chunks and in what the store holds of the query's terms.

    Raises:
        UnsupportedError: the store has no terms for the generation yet.
    """
    wanted = query_terms(query)
    searched = view.once(chosen, lambda: Searched.of(view, chosen))
    scores = np.zeros(searched.input_ids.size)
    matched = tuple(_matches(view, searched, wanted))
    for one in matched:  # In the order of the terms, so that the sums are always the same.
        scores[one.rows] += one.shares
    scores = np.round(scores, SCORE_DECIMALS)[searched.owners]
    found = np.flatnonzero(scores > 0)
    return LexicalLeg(best(view, searched.chosen[found], scores[found], k), searched, matched)


def _matches(view: View, searched: Searched, wanted: Mapping[QueryTerm, int]) -> list[Matched]:
    terms = sorted(wanted)
    found = view.occurrences(terms, searched.input_ids, ANALYZER)
    pairs = zip(terms, found, strict=True)
    return [_match(searched, term, wanted[term], one) for term, one in pairs]


def _match(searched: Searched, term: QueryTerm, times: int, found: Occurrences) -> Matched:
    rows, counts = found
    chunks = int(searched.chunks[rows].sum())
    weight = times * rarity(chunks, searched.chosen.size)
    shares = weight * (counts * (K1 + 1)) / (counts + searched.norms[rows])
    return Matched(term, chunks, rows, counts, shares)


def rarity(holding: int, chunks: int) -> float:
    """The weight of a term that `holding` of `chunks` chunks hold: always above zero."""
    return math.log(1 + (chunks - holding + 0.5) / (holding + 0.5))
