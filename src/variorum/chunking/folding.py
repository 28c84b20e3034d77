"""A text with its line ends folded to LF, and the way back."""

from bisect import bisect_left
from dataclasses import replace

import numpy as np

from variorum.chunking.characters import code_points
from variorum.chunking.render import fold_line_ends
from variorum.records.text import Block, Span, Structure


class Folded:
    """The characters that every later step sees, with positions mapped both ways.

    Chunks are cut in the folded characters, so that a change of line ends moves no boundary, and
    are mapped back to ranges of the text itself (invariant 1). No position falls inside a CR LF.
    """

    def __init__(self, text: str) -> None:
        self.characters = fold_line_ends(text)
        self._pairs: list[int] = []
        self._folded_pairs: list[int] = []
        if len(self.characters) != len(text):
            codes = code_points(text)
            pairs = np.flatnonzero((codes[:-1] == 13) & (codes[1:] == 10))
            self._pairs = pairs.tolist()
            self._folded_pairs = (pairs - np.arange(len(pairs))).tolist()

    def fold(self, span: Span) -> Span:
        """A span of the text as a span of the folded characters."""
        start, end = (place - bisect_left(self._pairs, place) for place in span)
        return Span(start, end)

    def unfold(self, span: Span) -> Span:
        """A span of the folded characters as a span of the text."""
        start, end = (place + bisect_left(self._folded_pairs, place) for place in span)
        return Span(start, end)

    def structure(self, structure: Structure) -> Structure:
        """The structure of the text with its blocks in folded positions."""
        if not self._pairs:
            return structure
        blocks = tuple(map(self._block, structure.blocks))
        return replace(structure, blocks=blocks, imports=tuple(map(self.fold, structure.imports)))

    def _block(self, block: Block) -> Block:
        start, end = self.fold(Span(block.start, block.end))
        repeats = block.repeats and self.fold(block.repeats)
        return replace(block, start=start, end=end, repeats=repeats)
