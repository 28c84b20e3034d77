"""What content-defined cuts are found in: words, and parts of words that are too long."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from variorum.chunking.characters import code_points, rolling_hashes
from variorum.chunking.graphemes import Graphemes
from variorum.chunking.tokens import TokenMap

LONG_CHARACTERS = 32
"""A run of letters and digits is a unit up to this length; a longer one is cut by its hashes."""

_HASHED_CHARACTERS = 8
_MEAN_MASK = np.uint64(7)
_HIGH_BITS = np.uint64(40)

_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\U00020000-\U0003ffff"
)
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_PART = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+|.", re.DOTALL)
_WORD = re.compile(r"\S+")
_LINE_END = r"(?:\r\n|\r(?!\n)|\n)"
_PARAGRAPH = re.compile(rf"{_LINE_END}[\t\f\v ]*{_LINE_END}")


class Unit(NamedTuple):
    """A word or a part of one; `opens` where a blank line stands before it."""

    start: int
    end: int
    opens: bool = False


def words(text: str) -> list[Unit]:
    """The runs of characters that are not white space."""
    found: list[Unit] = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        before = found[-1].end if found else start
        opens = start - before > 1 and _PARAGRAPH.search(text, before, start) is not None
        found.append(Unit(start, end, opens))
    return found


def units(text: str, tokens: TokenMap, max_tokens: int, *, segmented: bool) -> list[Unit]:
    """Units that each have at most `max_tokens` tokens, blanks after them included.

    A word over that is cut into single characters of scripts written without spaces, runs of
    letters and digits, and other characters one by one; a long run where the hash of the last few
    characters says so. `segmented` treats every long word, and every word of such a script, like
    that. What is still too large is cut into graphemes. Every unit starts at a grapheme boundary,
    and the first one at 0.
    """
    graphemes = Graphemes(text)
    found: list[Unit] = []
    for word in words(text):
        too_long = tokens.count(word.start, word.end) > max_tokens
        if too_long or (segmented and _is_segmented(text, word)):
            found.extend(_parts(text, word, graphemes))
        else:
            found.append(word)
    placed = _placed(found, len(text), graphemes)
    ends = [*(unit.start for unit in placed[1:]), len(text)]
    return list(_bounded(zip(placed, ends, strict=True), tokens, max_tokens, graphemes))


def _is_segmented(text: str, word: Unit) -> bool:
    if word.end - word.start > LONG_CHARACTERS:
        return True
    return _HAS_UNSPACED.search(text, word.start, word.end) is not None


def _parts(text: str, word: Unit, graphemes: Graphemes) -> Iterator[Unit]:
    """The parts of a word, at grapheme boundaries."""
    starts = {word.start}
    for match in _PART.finditer(text, word.start, word.end):
        start, end = match.span()
        starts.add(graphemes.floor(start))
        if end - start > LONG_CHARACTERS:
            starts.update(map(graphemes.floor, _hashed(text, start, end)))
    inside = sorted(start for start in starts if start >= word.start)
    for start, end in pairwise([*inside, word.end]):
        yield Unit(start, end, word.opens and start == word.start)


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


def _placed(found: list[Unit], length: int, graphemes: Graphemes) -> list[Unit]:
    """The units, each starting at a grapheme boundary, the first one at 0."""
    placed: list[Unit] = []
    for unit in found or [Unit(0, length)]:
        start = graphemes.floor(unit.start) if placed else 0
        placed.append(unit._replace(start=start))
    return placed


def _bounded(
    placed: Iterable[tuple[Unit, int]], tokens: TokenMap, max_tokens: int, graphemes: Graphemes
) -> Iterator[Unit]:
    """The units, with graphemes in place of one that is too large up to the next one's start."""
    for unit, end in placed:
        if tokens.count(unit.start, end) <= max_tokens:
            yield unit
            continue
        start = unit.start
        while start < end:
            after = graphemes.ceiling(start + 1)
            yield Unit(start, after, unit.opens and start == unit.start)
            start = after
