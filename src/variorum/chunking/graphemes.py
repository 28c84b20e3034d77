"""Grapheme boundaries, found only where a cut asks for them.

Between two plain characters side by side there is always a boundary (CR LF apart). Runs of the
other characters (marks, joiners, emoji, Hangul, Indic and Thai letters) are segmented by `regex`,
each once, when a cut first falls on it. A run may hold single plain characters.
"""

from bisect import bisect_right

import numpy as np
import regex
from numpy.typing import NDArray

from variorum.chunking.characters import Codes, code_points
from variorum.chunking.tokens import Positions

_RANGES = (
    *((0x0000, 0x02FF), (0x2010, 0x2027), (0x3001, 0x3029), (0x3041, 0x3096), (0x30A0, 0x30FF)),
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xFF01, 0xFF60)),
)
"""First and last code points of the plain characters."""

_PLAIN = "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in _RANGES)
_BOUNDS = np.array([(first, last + 1) for first, last in _RANGES], dtype=np.uint32).ravel()
_RUN = regex.compile(f"[^{_PLAIN}]+(?:[{_PLAIN}][^{_PLAIN}]+)*+")
_PLAIN_CHARACTER = regex.compile(f"[{_PLAIN}]")
_GRAPHEME = regex.compile(r"\X")


class Graphemes:
    """The grapheme boundaries of one text. Linear in the text in total, lazily."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ascii = text.isascii()
        self._starts: list[int] | None = None
        self._runs: list[tuple[int, int]] = []
        self._boundaries: dict[int, list[int]] = {}

    def floor(self, position: int) -> int:
        """The last boundary at or before `position`."""
        if self._plainly_a_boundary(position):
            return position
        boundaries = self._around(position)
        return boundaries[bisect_right(boundaries, position) - 1]

    def floor_each(self, positions: Positions) -> Positions:
        """`floor` of each position."""
        floors = positions.copy()
        doubtful = np.flatnonzero(~self._plainly_boundaries(positions))
        floors[doubtful] = [self.floor(position) for position in positions[doubtful].tolist()]
        return floors

    def ceiling(self, position: int) -> int:
        """The first boundary at or after `position`."""
        if self._plainly_a_boundary(position):
            return position
        boundaries = self._around(position)
        index = bisect_right(boundaries, position)
        if boundaries[index - 1] == position:
            return position
        return boundaries[index]

    def is_boundary(self, position: int) -> bool:
        """Whether no grapheme is cut at `position`."""
        return self.floor(position) == position

    def _plainly_a_boundary(self, position: int) -> bool:
        text = self._text
        if position <= 0 or position >= len(text):
            return True
        before, after = text[position - 1], text[position]
        if before == "\r" and after == "\n":
            return False
        if self._ascii:
            return True
        return bool(_PLAIN_CHARACTER.match(before) and _PLAIN_CHARACTER.match(after))

    def _plainly_boundaries(self, positions: Positions) -> NDArray[np.bool_]:
        """`_plainly_a_boundary` of each position."""
        codes = code_points(self._text)
        found = (positions <= 0) | (positions >= len(codes))
        inside = np.flatnonzero(~found)
        before, after = codes[positions[inside] - 1], codes[positions[inside]]
        plain = _are_plain(before) & _are_plain(after) & ~((before == 13) & (after == 10))
        found[inside] = plain
        return found

    def _around(self, position: int) -> list[int]:
        """The boundaries of the run at `position`, with the plain character on each side."""
        if self._text[position - 1 : position + 1] == "\r\n":
            return [position - 1, position + 1]
        if self._starts is None:
            self._runs = [match.span() for match in _RUN.finditer(self._text)]
            self._starts = [start for start, _ in self._runs]
        start, end = self._runs[bisect_right(self._starts, position) - 1]
        if start not in self._boundaries:
            self._boundaries[start] = self._segment(start, end)
        return self._boundaries[start]

    def _segment(self, start: int, end: int) -> list[int]:
        first = max(0, start - 1)
        last = min(len(self._text), end + 1)
        found = [match.start() for match in _GRAPHEME.finditer(self._text, first, last)]
        return [*found, last]


def _are_plain(codes: Codes) -> NDArray[np.bool_]:
    plain: NDArray[np.bool_] = np.searchsorted(_BOUNDS, codes, side="right") % 2 == 1
    return plain
