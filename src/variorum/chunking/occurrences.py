"""Where the inputs of an older layout stand, byte for byte, in a new text."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from variorum.chunking.characters import code_points, head_hashes, rolling_hashes
from variorum.chunking.graphemes import Graphemes

SHORT_CHARACTERS = 24
"""Content shorter than this is looked for at structural boundaries only."""

_BLANK = re.compile(r"\s*")
_INDENT_CHARACTERS = 4096


@dataclass(frozen=True, slots=True)
class Occurrence:
    """The content of old chunk `index`, found at `[start, end)` of the new text.

    Both ends are places where chunks may meet (`meeting_place`), so blank characters around the
    content are part of the range.
    """

    start: int
    end: int
    index: int


def meeting_place(text: str, position: int) -> int:
    """The one place between the non-blank characters around `position` where chunks may meet.

    The start of the next line with anything on it, or else the next character that is not blank:
    equal contents then have equal ends, whatever blank characters lie between.
    """
    filled = _filled(text, position)
    if filled == len(text):
        return filled
    line = text.rfind("\n", max(0, filled - _INDENT_CHARACTERS), filled) + 1
    return line if line and (line == filled or text[line:filled].isspace()) else filled


def _filled(text: str, position: int) -> int:
    """The first character from `position` on that is not blank."""
    match = _BLANK.match(text, position)
    return match.end() if match else position


class Finder:
    """Finds old contents in a new text. `fits(index, position)` says whether the input matches."""

    def __init__(
        self,
        text: str,
        contents: Sequence[str],
        fits: Callable[[int, int], bool],
    ) -> None:
        self._text = text
        self._codes = code_points(text)
        self._graphemes = Graphemes(text)
        self._fits = fits
        self._indexes: dict[str, list[int]] = defaultdict(list)
        for index, content in enumerate(contents):
            self._indexes[content].append(index)
        self._short_lengths = {len(one) for one in self._indexes if len(one) < SHORT_CHARACTERS}
        long = [one for one in self._indexes if len(one) >= SHORT_CHARACTERS]
        self._long: dict[int, list[str]] = defaultdict(list)
        for content, head in zip(long, head_hashes(long, SHORT_CHARACTERS).tolist(), strict=True):
            self._long[head].append(content)
        self._heads = np.array(sorted(self._long), dtype=np.uint64)

    def within(self, start: int, end: int, anchors: Sequence[int]) -> list[Occurrence]:
        """Every occurrence of every content in `[start, end)`; of one content, none overlap.

        Short contents are looked for at `anchors`, the structural boundaries of the range.
        Cost: linear in the range, and a comparison wherever a content's first characters stand.
        """
        found: list[Occurrence] = []
        reached: dict[int, int] = {}
        for place, content in sorted(
            {*self._long_in(start, end), *self._short_in(start, end, anchors)}
        ):
            occurrence = self._occurrence(place, content)
            if occurrence is None or not start <= occurrence.start < occurrence.end <= end:
                continue
            if place >= reached.get(occurrence.index, 0):
                reached[occurrence.index] = place + len(content)
                found.append(occurrence)
        return sorted(found, key=lambda occurrence: (occurrence.start, occurrence.index))

    def _long_in(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """(position, content) for the contents that are not short."""
        if end - start < SHORT_CHARACTERS:
            return
        hashes = rolling_hashes(self._codes[start:end], SHORT_CHARACTERS)
        for offset in np.flatnonzero(np.isin(hashes, self._heads)).tolist():
            for content in self._long[int(hashes[offset])]:
                if self._text.startswith(content, start + offset, end):
                    yield start + offset, content

    def _short_in(self, start: int, end: int, anchors: Sequence[int]) -> Iterator[tuple[int, str]]:
        """(position, content) for the short contents, at structural boundaries."""
        for anchor in (start, *anchors):
            place = _filled(self._text, anchor)
            for length in self._short_lengths:
                content = self._text[place : place + length]
                if content in self._indexes and 0 < len(content) <= end - place:
                    yield place, content

    def _occurrence(self, place: int, content: str) -> Occurrence | None:
        start = meeting_place(self._text, place)
        end = meeting_place(self._text, place + len(content))
        if not (self._graphemes.is_boundary(start) and self._graphemes.is_boundary(end)):
            return None
        indexes = self._indexes[content]
        fitting = next((index for index in indexes if self._fits(index, place)), None)
        return None if fitting is None else Occurrence(start, end, fitting)


def runs(occurrences: Sequence[Occurrence], contents: Sequence[str]) -> list[list[Occurrence]]:
    """Stretches of the new text where old chunks follow one another as they did before.

    Taken from left to right, not overlapping; stretches of one occurrence included.
    """
    at: dict[int, list[Occurrence]] = defaultdict(list)
    for occurrence in occurrences:
        at[occurrence.start].append(occurrence)
    stretches: list[list[Occurrence]] = []
    reached = 0
    for start in sorted(at):
        if start >= reached:
            longest = max((_run(first, at, contents) for first in at[start]), key=len)
            stretches.append(longest)
            reached = longest[-1].end
    return stretches


def _run(
    first: Occurrence, at: dict[int, list[Occurrence]], contents: Sequence[str]
) -> list[Occurrence]:
    run = [first]
    while run[-1].index + 1 < len(contents):
        wanted = contents[run[-1].index + 1]
        following = (one for one in at.get(run[-1].end, ()) if contents[one.index] == wanted)
        found = next(following, None)
        if found is None:
            break
        run.append(Occurrence(found.start, found.end, run[-1].index + 1))
    return run
