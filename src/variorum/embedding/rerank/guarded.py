"""A reranker whose every failure is an error of ours that names it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from variorum.embedding.blame import blamed
from variorum.records.protocols import Reranker


@dataclass(frozen=True, slots=True)
class GuardedReranker:
    """The reranker `inner`, given by a user."""

    inner: Reranker

    @property
    def name(self) -> str:
        """As the reranker's own; its type where it has none."""
        return str(getattr(self.inner, "name", type(self.inner).__name__))

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """As the reranker's own, as plain numbers.

        Raises:
            BugError: a mistake in its code, or scores that are no row of numbers.
            UnavailableError: it cannot answer now.
        """
        with blamed(self.name, "reranker"):
            given = np.asarray(self.inner.scores(query, passages), np.float64)
            return [float(one) for one in given]
