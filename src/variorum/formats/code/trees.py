"""Syntax trees within a bound on the work, and a walk over the nodes that span rows."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Point, Tree

MAX_BYTES: Final = 4_000_000
"""Larger files are not parsed: a tree takes up to 80 bytes of memory for a byte of source."""
_READ_BYTES: Final = 1 << 16
_FREE_REPORTS: Final = 1_000
_BYTES_PER_REPORT: Final = 10


class NotParsedError(Exception):
    """There is no tree to go by; the message says why."""


class Meter:
    """Counts the parser's reports, one for every 100 of its steps, and stops it at the limit.

    A count of steps, unlike a time, gives the same structure on every machine. Dense minified code
    takes one report for every 45 bytes; the limit is one for every 10, and 1,000 more.
    """

    def __init__(self, size_bytes: int) -> None:
        self.limit = _FREE_REPORTS + size_bytes // _BYTES_PER_REPORT
        self.reports = 0

    def __call__(self, byte: int, has_error: bool) -> bool:
        """Whether to stop."""
        self.reports += 1
        return self.reports > self.limit


def _reader(content: bytes) -> "Callable[[int, Point], bytes]":
    return lambda byte, point: content[byte : byte + _READ_BYTES]


def tree_of(content: bytes, language: "Language", meter: Meter) -> "Tree":
    """The syntax tree of UTF-8 text.

    Raises:
        NotParsedError: the content is too large, or the meter stopped the parser.
    """
    from tree_sitter import Parser

    if len(content) > MAX_BYTES:
        raise NotParsedError(f"larger than {MAX_BYTES:,} bytes")
    try:
        return Parser(language).parse(_reader(content), progress_callback=meter)
    except ValueError as error:
        if meter.reports > meter.limit:
            raise NotParsedError(f"over {meter.limit * 100:,} steps of the parser") from error
        raise


def last_row(node: "Node") -> int:
    """The last row with a character of the node, its final line end aside."""
    end, start = node.end_point, node.start_point
    return end.row - 1 if end.column == 0 and end.row > start.row else end.row


def spanning_nodes(
    tree: "Tree", opaque: frozenset[str], wrappers: frozenset[str]
) -> "Iterator[tuple[int, Node]]":
    """Every node with its depth, parents first, without what is inside a row or an opaque node.

    Blocks are whole lines, so that what lies inside a single row makes no difference to them; only
    the root and wrappers are always entered. Not recursive, linear in the nodes it gives.
    """
    cursor = tree.walk()
    depth = 0
    while True:
        node = cursor.node
        if node is None:
            return
        yield depth, node
        kind = node.type
        spans = depth == 0 or last_row(node) > node.start_point.row or kind in wrappers
        if spans and kind not in opaque and cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1
