"""An outline as blocks of whole rows that cover every row with more than white space.

The rows of a definition are its own but for those of the definitions inside it. Its first block is
a DEFINITION, with the comments and decorators above it; what else it owns is CODE under its path. A
holder with members, such as a class, is cut below its signature and docstring. Rows outside of
definitions are grouped at blank lines between statements; imports are a group of their own.

A piece over `MAX_PIECE` characters is cut at the statements that are nested least in it, at blank
lines before other places, as often as it takes. Every place of the same rank is a cut, so that an
edit moves no cut elsewhere. Statements hold their brackets and strings, which are never cut.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

from variorum.formats.code.outline import Definition, Outline, RowKind
from variorum.formats.code.source import Source
from variorum.records.text import Block, BlockKind

MAX_PIECE: Final = 1500
"""Characters above which a piece is cut at its statements."""
_CLOSERS: Final = re.compile(r"[\s;,)\]}]*(?:(?:(?<=[;,)\]}])[ \t]*//|#endif)[^\r\n]*)?\s*")
_MAX_CLOSERS: Final = 200


class _Rows(NamedTuple):
    """A half-open range of rows."""

    first: int
    end: int


class _Stretch(NamedTuple):
    """Rows that one definition owns, or none does; `opens` where they are its first."""

    rows: _Rows
    owner: Definition | None
    opens: bool


def blocks_of(characters: str, source: Source, outline: Outline) -> tuple[Block, ...]:
    """The blocks of a text. Linear in its rows for a given depth of nesting."""
    return _Builder(characters, source, outline).build()


def _stretches(definitions: list[Definition], rows: int) -> Iterator[_Stretch]:
    """All rows in order, by who owns them. Definitions come parents first."""
    open_: list[Definition] = []
    row = 0
    for definition in definitions:
        while open_ and open_[-1].last < definition.first:
            owner = open_.pop()
            yield _stretch(row, owner.last + 1, owner)
            row = owner.last + 1
        yield _stretch(row, definition.first, open_[-1] if open_ else None)
        row = definition.first
        open_.append(definition)
    while open_:
        owner = open_.pop()
        yield _stretch(row, owner.last + 1, owner)
        row = owner.last + 1
    yield _stretch(row, rows, None)


def _stretch(first: int, end: int, owner: Definition | None) -> _Stretch:
    return _Stretch(_Rows(first, end), owner, owner is not None and owner.first == first)


class _Builder:
    def __init__(self, characters: str, source: Source, outline: Outline) -> None:
        self._characters = characters
        self._source = source
        self._outline = outline
        self._statements = sorted(outline.statements)
        self._blocks: list[Block] = []

    def build(self) -> tuple[Block, ...]:
        for stretch in _stretches(self._outline.definitions, self._source.rows):
            rows = self._trimmed(stretch.rows)
            if rows.first < rows.end:
                self._add_stretch(stretch._replace(rows=rows))
        return tuple(self._blocks)

    def _add_stretch(self, stretch: _Stretch) -> None:
        rows, owner, opens = stretch
        path = owner.path if owner else ()
        if owner is None or not opens:
            if not self._close(rows):
                self._add_groups(rows, path)
            return
        head = self._head(rows, owner)
        pieces = self._pieces(head)
        self._add(pieces[0], BlockKind.DEFINITION, path)
        for piece in pieces[1:]:
            self._add(piece, BlockKind.CODE, path)
        self._add_groups(_Rows(head.end, rows.end), path)

    def _head(self, rows: _Rows, owner: Definition) -> _Rows:
        """The rows of a definition's first block: all, or those above a holder's members."""
        is_whole = rows.end == owner.last + 1
        if not owner.is_holder or (is_whole and self._source.size(*rows) <= MAX_PIECE):
            return rows
        end = min(max(owner.body_row, rows.first + 1), rows.end)
        while end > rows.first + 1 and self._outline.kinds[end - 1] == RowKind.LEAD:
            end -= 1
        return _Rows(rows.first, end)

    def _close(self, rows: _Rows) -> bool:
        """Give rows that only close what was opened to the block before them."""
        start, end = self._source.starts[rows.first], self._source.starts[rows.end]
        if not self._blocks or end - start > _MAX_CLOSERS:
            return False
        if not _CLOSERS.fullmatch(self._characters, start, end):
            return False
        last = self._blocks[-1]
        self._blocks[-1] = Block(last.start, end, last.kind, last.heading_path)
        return True

    def _add_groups(self, rows: _Rows, path: tuple[str, ...]) -> None:
        inside = self._inside(rows)
        level = min(map(self._level, inside), default=0)
        edges = [row for row in inside if self._level(row) == level and self._parts(row)]
        for group in self._split(rows, edges):
            for piece in self._pieces(group):
                self._add(piece, self._kind(piece), path)

    def _parts(self, row: int) -> bool:
        """Whether the statement at `row` starts a group."""
        before, after = row - 1, row
        while before > 0 and not self._source.filled[before]:
            before -= 1
        while self._outline.kinds[after] == RowKind.LEAD and after + 1 < self._source.rows:
            after += 1
        kinds = self._outline.kinds
        imports = (kinds[before] == RowKind.IMPORT) + (kinds[after] == RowKind.IMPORT)
        return imports == 1 or (imports == 0 and not self._source.filled[row - 1])

    def _pieces(self, rows: _Rows) -> list[_Rows]:
        """The rows cut until no piece is too long, or has no statement to cut it at."""
        done: list[_Rows] = []
        pending = [rows]
        while pending:
            piece = pending.pop()
            inside = self._inside(piece) if self._source.size(*piece) > MAX_PIECE else []
            best = min(map(self._rank, inside), default=None)
            edges = [row for row in inside if self._rank(row) == best]
            if edges:
                pending += reversed(self._split(piece, edges))
            else:
                done.append(piece)
        return done

    def _rank(self, row: int) -> tuple[int, bool]:
        return self._level(row), self._source.filled[row - 1]

    def _level(self, row: int) -> int:
        return self._outline.statements[row]

    def _inside(self, rows: _Rows) -> list[int]:
        """The statements that start in the rows, below the first."""
        low = bisect_left(self._statements, rows.first + 1)
        return self._statements[low : bisect_left(self._statements, rows.end)]

    def _split(self, rows: _Rows, edges: list[int]) -> list[_Rows]:
        starts, ends = [rows.first, *edges], [*edges, rows.end]
        pieces = (self._trimmed(_Rows(*pair)) for pair in zip(starts, ends, strict=True))
        return [piece for piece in pieces if piece.first < piece.end]

    def _trimmed(self, rows: _Rows) -> _Rows:
        first, end = rows
        while first < end and not self._source.filled[first]:
            first += 1
        while end > first and not self._source.filled[end - 1]:
            end -= 1
        return _Rows(first, end)

    def _kind(self, rows: _Rows) -> BlockKind:
        filled = (row for row in range(*rows) if self._source.filled[row])
        is_code = any(self._outline.kinds[row] == RowKind.CODE for row in filled)
        return BlockKind.CODE if is_code else BlockKind.OTHER

    def _add(self, rows: _Rows, kind: BlockKind, path: tuple[str, ...]) -> None:
        start, end = self._source.starts[rows.first], self._source.starts[rows.end]
        self._blocks.append(Block(start, end, kind, path))
