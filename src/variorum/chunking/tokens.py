"""Approximate token counts of any range of one text, from one tokenization."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from variorum.records.protocols import Tokenizer

Positions = NDArray[np.int64]
"""int64[n] code-point offsets, not decreasing."""


class TokenMap:
    """Where the tokens of one text start.

    A range counts the tokens that start in it. Tokenizing the range on its own may differ by a
    token or two at its ends, so a limit that must hold exactly is checked on exact counts.
    """

    def __init__(self, starts: Sequence[int] = ()) -> None:
        self._given = starts
        self._read: tuple[str, Tokenizer] | None = None

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
