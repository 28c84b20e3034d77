"""Which titles a place of a text stands under."""

from bisect import bisect_right

from variorum.records.text import BlockKind, Span, Structure

Titles = tuple[str, ...]


def first_character(characters: str, start: int, end: int) -> int:
    """Where the first character of a range stands that is not blank; its end where none is."""
    inside = characters[start:end]
    return end - len(inside.lstrip())


class SectionSpans:
    """Where the sections of a text lie: each from a heading to the next one of any level.

    The first begins with the text.
    """

    def __init__(self, structure: Structure, characters: str) -> None:
        headings = [one.start for one in structure.blocks if one.kind is BlockKind.HEADING]
        self._characters = characters
        self._edges = [0, *(start for start in headings if start), len(characters)]

    def around(self, start: int, end: int) -> Span:
        """The section of the first character of a range that is not blank."""
        place = first_character(self._characters, start, end)
        index = min(bisect_right(self._edges, place), len(self._edges) - 1)
        return Span(self._edges[index - 1], self._edges[index])


class Headings:
    """The heading path at any place of a text: of the block there, or of the last one before it."""

    def __init__(self, structure: Structure) -> None:
        self._starts = [block.start for block in structure.blocks]
        self._paths = [block.heading_path for block in structure.blocks]
        self._above = [
            block.heading_path[:-1] if block.kind is BlockKind.HEADING else block.heading_path
            for block in structure.blocks
        ]

    def path_at(self, position: int) -> Titles:
        """The titles that `position` stands under, its own heading's included."""
        return self._path(self._paths, position)

    def above(self, position: int) -> Titles:
        """The same without the title that begins at `position`."""
        return self._path(self._above, position)

    def _path(self, paths: list[Titles], position: int) -> Titles:
        index = bisect_right(self._starts, position) - 1
        return paths[index] if index >= 0 else ()
