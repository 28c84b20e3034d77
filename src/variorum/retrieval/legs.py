"""The ways to find a passage: by meaning, by words, or by both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from variorum.records.arguments import amount, bad_parameter
from variorum.records.errors import (
    InputError,
    InputRejectedError,
    NotFoundError,
    UnavailableError,
    UnsupportedError,
    VariorumError,
)
from variorum.records.protocols import Embedder
from variorum.retrieval.dense import search_dense
from variorum.retrieval.fusion import LegScores, fuse, scores_of, shares_of
from variorum.retrieval.lexical import LexicalLeg, search_lexical
from variorum.retrieval.ranking import Ranked, best
from variorum.retrieval.refusing import require_same_model
from variorum.store.view import View

Mode = Literal["dense", "lexical", "hybrid"]
MODES: tuple[Mode, ...] = get_args(Mode)
DEFAULT_MODE: Mode = "hybrid"
WEIGHTS: Mapping[str, float] = {"dense": 1.0, "lexical": 1.0}
DEPTH = 1000
"""What a leg gives to the fusion: as many as can be asked for, so that more hits are more of the
same ranking.
"""
MAX_WEIGHT = 1000.0

Loads = Callable[[], Embedder]
"""Loads the model of the generation, where a leg needs it."""

_FAULTY = frozenset({"bad-embedding-answer", "embedder-failed", "model-swapped", "probe-refused"})
"""What is wrong with a model rather than with today: whoever made it must hear of it."""

_MISSING = (InputError, NotFoundError, UnavailableError, UnsupportedError)


@dataclass(frozen=True, slots=True)
class Way:
    """How to search. A `mode` that is None is the default one, and gives way where a leg is not
    to be had; one that is named does not.
    """

    mode: Mode | None = None
    weights: Mapping[str, float] = field(default_factory=lambda: dict(WEIGHTS))

    @classmethod
    def of(cls, mode: object, weights: object) -> "Way":
        """The way that a caller asks for, each part None where it is not given.

        Raises:
            InputError: there is no such mode, or a weight is of no leg, or no number from 0 to
                1,000; or all are 0.
        """
        if mode is not None and mode not in MODES:
            raise bad_parameter("mode", f"one of {', '.join(MODES)}", mode)
        return cls(mode, _weights(weights))


def _weights(given: object) -> dict[str, float]:
    found = dict(WEIGHTS)
    if given is None:
        return found
    if not isinstance(given, Mapping):
        raise bad_parameter("weights", "a mapping of legs to numbers", given)
    for leg, weight in given.items():
        if leg not in WEIGHTS:
            raise bad_parameter("weights", f"weights of {' and '.join(WEIGHTS)}", leg)
        found[leg] = amount(f"weights[{leg!r}]", weight, MAX_WEIGHT)
    if not any(found.values()):
        raise bad_parameter("weights", "above 0 for one leg at least", given)
    return found


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best chunks, what each leg gave each, and how they came to be found."""

    mode: Mode
    scored: Ranked
    legs: LegScores
    lexical: LexicalLeg | None = None
    fallback: str | None = None

    def head(self, k: int) -> "Ranking":
        """The same of the k best alone."""
        scored = Ranked(self.scored.indexes[:k], self.scored.scores[:k])
        return replace(self, scored=scored)


class _LackingError(Exception):
    """A leg is not to be had."""

    def __init__(self, leg: Mode, cause: VariorumError) -> None:
        super().__init__(cause.message)
        self.leg = leg
        self.cause = cause


def rank(
    view: View, load: Loads, way: Way, query: str, chosen: NDArray[np.intp], k: int
) -> Ranking:
    """The k best of the chosen chunks.

    Raises:
        InputError: a query longer than the model takes.
        UnsupportedError: the mode needs a model or terms that are not there.
        UnavailableError: the model that it needs cannot answer now.
    """
    find = _Finding(view, load, way.weights, query, chosen, k)
    mode = way.mode or DEFAULT_MODE
    try:
        return find.by(mode)
    except _LackingError as lacking:
        other: Mode = "lexical" if lacking.leg == "dense" else "dense"
        if way.mode is not None:
            raise lacking.cause from None
        return _instead(find, other, lacking.cause)


def _instead(find: "_Finding", mode: Mode, cause: VariorumError) -> Ranking:
    try:
        return replace(find.by(mode), fallback=cause.message)
    except _LackingError:
        raise cause from None


@dataclass(frozen=True, slots=True)
class _Finding:
    """One question, ready to be answered by any mode."""

    view: View
    load: Loads
    weights: Mapping[str, float]
    query: str
    chosen: NDArray[np.intp]
    k: int

    def by(self, mode: Mode) -> Ranking:
        if mode == "dense":
            scored = self._dense(self.k)
            return Ranking(mode, scored, scores_of(mode, scored))
        if mode == "lexical":
            leg = self._lexical(self.k)
            return Ranking(mode, leg.hits, scores_of(mode, leg.hits), leg)
        return self._hybrid()

    def _hybrid(self) -> Ranking:
        dense, lexical = self._dense(DEPTH), self._lexical(DEPTH)
        legs = {"dense": dense, "lexical": lexical.hits}
        scored = best(self.view, *fuse(legs, self.weights), self.k)
        return Ranking("hybrid", scored, shares_of(scored, legs, self.weights), lexical)

    def _dense(self, depth: int) -> Ranked:
        if not self.chosen.size:
            return Ranked.nothing()
        vector = self._vector()
        return search_dense(self.view, vector, self.chosen, depth)

    def _vector(self) -> NDArray[np.float32]:
        embedder = self._embedder()
        try:
            vector: NDArray[np.float32] = embedder.embed([self.query], "query")[0]
            return vector
        except UnavailableError as error:
            raise _lacking_or_faulty(error) from error
        except InputRejectedError as error:
            raise InputError(
                f"the model refuses the query: {error.found or error.message}",
                kind=error.kind,
                subject="the query",
                expected=error.expected,
                found=error.found,
                remedy="ask with fewer words, or by words alone: --mode lexical",
            ) from error

    def _embedder(self) -> Embedder:
        try:
            embedder = self.load()
            require_same_model(self.view, embedder)
            return embedder
        except _MISSING as error:
            raise _lacking_or_faulty(error) from error

    def _lexical(self, depth: int) -> LexicalLeg:
        try:
            return search_lexical(self.view, self.query, self.chosen, depth)
        except UnsupportedError as error:
            raise _LackingError("lexical", error) from error


def _lacking_or_faulty(error: VariorumError) -> Exception:
    """What to raise where the model gave no vector."""
    return error if error.kind in _FAULTY else _LackingError("dense", error)
