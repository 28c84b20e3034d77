"""Token counts of any range of one text: in the text, and on its own."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from variorum.chunking.words import OwnText, Splits, own_text
from variorum.records.protocols import KnowsSeams, SplitsAtBlanks, Tokenizer
from variorum.records.text import Span

Positions = NDArray[np.int64]
"""int64[n] code-point offsets, not decreasing."""


class TokenMap:
    """Where the tokens of one text start, and what its ranges count on their own.

    In the text, a range counts the tokens that start in it: `count`. Tokenized on its own it may
    count a token or two more at its ends: `own`, which is what an embedding input has.
    """

    def __init__(self, starts: Sequence[int] = ()) -> None:
        self._given = starts
        self._read: tuple[str, Tokenizer] | None = None
        self._own: dict[Span, int] = {}
        self._ragged: dict[str, int] = {"": 0}

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer) -> "TokenMap":
        """The tokens of `text`, which is tokenized once, when they are first asked for."""
        tokens = cls()
        tokens._read = (text, tokenizer)
        return tokens

    @cached_property
    def starts(self) -> list[int]:
        """Where each token starts."""
        if self._read is None:
            return list(self._given)
        text, tokenizer = self._read
        return list(tokenizer.starts(text))

    @property
    def is_read(self) -> bool:
        """Whether the text has been tokenized."""
        return "starts" in self.__dict__

    def part(self, start: int, end: int) -> "TokenMap":
        """The tokens of the characters `[start, end)` on their own, counted from `start`.

        Tokenizes these characters and no others, where a tokenizer is known.
        """
        if self._read is None:
            inside = self.starts[self.before(start) : self.before(end)]
            return TokenMap([place - start for place in inside])
        text, tokenizer = self._read
        whole = (start, end) == (0, len(text))
        return self if whole else TokenMap.of(text[start:end], tokenizer)

    @cached_property
    def array(self) -> Positions:
        """`starts` as an array."""
        return np.asarray(self.starts, dtype=np.int64)

    @property
    def total(self) -> int:
        """Tokens of the whole text."""
        return len(self.starts)

    def before(self, position: int) -> int:
        """Tokens that start before `position`: a range counts `before(end) - before(start)`."""
        return bisect_left(self.starts, position)

    def before_each(self, positions: Positions) -> Positions:
        """`before` of each position."""
        return np.searchsorted(self.array, positions, side="left").astype(np.int64)

    def count(self, start: int, end: int) -> int:
        """Tokens that start in `[start, end)`."""
        return self.before(end) - self.before(start)

    def position(self, index: int, end: int) -> int:
        """Where token `index` starts, or `end` past the last one."""
        return self.starts[index] if index < len(self.starts) else end

    def fits(self, start: int, end: int, max_tokens: int) -> bool:
        """Whether `[start, end)` has at most `max_tokens` tokens, in the text and on its own."""
        if self.count(start, end) > max_tokens:
            return False
        return self._read is None or self.own([Span(start, end)])[0] <= max_tokens

    def own(self, spans: Sequence[Span]) -> list[int]:
        """Exact tokens of each range on its own, outer white space trimmed; counted once.

        Where the tokenizer splits at blanks, only what stands at the ends of a range, beside no
        blank and no seam, is tokenized again. Without a tokenizer, `count` stands in.
        """
        missing = [span for span in dict.fromkeys(spans) if span not in self._own]
        if self._read is None:
            self._own.update((span, self.count(*span)) for span in missing)
        elif missing:
            self._own.update(zip(missing, self._own_counts(missing, *self._read), strict=True))
        return [self._own[span] for span in spans]

    def _own_counts(self, spans: Sequence[Span], text: str, tokenizer: Tokenizer) -> list[int]:
        parts = [own_text(text, span, self._splits) for span in spans]
        pieces = {piece for part in parts for piece in (*part.ragged, part.repeated)}
        asked = sorted(pieces - self._ragged.keys())
        if asked:
            self._ragged.update(zip(asked, tokenizer.count_many(asked), strict=True))
        return [self._own_count(part) for part in parts]

    def _own_count(self, part: OwnText) -> int:
        inside = self.count(*part.inside) if part.inside else 0
        again = sum(self._ragged[piece] for piece in part.ragged)
        return inside + again - self._ragged[part.repeated]

    @cached_property
    def _splits(self) -> Splits:
        """Where the tokenizer splits the text."""
        tokenizer = self._read[1] if self._read else None
        blanks = isinstance(tokenizer, SplitsAtBlanks) and tokenizer.splits_at_blanks
        if not isinstance(tokenizer, KnowsSeams):
            return Splits(blanks)
        stands_alone = tokenizer.stands_alone

        def is_end(text: str, place: int) -> bool:
            return self._is_start(place) and stands_alone(text, place)

        return Splits(blanks, tokenizer.is_seam, is_end)

    def _is_start(self, place: int) -> bool:
        index = self.before(place)
        return index < len(self.starts) and self.starts[index] == place
