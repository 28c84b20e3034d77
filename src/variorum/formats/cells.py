"""Which rows of a table a range of a text touches."""

from collections.abc import Iterator
from typing import NamedTuple

from variorum.records.text import Block, BlockKind, Span, Structure


class CellRange(NamedTuple):
    """Rows of a table: `table` counts the tables of the text from 0, rows count from 1.

    `first_row` and `last_row` are inclusive, and both 0 where only the head is touched. `has_head`
    says that the range itself holds some of the head.
    """

    table: int
    first_row: int
    last_row: int
    has_head: bool


class _Placed(NamedTuple):
    """A block of a table with the number of its table, and of its row, 0 for the head."""

    block: Block
    table: int
    row: int


def _placed(blocks: tuple[Block, ...]) -> Iterator[_Placed]:
    """The blocks of tables, numbered. A head begins a table, and so does a row of no table yet.

    Rows that repeat one head are one table whatever stands between them; rows without a head are
    one as long as nothing does.
    """
    table, row = -1, 0
    head: Span | None = None
    previous: Block | None = None
    for block in blocks:
        if block.kind is BlockKind.TABLE:
            table, row, head = table + 1, 0, Span(block.start, block.end)
            yield _Placed(block, table, 0)
        elif block.kind is BlockKind.ROW:
            goes_on = previous is not None and previous.kind is BlockKind.ROW
            if block.repeats is None and not (goes_on and head is None):
                table, row, head = table + 1, 0, None
            row += 1
            yield _Placed(block, table, row)
        previous = block


def cell_range(structure: Structure, span: Span) -> CellRange | None:
    """The rows that `span` touches, of the first table that it touches; None where it touches none.

    Linear in the blocks.
    """
    touched = [
        placed
        for placed in _placed(structure.blocks)
        if placed.block.start < span.end and span.start < placed.block.end
    ]
    if not touched:
        return None
    table = touched[0].table
    rows = [placed.row for placed in touched if placed.table == table]
    filled = [row for row in rows if row]
    return CellRange(table, min(filled, default=0), max(filled, default=0), 0 in rows)
