"""The blocks of a text as arrays: where each starts, what it is, what it belongs to."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from variorum.chunking.characters import Codes, blank_mask
from variorum.chunking.tokens import Positions
from variorum.records.text import Block, BlockKind

Mask = NDArray[np.bool_]

_KINDS = {kind: number for number, kind in enumerate(BlockKind)}


@dataclass(frozen=True, slots=True)
class Outline:
    """The blocks that have something in them.

    `starts` are the places where a chunk may begin with the block: the start of its line where
    only blanks stand before it (`at_line`), or else its first character that is not blank.
    """

    starts: Positions
    ends: Positions
    at_line: Mask
    kinds: NDArray[np.int8]
    depths: NDArray[np.int8]

    @classmethod
    def of(cls, codes: Codes, line_starts: Positions, blocks: Sequence[Block]) -> "Outline":
        """The outline of `blocks`; `line_starts` are those of the lines that are not blank."""
        filled = np.flatnonzero(~blank_mask(codes)).astype(np.int64)
        starts = np.array([block.start for block in blocks], dtype=np.int64)
        ends = np.array([block.end for block in blocks], dtype=np.int64)
        kinds = np.array([_KINDS[block.kind] for block in blocks], dtype=np.int8)
        depths = np.array([block.depth for block in blocks], dtype=np.int8)
        first = _at_or_after(filled, starts, len(codes))
        kept = first < ends
        first = first[kept]
        line = line_starts[np.searchsorted(line_starts, first, side="right") - 1]
        at_line = _at_or_after(filled, line, len(codes)) == first
        return cls(np.where(at_line, line, first), ends[kept], at_line, kinds[kept], depths[kept])

    def are(self, kinds: Set[BlockKind]) -> Mask:
        """Which blocks are of one of these kinds."""
        return _among(frozenset(kinds))[self.kinds]

    def heads(self) -> Mask:
        """Which blocks are the head of a table whose rows follow."""
        before_row: Mask = np.append(self.are({BlockKind.ROW})[1:], [False])[: len(self.kinds)]
        return before_row & self.are({BlockKind.TABLE})

    def after(self, blocks: Mask) -> Mask:
        """Which blocks follow one of `blocks`."""
        return np.concatenate([[False], blocks])[: len(blocks)]

    def owners(self, places: Positions) -> tuple[NDArray[np.intp], Mask, Mask]:
        """For each place: the last block begun by it, whether it begins there, whether inside."""
        owner = np.searchsorted(self.starts, places, side="right") - 1
        known = owner >= 0
        owner = np.maximum(owner, 0)
        first = known & (self.starts[owner] == places)
        return owner, first, known & (places < self.ends[owner])


@cache
def _among(kinds: frozenset[BlockKind]) -> Mask:
    """For the number of each kind, whether it is one of `kinds`."""
    return np.array([kind in kinds for kind in _KINDS], dtype=np.bool_)


def _at_or_after(filled: Positions, places: Positions, end: int) -> Positions:
    """The first of `filled` from each place on, or `end`."""
    return np.append(filled, [end])[np.searchsorted(filled, places)]
