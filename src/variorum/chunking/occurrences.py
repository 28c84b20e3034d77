"""Where the inputs of an older layout stand, byte for byte, in a new text."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

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
    match = _BLANK.match(text, position)
    filled = match.end() if match else position
    if filled == len(text):
        return filled
    line = text.rfind("\n", max(0, filled - _INDENT_CHARACTERS), filled) + 1
    return line if line and (line == filled or text[line:filled].isspace()) else filled


class Finder:
    """Finds old contents in a new text. `fits(index, position)` says whether the input matches."""

    def __init__(
        self,
        text: str,
        contents: Sequence[str],
        anchors: Iterable[int],
        fits: Callable[[int, int], bool],
    ) -> None:
        self._text = text
        self._graphemes = Graphemes(text)
        self._anchors = frozenset(anchors)
        self._fits = fits
        self._indexes: dict[str, list[int]] = defaultdict(list)
        for index, content in enumerate(contents):
            if content:
                self._indexes[content].append(index)

    def within(self, start: int, end: int) -> list[Occurrence]:
        """Every occurrence of every content in `[start, end)`; of one content, none overlap.

        Cost: one string search of the range a content.
        """
        found: list[Occurrence] = []
        for content, indexes in self._indexes.items():
            place = self._text.find(content, start, end)
            while place >= 0:
                occurrence = self._occurrence(place, len(content), indexes)
                if occurrence is None or not start <= occurrence.start < occurrence.end <= end:
                    place = self._text.find(content, place + 1, end)
                else:
                    found.append(occurrence)
                    place = self._text.find(content, place + len(content), end)
        return sorted(found, key=lambda occurrence: (occurrence.start, occurrence.index))

    def _occurrence(self, place: int, length: int, indexes: list[int]) -> Occurrence | None:
        start = meeting_place(self._text, place)
        end = meeting_place(self._text, place + length)
        if length < SHORT_CHARACTERS and start and start not in self._anchors:
            return None
        if not (self._graphemes.is_boundary(start) and self._graphemes.is_boundary(end)):
            return None
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
