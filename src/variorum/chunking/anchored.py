"""Anchored chunking: structural boundaries, chosen by level and by the text that follows them.

Locality. Whether a candidate is a peak depends on the candidates within `min_tokens` of it alone,
and each range between two peaks is cut on its own. An edit changes the candidates in it, those up
to `REACH_BEFORE` characters before it, whose hash sees it, and those up to `REACH_AFTER` after it,
white space apart, whose level does; and hence the ranges that touch the tokens from `min_tokens`
before these to `min_tokens` after them. Peaks stand at least `min_tokens` apart. So an edit that
leaves `k` tokens in place of others changes at most

    4 + (REACH_BEFORE + REACH_AFTER + k) // min_tokens

ranges, as far as none of these characters is more than one token, and the tokenizer and the parser
read the rest as before: four where the minimum is 44 and `k` at most 11. A range over `max_tokens`
is several chunks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from variorum.chunking.boundaries import boundaries
from variorum.chunking.candidates import Candidates
from variorum.chunking.characters import (
    HASH_WINDOW,
    Codes,
    blank_mask,
    code_points,
    window_hashes,
)
from variorum.chunking.chunker import Chunker, Shape, canonical_spec, refuse
from variorum.chunking.graphemes import Graphemes
from variorum.chunking.ranges import RangeMax
from variorum.chunking.tokens import Positions, TokenMap
from variorum.records.text import Span, Structure

REACH_BEFORE = HASH_WINDOW
REACH_AFTER = 8
"""Most characters from an edit to a candidate that it changes: by its hash, and by its level, which
the end of the sentence before it decides."""

_CLAUSE_MARKS = np.array([ord(mark) for mark in ",;:，；：、。！？…"], dtype=np.uint32)


@dataclass(frozen=True)
class Anchored:
    """Cut at every peak: a candidate with no better one within `min_tokens` tokens.

    The better of two candidates is the one of the higher level (`boundaries`), and among equals the
    one with the higher hash of the text that follows. A range between two peaks that is larger than
    `max_tokens` is cut at its best candidate that leaves `min_tokens` on both sides, and both parts
    likewise. Where a range has no candidate it is cut at the token whose following characters hash
    highest, after white space or clause marks where there are any.

    Sizes lie in [min_tokens, max_tokens], a grapheme's tokens apart, and average about twice the
    minimum where the maximum leaves room; a text under twice the minimum is one span. Cost: n log n
    in the candidates.

    Raises:
        InputError: kind `bad-parameter`, where min_tokens < 1 or max_tokens < 2 * min_tokens.
    """

    max_tokens: int = 220
    min_tokens: int = 44

    def __post_init__(self) -> None:
        if self.min_tokens < 1:
            refuse("anchored", "min_tokens", self.min_tokens, "at least 1")
        if self.max_tokens < 2 * self.min_tokens:
            allowed = f"at least twice min_tokens={self.min_tokens}"
            refuse("anchored", "max_tokens", self.max_tokens, allowed)

    @property
    def spec(self) -> str:
        """The canonical spec."""
        return canonical_spec("anchored", self)

    @property
    def overlaps(self) -> bool:
        """Never."""
        return False

    @property
    def shape(self) -> Shape:
        """A target at which planned spans average what spans cut afresh do.

        Peaks stand about twice the minimum apart, and the maximum cuts what is far longer.
        """
        target = min(2 * self.min_tokens, (self.min_tokens + self.max_tokens) * 3 // 7)
        return Shape(self.min_tokens, target, self.max_tokens)

    def limited(self, max_tokens: int) -> Chunker:
        """The same rule up to `max_tokens`; a minimum over half of that comes down to half."""
        if max_tokens >= self.max_tokens:
            return self
        most = max(2, max_tokens)
        return Anchored(most, min(self.min_tokens, most // 2))

    def spans(self, text: str, structure: Structure, tokens: TokenMap) -> list[Span]:
        """The ranges between peaks, and the parts of those that are too large."""
        if not text:
            return []
        cutter = Cutter(text, structure, tokens, self.min_tokens)
        between = (Span(*ends) for ends in pairwise([0, *cutter.peaks(), len(text)]))
        return [part for span in between for part in cutter.divide(span, self.max_tokens)]


def divide(whole: Span, cut: Callable[[Span], int]) -> list[Span]:
    """The parts of `whole` in order: each one is cut where `cut` says, until that is its end."""
    spans: list[Span] = []
    pending = [whole]
    while pending:
        span = pending.pop()
        place = cut(span)
        if place == span.end:
            spans.append(span)
        else:
            pending.append(Span(place, span.end))
            pending.append(Span(span.start, place))
    return spans


class Cutter:
    """Cuts ranges of one text by the anchored rule."""

    def __init__(self, text: str, structure: Structure, tokens: TokenMap, min_tokens: int) -> None:
        self._codes = code_points(text)
        self._tokens = tokens
        self._min_tokens = min_tokens
        self._graphemes = Graphemes(text)
        found = boundaries(text, structure)
        priorities = found.levels + window_hashes(self._codes, found.positions)
        self._candidates = Candidates(found.positions, priorities, tokens)

    def peaks(self) -> list[int]:
        """The candidates with no better one within the minimum, the minimum from both ends."""
        return self._candidates.peaks(self._min_tokens)

    def divide(self, whole: Span, max_tokens: int) -> list[Span]:
        """The parts of `whole` that need no further cut, in order."""
        return divide(
            whole,
            lambda span: span.end if self._tokens.fits(*span, max_tokens) else self.cut(span),
        )

    def cut(self, span: Span) -> int:
        """The cut inside `span`, or its end where no cut is possible."""
        best = self._candidates.best(span, self._min_tokens)
        return self._between_tokens(span) if best is None else best

    def _between_tokens(self, span: Span) -> int:
        """The cut before the token with the highest priority, moved to a grapheme boundary."""
        least = min(self._min_tokens, self._tokens.count(*span) // 2)
        low = self._tokens.before(span.start) + least
        high = self._tokens.before(span.end) - least
        position = self._tokens.starts[self._windows.highest(low, high + 1)]
        cut = self._graphemes.floor(position)
        if cut <= span.start:
            cut = self._graphemes.ceiling(max(position, span.start + 1))
        return cut if span.start < cut < span.end else span.end

    @cached_property
    def _windows(self) -> RangeMax:
        """The priority of every token's start: built for the first range without candidates."""
        starts = self._tokens.array
        return RangeMax(_clause_ranks(self._codes, starts) + window_hashes(self._codes, starts))


def _clause_ranks(codes: Codes, starts: Positions) -> NDArray[np.int64]:
    """2 after a clause mark (with its space), 1 after other white space, else 0."""
    blank = blank_mask(codes)
    before = np.maximum(starts - 1, 0)
    spaced = blank[before]
    mark = codes[np.where(spaced, np.maximum(starts - 2, 0), before)]
    closes = np.isin(mark, _CLAUSE_MARKS) & (spaced | (mark >= 0x3000))
    return np.where(closes, 2, np.where(spaced, 1, 0)) * (starts > 0)
