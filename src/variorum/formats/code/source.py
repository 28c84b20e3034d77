"""A text as the syntax parser reads it, row by row, and the way back to its characters.

The parser reads UTF-8. Line ends are folded to LF, so that its rows are the text's lines; NUL, at
which grammars stop, and lone surrogates, which are no UTF-8, are replaced one for one. So a column
counts the same characters in both.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from variorum.records.text import Text

_LINE_END = re.compile(r"\r\n?")
_UNREADABLE = re.compile("[\0\ud800-\udfff]")
_INDENTS = " \t\f\v"


class Place(NamedTuple):
    """A position as the parser tells it; `column` counts bytes from the start of the row."""

    row: int
    column: int
    byte: int


class Source:
    """The rows of a text, and its bytes for the parser."""

    def __init__(self, text: Text) -> None:
        folded = _LINE_END.sub("\n", text.characters)
        self.content = _UNREADABLE.sub(_readable, folded).encode()
        rows = folded.split("\n")
        self.starts = [*text.line_starts, len(text.characters)]
        """Offset of the first character of every row, and the text's length."""
        self.filled = [bool(row) and not row.isspace() for row in rows]
        """Whether a row holds more than white space."""
        self.indents = [len(row) - len(row.lstrip(_INDENTS)) for row in rows]
        """Where the first thing of each row stands, as a column."""

    @property
    def rows(self) -> int:
        """How many rows there are: one more than line ends."""
        return len(self.filled)

    def size(self, first: int, end: int) -> int:
        """Characters in the rows from `first` up to `end`."""
        return self.starts[end] - self.starts[first]

    def positions(self, places: Iterable[Place]) -> list[int]:
        """The places, given in order, as offsets in the text. Linear in the rows they are on."""
        found: list[int] = []
        row = byte = position = -1
        for place in places:
            if place.row != row:
                row, byte, position = place.row, place.byte - place.column, self.starts[place.row]
            position += len(self.content[byte : place.byte].decode("utf-8", "ignore"))
            byte = place.byte
            found.append(position)
        return found


def _readable(match: re.Match[str]) -> str:
    return " " if match.group() == "\0" else "\ufffd"
