"""Percentile intervals of a mean, by resampling documents or whole repositories."""

from collections.abc import Sequence

import numpy as np

from bench.study import SEED

RESAMPLES = 2_000
Interval = tuple[float, float]


def over_documents(values: Sequence[float]) -> Interval:
    """The 95 % interval of the mean, documents resampled."""
    return over_clusters(values, list(map(str, range(len(values)))))


def over_clusters(values: Sequence[float], clusters: Sequence[str]) -> Interval:
    """The 95 % interval of the mean over documents, whole clusters of them resampled."""
    names, owner = np.unique(np.array(clusters), return_inverse=True)
    sums = np.bincount(owner, weights=np.array(values), minlength=len(names))
    counts = np.bincount(owner, minlength=len(names))
    drawn = np.random.default_rng(SEED).integers(0, len(names), (RESAMPLES, len(names)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)
