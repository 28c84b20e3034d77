"""What content-defined cuts are found in: words, and parts of words that are too long."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from variorum.chunking.characters import (
    Codes,
    blank_mask,
    code_points,
    counts_before,
    rolling_hashes,
    word_mask,
)
from variorum.chunking.graphemes import Graphemes
from variorum.chunking.tokens import Positions, TokenMap

LONG_CHARACTERS = 32
"""A run of letters and digits is a unit up to this length; a longer one is cut by its hashes."""

_HASHED_CHARACTERS = 8
_MEAN_MASK = np.uint64(7)
_HIGH_BITS = np.uint64(40)

_UNSPACED = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF)),
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)
"""First and last code points of scripts written without spaces."""

_LINE_END = r"(?:\r\n|\r(?!\n)|\n)"
_PARAGRAPH = re.compile(rf"{_LINE_END}[\t\f\v ]*{_LINE_END}")


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Words and parts of words in order, as columns; `opens` where a blank line stands before."""

    starts: Positions
    ends: Positions
    opens: NDArray[np.bool_]

    def of(self, text: str) -> list[str]:
        """The characters of each."""
        ends = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [text[start:end] for start, end in ends]


def words(text: str) -> Units:
    """The runs of characters that are not white space."""
    return _words(text, code_points(text))


def units(text: str, tokens: TokenMap, max_tokens: int, *, segmented: bool) -> Units:
    """Units that each have at most `max_tokens` tokens, blanks after them included.

    A word over that is cut into single characters of scripts written without spaces, runs of
    letters and digits, and other characters one by one; a long run where the hash of the last few
    characters says so. `segmented` treats every long word, and every word of such a script, like
    that. What is still too large is cut into graphemes. Every unit starts at a grapheme boundary,
    and the first one at 0.
    """
    codes, graphemes = code_points(text), Graphemes(text)
    found, unspaced = _words(text, codes), _unspaced(codes)
    broken = tokens.before_each(found.ends) - tokens.before_each(found.starts) > max_tokens
    if segmented:
        seen = counts_before(unspaced)
        broken |= (found.ends - found.starts > LONG_CHARACTERS) | (
            seen[found.ends] > seen[found.starts]
        )
    if broken.any():
        found = _parts(text, found, broken, word_mask(codes) & ~unspaced, graphemes)
    return _bounded(_placed(found, len(text), graphemes), len(text), tokens, max_tokens, graphemes)


def _words(text: str, codes: Codes) -> Units:
    edges = np.diff((~blank_mask(codes)).astype(np.int8), prepend=0, append=0)
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    opens = np.zeros(len(starts), dtype=np.bool_)
    lines = counts_before((codes == 10) | (codes == 13))
    for index in (np.flatnonzero(lines[starts[1:]] - lines[ends[:-1]] > 1) + 1).tolist():
        opens[index] = _PARAGRAPH.search(text, ends[index - 1], starts[index]) is not None
    return Units(starts, ends, opens)


def _unspaced(codes: Codes) -> NDArray[np.bool_]:
    """Which characters are of scripts written without spaces."""
    bounds = np.array([(first, last + 1) for first, last in _UNSPACED], dtype=np.uint32).ravel()
    inside = np.searchsorted(bounds, codes, side="right") % 2 == 1
    found: NDArray[np.bool_] = inside
    return found


def _parts(
    text: str,
    whole: Units,
    broken: NDArray[np.bool_],
    letters: NDArray[np.bool_],
    graphemes: Graphemes,
) -> Units:
    """The words, with the parts of those that are broken, at grapheme boundaries, in their place.

    `letters` says which characters stand together in a part.
    """
    firsts, lasts = whole.starts[broken], whole.ends[broken]
    places = _part_starts(text, firsts, lasts, letters)
    first_of = firsts[np.searchsorted(firsts, places, side="right") - 1]
    floors = graphemes.floor_each(places)
    are_starts = np.zeros(len(text) + 1, dtype=np.bool_)
    are_starts[whole.starts] = True
    are_starts[floors[floors >= first_of]] = True
    starts = np.flatnonzero(are_starts)
    owner = np.searchsorted(whole.starts, starts, side="right") - 1
    ends = np.minimum(np.append(starts[1:], len(text)), whole.ends[owner])
    return Units(starts, ends, whole.opens[owner] & (starts == whole.starts[owner]))


def _part_starts(
    text: str, firsts: Positions, lasts: Positions, letters: NDArray[np.bool_]
) -> Positions:
    """Where the parts of the words `[firsts, lasts)` start, in no order."""
    depth = np.zeros(len(text) + 1, dtype=np.int8)
    depth[firsts] += 1
    depth[lasts] -= 1
    chosen = np.cumsum(depth[:-1], dtype=np.int8) == 1
    chosen[1:] &= ~(letters[1:] & letters[:-1])
    starts = np.flatnonzero(chosen)
    after = lasts[np.searchsorted(firsts, starts, side="right") - 1]
    ends = np.minimum(np.append(starts[1:], len(text)), after)
    hashed = [
        place
        for index in np.flatnonzero(ends - starts > LONG_CHARACTERS).tolist()
        for place in _hashed(text, int(starts[index]), int(ends[index]))
    ]
    return np.concatenate([starts, np.array(hashed, dtype=np.int64)])


def _hashed(text: str, start: int, end: int) -> Iterator[int]:
    """Places in a long run, about eight characters apart and at most `LONG_CHARACTERS`."""
    hashes = rolling_hashes(code_points(text[start:end]), _HASHED_CHARACTERS)
    hits = np.flatnonzero((hashes >> _HIGH_BITS) & _MEAN_MASK == 0) + start + _HASHED_CHARACTERS
    last = start
    for hit in (*hits.tolist(), end):
        while hit - last > LONG_CHARACTERS:
            last += LONG_CHARACTERS
            yield last
        if hit - last >= _HASHED_CHARACTERS and hit < end:
            last = hit
            yield last


def _placed(found: Units, length: int, graphemes: Graphemes) -> Units:
    """The units, each starting at a grapheme boundary, the first one at 0."""
    if not len(found.starts):
        return Units(np.zeros(1, np.int64), np.array([length]), np.zeros(1, np.bool_))
    starts = graphemes.floor_each(found.starts)
    starts[0] = 0
    return Units(starts, found.ends, found.opens)


def _bounded(
    placed: Units, length: int, tokens: TokenMap, max_tokens: int, graphemes: Graphemes
) -> Units:
    """The units, with graphemes in place of one that is too large up to the next one's start."""
    bounds = np.append(placed.starts, length)
    large = np.flatnonzero(np.diff(tokens.before_each(bounds)) > max_tokens)
    if not len(large):
        return placed
    ends = placed.ends.copy()
    inside: list[tuple[int, int]] = []
    for index in large.tolist():
        places = _graphemes_of(bounds[index], bounds[index + 1], graphemes)
        ends[index] = places[0]
        inside += pairwise(places)
    more = np.array(inside, dtype=np.int64).reshape(-1, 2)
    starts = np.concatenate([placed.starts, more[:, 0]])
    order = np.argsort(starts, kind="stable")
    opens = np.concatenate([placed.opens, np.zeros(len(more), dtype=np.bool_)])
    return Units(starts[order], np.concatenate([ends, more[:, 1]])[order], opens[order])


def _graphemes_of(start: int, end: int, graphemes: Graphemes) -> list[int]:
    """Where each grapheme of `[start, end)` ends."""
    places: list[int] = []
    while start < end:
        start = graphemes.ceiling(start + 1)
        places.append(start)
    return places
