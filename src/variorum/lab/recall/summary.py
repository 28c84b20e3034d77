"""Scores to means with intervals: questions count equally, whole clusters are resampled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum

from variorum.lab.measure import Measure
from variorum.lab.recall.study import Measured, Scores
from variorum.lab.statistics import Interval, over_clusters


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over questions; `weight` is what one question moves it by.

    `interval` is the 95 % bootstrap interval, clusters resampled. `documents_mean` weighs each
    cluster once, however many questions it has.
    """

    value: float
    interval: Interval
    documents_mean: float
    questions: int
    clusters: int

    @property
    def weight(self) -> float:
        """1 over the questions."""
        return 1 / self.questions


def mean_of(measured: Measured, measure: Measure) -> Mean | None:
    """The mean of a measure; None where no question has a value."""
    return mean_over(list(_values(measured.scores, measure)))


def control_of(measured: Measured) -> Mean | None:
    """The mean evidence recall of unrelated questions."""
    return mean_over([(one.question.cluster, one.control) for one in measured.scores])


def difference(ours: Measured, theirs: Measured, measure: Measure) -> Mean | None:
    """Ours less theirs, question by question, over those that both have a value for."""
    others = {
        one.question.query_id: one.values.get(measure)
        for one in theirs.scores
        if one.values.get(measure) is not None
    }
    pairs = []
    for one in ours.scores:
        mine, other = one.values.get(measure), others.get(one.question.query_id)
        if mine is not None and other is not None:
            pairs.append((one.question.cluster, mine - other))
    return mean_over(pairs)


def _values(scores: Sequence[Scores], measure: Measure) -> Iterator[tuple[str, float]]:
    for one in scores:
        value = one.values.get(measure)
        if value is not None:
            yield one.question.cluster, value


def mean_over(values: Sequence[tuple[str, float]]) -> Mean | None:
    """The mean of (cluster, value) of questions; None of none."""
    if not values:
        return None
    clusters = [cluster for cluster, _ in values]
    numbers = [value for _, value in values]
    by_cluster: dict[str, list[float]] = {}
    for cluster, value in values:
        by_cluster.setdefault(cluster, []).append(value)
    means = [fsum(ours) / len(ours) for ours in by_cluster.values()]
    return Mean(
        fsum(numbers) / len(numbers),
        over_clusters(numbers, clusters),
        fsum(means) / len(means),
        len(numbers),
        len(by_cluster),
    )
