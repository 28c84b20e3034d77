"""The tables of reStructuredText: grid, simple, `list-table` and `csv-table`, to a head and rows.

Every function takes the lines of the document and the lines that the table stands on, and gives
leaves. A table whose borders do not fit is rows as far as they go.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from variorum.formats.leaves import Leaf, table_leaves
from variorum.records.text import BlockKind

Lines = Sequence[str]

_SEPARATOR: Final = re.compile(r" *\+(?:-+\+|=+\+)+$")
_SIMPLE_BORDER: Final = re.compile(r" *=+(?: +=+)* *$")
_OPTION: Final = re.compile(r" *:([\w-]+):(?: +(.*))?$")
_LIST_ROW: Final = re.compile(r" *\*(?: |$)")


def _rows(starts: Sequence[int], end: int) -> Iterator[tuple[int, int]]:
    yield from pairwise([*starts, end])


def grid_end(lines: Lines, first: int, end: int) -> int:
    """The line after a grid table that begins at `first`."""
    at = first
    while at < end and lines[at].lstrip().startswith(("+", "|")):
        at += 1
    return at


def grid_leaves(lines: Lines, first: int, end: int) -> Iterator[Leaf]:
    """A grid table: the head ends at the border of `=`, each row at a whole border."""
    borders = [at for at in range(first, end) if _SEPARATOR.match(lines[at])]
    head_border = next((at for at in borders[1:] if "=" in lines[at]), first - 1)
    ends = [at + 1 for at in borders[1:] if at > head_border]
    head = (first, head_border + 1)
    starts = [max(head[1], first), *ends]
    stop = starts.pop()
    rows = [*_rows(starts, stop)] if starts else []
    if stop < end:
        rows.append((stop, end))
    return table_leaves(head, rows)


def simple_end(lines: Lines, first: int, end: int) -> int:
    """The line after a simple table that begins at `first`; `first` itself where it is none."""
    borders = 0
    for at in range(first + 1, end):
        if _SIMPLE_BORDER.match(lines[at]):
            borders += 1
            if borders == 2 or at + 1 >= end or not lines[at + 1].strip():
                return at + 1
    return first


def simple_leaves(lines: Lines, first: int, end: int) -> Iterator[Leaf]:
    """A simple table: a line with text in the first column begins a row."""
    top = lines[first]
    left = len(top) - len(top.lstrip())
    right = left + len(top[left:].split(" ", 1)[0])
    border = next(at for at in range(first + 1, end) if _SIMPLE_BORDER.match(lines[at]))
    head_end = border + 1 if border < end - 1 else first
    body = head_end if head_end > first else first + 1
    starts = [
        at
        for at in range(body, end - 1)
        if lines[at][left:right].strip() and set(lines[at].strip()) - {"-", " "}
    ]
    if not starts:
        return table_leaves((first, end), ())
    starts[0] = head_end
    return table_leaves((first, head_end), _rows(starts, end))


def _options(lines: Lines, first: int, end: int) -> dict[str, tuple[int, str]]:
    """The options below a directive's first line, with the line of each."""
    found = {}
    for at in range(first + 1, end):
        option = _OPTION.match(lines[at])
        if option:
            found[option[1].lower()] = (at, option[2] or "")
    return found


def _header_rows(options: dict[str, tuple[int, str]]) -> int:
    value = options.get("header-rows", (0, "0"))[1].strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) < 4 else 0


def directive_table(lines: Lines, first: int, end: int, is_list: bool) -> Iterator[Leaf]:
    """A `list-table` or `csv-table` on the lines `first` to `end`, its title a block of its own."""
    body = next((at for at in range(first + 1, end) if not lines[at].strip()), end)
    options = _options(lines, first, body)
    has_title = bool(lines[first].partition("::")[2].strip())
    title_end = options["header"][0] if "header" in options else body
    yield Leaf(first, title_end, BlockKind.PARAGRAPH if has_title else BlockKind.OTHER)
    starts = _list_starts(lines, body, end) if is_list else _csv_starts(lines, body, end)
    header_rows = min(_header_rows(options), len(starts))
    if "header" in options:
        head = (title_end, body)
    elif header_rows:
        stop = starts[header_rows] if header_rows < len(starts) else end
        head = (starts[0], stop)
        starts = starts[header_rows:]
    else:
        head = (body, body)
    yield from table_leaves(head, _rows(starts, end) if starts else ())


def _list_starts(lines: Lines, first: int, end: int) -> list[int]:
    marked = [at for at in range(first, end) if _LIST_ROW.match(lines[at])]
    if not marked:
        return []
    column = lines[marked[0]].index("*")
    return [at for at in marked if lines[at].index("*") == column]


def _csv_starts(lines: Lines, first: int, end: int) -> list[int]:
    """The lines that begin a record: those outside quotes."""
    starts, is_quoted = [], False
    for at in range(first, end):
        if not is_quoted and lines[at].strip():
            starts.append(at)
        is_quoted ^= lines[at].count('"') % 2 == 1
    return starts
