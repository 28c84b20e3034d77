"""Semantic chunking: cut where the meaning moves most from one sentence to the next."""

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from variorum.chunking.anchored import Cutter, divide
from variorum.chunking.boundaries import AFTER_HEADING, boundaries
from variorum.chunking.candidates import Candidates
from variorum.chunking.chunker import (
    Chunker,
    Embed,
    Shape,
    canonical_spec,
    refuse,
    refuse_without_model,
)
from variorum.chunking.graphemes import Graphemes
from variorum.chunking.occurrences import meeting_place
from variorum.chunking.sentences import sentences
from variorum.chunking.tokens import TokenMap
from variorum.chunking.windows import distances
from variorum.records.text import Span, Structure

PERCENTILE = 90.0
"""The threshold where neither `percentile` nor `k` is given."""


@dataclass(frozen=True)
class Semantic:
    """Cut between sentences whose surroundings are far apart in meaning.

    Each sentence is embedded in a window of `window` sentences, itself in the middle. A place
    between two sentences is a break where the cosine distance of their windows is over the
    `percentile` of the text's distances, or over their mean by more than `k` standard deviations.
    A range is cut at its farthest break that leaves `min_tokens` on both sides, both parts
    likewise; what is over `max_tokens` then is cut by the anchored rule. Never between a heading
    and what follows it.

    Raises:
        InputError: kind `bad-parameter`, where both percentile and k are given, percentile is not
            between 0 and 100, k not in [0.8, 1.5], window < 1, min_tokens < 1 or
            max_tokens < 2 * min_tokens; `needs-a-model` from `spans`, without an `embed`.

    Source: the sliding windows, the percentile and the mean plus k deviations are those of
        the usual semantic splitters; the bounds are not.
    """

    window: int = 3
    percentile: float | None = None
    k: float | None = None
    min_tokens: int = 64
    max_tokens: int = 400
    embed: Embed | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.k is None and self.percentile is None:
            object.__setattr__(self, "percentile", PERCENTILE)
        for name in ("percentile", "k"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else float(value))
        self._check()

    def _check(self) -> None:
        if self.k is not None and self.percentile is not None:
            refuse("semantic", "k", self.k, f"not together with percentile={self.percentile}")
        if self.percentile is not None and not 0 < self.percentile < 100:
            refuse("semantic", "percentile", self.percentile, "between 0 and 100")
        if self.k is not None and not 0.8 <= self.k <= 1.5:
            refuse("semantic", "k", self.k, "0.8 to 1.5")
        if self.window < 1:
            refuse("semantic", "window", self.window, "at least 1")
        if self.min_tokens < 1:
            refuse("semantic", "min_tokens", self.min_tokens, "at least 1")
        if self.max_tokens < 2 * self.min_tokens:
            allowed = f"at least twice min_tokens={self.min_tokens}"
            refuse("semantic", "max_tokens", self.max_tokens, allowed)

    @property
    def spec(self) -> str:
        """The canonical spec, with the threshold that is used."""
        return canonical_spec("semantic", self)

    @property
    def overlaps(self) -> bool:
        """Never."""
        return False

    @property
    def needs_vectors(self) -> bool:
        """Always."""
        return True

    @property
    def shape(self) -> Shape:
        """A target a little under halfway between the minimum and the maximum."""
        target = (self.min_tokens + self.max_tokens) * 9 // 20
        return Shape(self.min_tokens, target, self.max_tokens)

    def with_embed(self, embed: Embed) -> Chunker:
        """The same rule with a way to embed."""
        return replace(self, embed=embed)

    def limited(self, max_tokens: int) -> Chunker:
        """The same rule up to `max_tokens`; a minimum over half of that comes down to half."""
        if max_tokens >= self.max_tokens:
            return self
        most = max(2, max_tokens)
        return replace(self, max_tokens=most, min_tokens=min(self.min_tokens, most // 2))

    def spans(self, text: str, structure: Structure, tokens: TokenMap) -> list[Span]:
        """The ranges between breaks, and the parts of those that are too large."""
        if self.embed is None:
            refuse_without_model(self)
        if not text:
            return []
        cutter = Cutter(text, structure, tokens, self.min_tokens)
        units = [
            part
            for sentence in sentences(text, structure)
            for part in cutter.divide(sentence, self.max_tokens)
        ]
        far = distances(text, units, self.window, self.embed, tokens, self.max_tokens)
        breaks = self._breaks(text, structure, units, far, tokens)
        whole = divide(Span(0, len(text)), lambda span: _cut(breaks, span, self.min_tokens))
        return [part for span in whole for part in cutter.divide(span, self.max_tokens)]

    def _breaks(
        self,
        text: str,
        structure: Structure,
        units: list[Span],
        far: NDArray[np.float64],
        tokens: TokenMap,
    ) -> Candidates:
        """The places between sentences whose distance is over the threshold."""
        graphemes = Graphemes(text)
        met = [meeting_place(text, after.start) for _, after in pairwise(units)]
        places = np.array(met, dtype=np.int64)
        found = boundaries(text, structure)
        bound = found.positions[found.levels == AFTER_HEADING]
        kept = (far > self._threshold(far)) & ~np.isin(places, bound)
        kept &= np.array([graphemes.is_boundary(place) for place in met], dtype=np.bool_)
        return Candidates(places[kept], far[kept], tokens)

    def _threshold(self, far: NDArray[np.float64]) -> float:
        """The distance that a break is over."""
        if not len(far):
            return math.inf
        if self.percentile is not None:
            return float(np.percentile(far, self.percentile))
        return float(far.mean() + (self.k or 0.0) * far.std())


def _cut(breaks: Candidates, span: Span, min_tokens: int) -> int:
    best = breaks.best(span, min_tokens)
    return span.end if best is None else best
