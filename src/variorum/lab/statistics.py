"""Means of documents, then of languages, and bootstrap intervals of them.

Every value belongs to one document. The mean of a language weighs each document once, however many
revisions or questions it has. Means of ratios of counts are exact (`Fraction`); an interval is
drawn from floats by a seeded generator, so the same values always give the same interval.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from variorum.records.errors import InputError

SEED = 20250214
RESAMPLES = 2_000
COVERAGE = 0.95


class Interval(NamedTuple):
    """A percentile interval."""

    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether it lies on one side of 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class Score:
    """One document's value; `repository` is what its neighbours share, `value` exact."""

    document: str
    language: str
    repository: str
    value: Fraction


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over documents with its intervals, documents resampled and whole repositories."""

    documents: int
    repositories: int
    mean: Fraction
    over_documents: Interval
    over_repositories: Interval


@dataclass(frozen=True, slots=True)
class Ratio:
    """One mean over another; an interval is NA where a resample of the other is 0."""

    documents: int
    repositories: int
    mean: Fraction
    over_documents: Interval | None
    over_repositories: Interval | None


def mean(values: Iterable[Fraction | int]) -> Fraction:
    """The exact mean.

    Raises:
        InputError: kind `nothing-to-average`, where there is no value.
    """
    listed = list(values)
    if not listed:
        raise InputError(
            "a mean needs at least one value",
            kind="nothing-to-average",
            expected="one or more values",
            found="none",
            remedy="report it as missing",
        )
    return Fraction(sum(listed, Fraction())) / len(listed)


def document_means(scores: Iterable[Score]) -> list[Score]:
    """One score a document, the mean of its own, in the order of their first appearance."""
    grouped: dict[str, list[Score]] = defaultdict(list)
    for one in scores:
        grouped[one.document].append(one)
    return [
        Score(name, ours[0].language, ours[0].repository, mean(one.value for one in ours))
        for name, ours in grouped.items()
    ]


def by_language(scores: Iterable[Score]) -> dict[str, list[Score]]:
    """The scores of each language, languages sorted."""
    grouped: dict[str, list[Score]] = defaultdict(list)
    for one in scores:
        grouped[one.language].append(one)
    return dict(sorted(grouped.items()))


def estimate(scores: Iterable[Score], seed: int = SEED) -> Estimate:
    """The mean of document means with both intervals.

    Raises:
        InputError: kind `nothing-to-average`, where there is no score.
    """
    ours = document_means(scores)
    middle = mean(one.value for one in ours)
    values = [float(one.value) for one in ours]
    repositories = [one.repository for one in ours]
    return Estimate(
        len(ours),
        len(set(repositories)),
        middle,
        over_documents(values, seed),
        over_clusters(values, repositories, seed),
    )


def language_estimates(scores: Iterable[Score], seed: int = SEED) -> dict[str, Estimate]:
    """An estimate for each language that has a score; languages are never pooled."""
    return {language: estimate(ours, seed) for language, ours in by_language(scores).items()}


def paired(ours: Iterable[Score], theirs: Iterable[Score]) -> list[Score]:
    """Ours less theirs for every document that both have, by document means."""
    others: Mapping[str, Fraction] = {one.document: one.value for one in document_means(theirs)}
    return [
        Score(one.document, one.language, one.repository, one.value - others[one.document])
        for one in document_means(ours)
        if one.document in others
    ]


def over_documents(values: Sequence[float], seed: int = SEED) -> Interval:
    """The interval of the mean, documents resampled with replacement."""
    return over_clusters(values, [str(place) for place in range(len(values))], seed)


def over_clusters(
    values: Sequence[float], clusters: Sequence[str], seed: int = SEED, resamples: int = RESAMPLES
) -> Interval:
    """The interval of the mean over documents, whole clusters of them resampled.

    Raises:
        InputError: kind `nothing-to-average`, where there is no value.
    """
    if not len(values):
        mean([])
    sums, counts = _resampled([values, [1.0] * len(values)], clusters, seed, resamples)
    return _percentiles(sums / counts)


def ratios(ours: Iterable[Score], theirs: Iterable[Score], seed: int = SEED) -> dict[str, Ratio]:
    """For each language the mean of ours over the mean of theirs, of the documents both have.

    Both sides of a resample are of the same documents. A language where theirs is 0 is left out.
    """
    others: Mapping[str, Fraction] = {one.document: one.value for one in document_means(theirs)}
    shared = [one for one in document_means(ours) if one.document in others]
    found = {
        language: _ratio(spoken, [others[one.document] for one in spoken], seed)
        for language, spoken in by_language(shared).items()
    }
    return {language: one for language, one in found.items() if one is not None}


def _ratio(ours: Sequence[Score], theirs: Sequence[Fraction], seed: int) -> Ratio | None:
    if not any(theirs):
        return None
    columns = [[float(one.value) for one in ours], [float(one) for one in theirs]]
    repositories = [one.repository for one in ours]
    intervals = []
    for clusters in ([one.document for one in ours], repositories):
        above, below = _resampled(columns, clusters, seed, RESAMPLES)
        intervals.append(_percentiles(above / below) if below.all() else None)
    middle = mean(one.value for one in ours) / mean(theirs)
    return Ratio(len(ours), len(set(repositories)), middle, *intervals)


def _resampled(
    columns: Sequence[Sequence[float]], clusters: Sequence[str], seed: int, resamples: int
) -> list[NDArray[np.float64]]:
    """For each column its sum in every resample of the clusters, the same ones for all."""
    names, owner = np.unique(np.array(clusters), return_inverse=True)
    drawn = np.random.default_rng(seed).integers(0, len(names), (resamples, len(names)))
    sums = [np.bincount(owner, np.array(one, dtype=float), len(names)) for one in columns]
    return [one[drawn].sum(axis=1) for one in sums]


def _percentiles(values: NDArray[np.float64]) -> Interval:
    tail = 50 * (1 - COVERAGE)
    low, high = np.percentile(values, [tail, 100 - tail])
    return Interval(float(low), float(high))
