"""Delimited text (CSV and its kin) to a head and rows, by RFC 4180 with any usual delimiter.

A record is the lines that it stands on, several where a quoted cell holds line ends. The first is
the head, unless it looks like data: a cell empty, a number, or the same as another. A first line
`sep=;` names the delimiter, as spreadsheets write it. A quote never closed would swallow the
rest of the file, so such a file is read as plain text.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from variorum.formats.plain import parse_plain
from variorum.records.text import Block, BlockKind, Span, Structure, Text

NAME: Final = "delimited"
_DELIMITERS: Final = ",;\t|"
_PROBE: Final = 65_536
_PROBE_RECORDS: Final = 50
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_SEPARATOR_LINE: Final = re.compile(r"(?i)\ufeff?sep=([^\r\n])(?:\r\n|\r|\n|\Z)")
_NUMBER: Final = re.compile(r"[-+]?[\d.,:/%€$£¥\s-]*\d[\d.,:/%€$£¥\s-]*")


class _Record(NamedTuple):
    start: int
    end: int
    cells: tuple[str, ...]


class _UnclosedQuoteError(ValueError):
    """A quoted cell runs to the end of the file."""


@cache
def _field(delimiter: str) -> re.Pattern[str]:
    plain = rf"[^{re.escape(delimiter)}\r\n]*+"
    return re.compile(rf'(?:"((?:[^"]++|"")*+)")?+({plain})')


def _records(characters: str, delimiter: str, start: int) -> Iterator[_Record]:
    """The records from `start` on, blank lines left out. Linear.

    Raises:
        _UnclosedQuoteError: a quoted cell is never closed.
    """
    field, end = _field(delimiter), len(characters)
    position = start
    while position < end:
        first, cells = position, []
        while True:
            match = field.match(characters, position)
            quoted, rest = match.groups() if match else (None, "")
            if quoted is None and rest.startswith('"'):
                line = len(_LINE_END.findall(characters, 0, first)) + 1
                raise _UnclosedQuoteError(f"a quote opened in the record of line {line} stays open")
            cells.append((quoted or "") + rest)
            position = match.end() if match else end
            if position == end or characters[position] != delimiter:
                break
            position += 1
        line_end = _LINE_END.match(characters, position)
        position = line_end.end() if line_end else position
        if characters[first:position].strip():
            yield _Record(first, position, tuple(cells))


def _widths(window: str, delimiter: str, start: int) -> list[int]:
    """How many cells the first records have; a last one that the window may cut is left out."""
    widths = []
    try:
        for record in _records(window, delimiter, start):
            widths.append(len(record.cells))
            if len(widths) > _PROBE_RECORDS:
                break
    except _UnclosedQuoteError:
        return widths
    return widths[:-1] if len(window) == _PROBE and len(widths) > 1 else widths


def _sniffed(characters: str, start: int) -> str:
    """The delimiter that gives most records the same number of cells, and most cells."""
    window = characters[start : start + _PROBE]
    best, best_score = ",", (0, 0)
    for delimiter in _DELIMITERS:
        widths = Counter(width for width in _widths(window, delimiter, 0) if width > 1)
        if widths:
            width, records = widths.most_common(1)[0]
            if (records, width) > best_score:
                best, best_score = delimiter, (records, width)
    return best


def _is_head(cells: tuple[str, ...]) -> bool:
    names = [cell.strip() for cell in cells]
    if len(set(names)) != len(names):
        return False
    return all(name and not _NUMBER.fullmatch(name) for name in names)


def parse_delimited(text: Text) -> Structure:
    """The structure of comma-, semicolon-, tab- or bar-separated values, total and linear."""
    characters = text.characters
    named = _SEPARATOR_LINE.match(characters)
    start = named.end() if named else 0
    delimiter = named[1] if named else _sniffed(characters, start)
    blocks = [Block(0, start, BlockKind.OTHER)] if named else []
    try:
        records = list(_records(characters, delimiter, start))
    except _UnclosedQuoteError as error:
        return parse_plain(text, f"not read as delimited text: {error}")
    head: Span | None = None
    for record in records:
        is_head = record is records[0] and _is_head(record.cells)
        kind = BlockKind.TABLE if is_head else BlockKind.ROW
        blocks.append(Block(record.start, record.end, kind, repeats=head))
        if is_head:
            head = Span(record.start, record.end)
    return Structure(tuple(blocks), NAME)
