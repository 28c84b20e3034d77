"""Parts of a text, each read on its own: its structure, its candidates, its tokens."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from variorum.chunking.boundaries import NOWHERE, Boundaries, boundaries
from variorum.chunking.chunker import Chunker, Reading
from variorum.chunking.occurrences import meeting_place
from variorum.records.text import Block, Span, Structure

_LOOK_BACK = 256
_CLOSING_CHARACTERS = 8
"""Characters before a boundary's white space that tell its level: a terminator, closing marks."""


class Part:
    """The characters `[start, end)` of a text; all other positions here count from `start`."""

    def __init__(self, parts: "Parts", start: int, end: int) -> None:
        self.start, self.end = start, end
        self.characters = parts.characters[start:end]
        self.tokens = parts.tokens.part(start, end)
        self._structure = parts.structure(start, end)
        self._chunker = parts.chunker

    @cached_property
    def candidates(self) -> Boundaries:
        """The structural candidates inside."""
        return boundaries(self.characters, self._structure)

    @cached_property
    def fresh(self) -> list[int]:
        """The cuts that the chunker gives this part alone, both ends included."""
        spans = self._chunker.spans(self.characters, self._structure, self.tokens)
        inside = {meeting_place(self.characters, span.start) for span in spans}
        return sorted({0, len(self.characters), *inside})


class Parts:
    """Cuts one text into parts, and tells what stands at single places of it."""

    def __init__(self, reading: Reading, chunker: Chunker) -> None:
        self.characters = reading.characters
        self.tokens = reading.tokens
        self.chunker = chunker
        self._whole = reading.structure
        self._starts = [block.start for block in reading.structure.blocks]
        self._ends = [block.end for block in reading.structure.blocks]
        self._imports = [span.start for span in reading.structure.imports]

    def part(self, start: int, end: int) -> Part:
        """The part `[start, end)`; nothing of it is read before it is asked for."""
        return Part(self, start, end)

    def anchors(self, start: int, end: int) -> list[int]:
        """The structural candidates between `start` and `end`, in the positions of the text."""
        found = boundaries(self.characters[start:end], self.structure(start, end))
        return [start + position for position in found.positions.tolist()]

    def structure(self, start: int, end: int) -> Structure:
        """The blocks inside `[start, end)`, clipped to it and counted from `start`."""
        if (start, end) == (0, len(self.characters)):
            return self._whole
        blocks = tuple(self._clipped(start, end, -start))
        low, high = bisect_left(self._imports, start), bisect_left(self._imports, end)
        imports = (_clip(span, start, end, -start) for span in self._whole.imports[low:high])
        return replace(self._whole, blocks=blocks, imports=tuple(imports))

    def levels(self, positions: Sequence[int]) -> list[int]:
        """The level of a boundary at each position, read from the few characters around it."""
        pieces: list[str] = []
        blocks: list[Block] = []
        places: list[int] = []
        length = 0
        for position in positions:
            start, end = self._surroundings(position)
            pieces.append(self.characters[start:end] + "\n")
            blocks.extend(self._clipped(start, end, length - start))
            places.append(length + position - start)
            length += len(pieces[-1])
        found = boundaries("".join(pieces), replace(self._whole, blocks=tuple(blocks)))
        known = dict(zip(found.positions.tolist(), found.levels.tolist(), strict=True))
        return [known.get(place, NOWHERE) for place in places]

    def _surroundings(self, position: int) -> tuple[int, int]:
        """The last filled characters before a position, and the first one from it on."""
        behind = self.characters[max(0, position - _LOOK_BACK) : position]
        start = position - len(behind) + len(behind.rstrip()) - _CLOSING_CHARACTERS
        ahead = self.characters[position : position + _LOOK_BACK]
        return max(0, start), position + len(ahead) - len(ahead.lstrip()) + 1

    def _clipped(self, start: int, end: int, shift: int) -> Iterator[Block]:
        """The blocks that hold characters of `[start, end)`, clipped to them and moved."""
        low, high = bisect_right(self._ends, start), bisect_left(self._starts, end)
        for block in self._whole.blocks[low:high]:
            repeats = block.repeats
            inside = repeats is not None and start <= repeats.start
            kept = _clip(repeats, start, end, shift) if repeats and inside else None
            span = _clip(Span(block.start, block.end), start, end, shift)
            yield replace(block, start=span.start, end=span.end, repeats=kept)


def _clip(span: Span, start: int, end: int, shift: int) -> Span:
    return Span(max(span.start, start) + shift, min(span.end, end) + shift)
