"""From places to blocks: what the parsers of formats without a meaning for lines share.

A parser of such a format names the places where its pieces begin. A piece runs to the next one, so
that no character is lost whatever the parser made of the text, and is trimmed of white space.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from variorum.records.text import Block, BlockKind, Span

_FILLED: Final = re.compile(r"\S")


class Piece(NamedTuple):
    """Where a block begins and what it is; `head` is where the piece it repeats begins."""

    start: int
    kind: BlockKind
    path: tuple[str, ...] = ()
    depth: int = 0
    head: int | None = None


def first_filled(characters: str, start: int, end: int) -> int:
    """The first place from `start` on that is not blank, or `end`."""
    found = _FILLED.search(characters, start, end)
    return found.start() if found else end


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces in order: the first at each place, `OTHER` pieces of one section made one."""
    last: Piece | None = None
    for piece in sorted(pieces, key=lambda piece: piece.start):
        same_place = last is not None and last.start == piece.start
        other = last is not None and last.kind is piece.kind is BlockKind.OTHER
        if same_place or (other and last is not None and last.path == piece.path):
            continue
        yield piece
        last = piece


def tiled(characters: str, pieces: Iterable[Piece]) -> tuple[Block, ...]:
    """The pieces as blocks that cover every character but blanks; what precedes them is `OTHER`."""
    ordered = list(_joined([*pieces, Piece(0, BlockKind.OTHER)]))
    ends = [*(piece.start for piece in ordered[1:]), len(characters)]
    spans: dict[int, Span] = {}
    blocks = []
    for piece, end in zip(ordered, ends, strict=True):
        start = first_filled(characters, piece.start, end)
        if start == end:
            continue
        stop = start + len(characters[start:end].rstrip())
        spans[piece.start] = Span(start, stop)
        repeats = spans.get(piece.head) if piece.head is not None else None
        blocks.append(Block(start, stop, piece.kind, piece.path, piece.depth, repeats))
    return tuple(blocks)
