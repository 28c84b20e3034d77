"""Where a text may be cut, and how good each place is: the candidates of every structural chunker.

Candidates are the starts of lines, of sentences, and of blocks, inside a line too (HTML, JSON).

Levels, best first: a heading by its depth, a blank line before a block, a line end, a sentence end,
a line end inside a sentence; then, for want of anything else, a blank line or a line end inside a
code fence or a row, and the place between a heading or a table's head and what follows it. A
definition and a speaker's turn start as a block after a blank line does, a row as a line.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from variorum.chunking.characters import Codes, blank_mask, code_points, line_starts
from variorum.chunking.graphemes import Graphemes
from variorum.chunking.outline import Outline
from variorum.chunking.tokens import Positions
from variorum.records.text import Block, BlockKind, Structure

HEADING_1 = 9
BLANK_LINE = 3
LINE = 2
SENTENCE = 1
WRAPPED_LINE = 0
CODE_BLANK_LINE = -1
CODE_LINE = -2
AFTER_HEADING = -3
NOWHERE = -4
"""Level of a cut at no structural boundary."""

Levels = NDArray[np.int8]

_WHOLE = frozenset({BlockKind.CODE, BlockKind.FRONT_MATTER, BlockKind.ROW})
_NO_SENTENCES = _WHOLE | {BlockKind.TABLE, BlockKind.HEADING, BlockKind.HTML}
_NOT_FLOWING = _NO_SENTENCES | {BlockKind.DEFINITION}
_OWN_LINE = np.int8(-128)
_CLOSING = r"[\"'”’»」』】》）)\]*_]{0,4}"
_SENTENCE_END = re.compile(
    rf"(?:(?<!^\d)(?<!^\d\d)[.!?؟۔।॥]{_CLOSING}[^\S\r\n]+"
    rf"|[。！？｡．](?![。！？｡．…]){_CLOSING}[^\S\r\n]*)(?=\S)",
    re.MULTILINE,
)
_TERMINATORS = np.array([ord(mark) for mark in ".!?؟۔।॥。！？｡．…:：;；"], dtype=np.uint32)
_CLOSERS = np.array([ord(mark) for mark in "\"'”’»」』】》）)]*_"], dtype=np.uint32)
_FIRST_MARK = 0x300


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Candidates for a cut: increasing `positions` strictly inside the text, a level for each."""

    positions: Positions
    levels: Levels


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of a text that are not blank, and what stands around each."""

    starts: Positions
    after_blank: NDArray[np.bool_]
    ends_before: Positions
    """End of the last non-blank character before the line."""


def boundaries(text: str, structure: Structure) -> Boundaries:
    """The candidates of `text`, none of them inside a grapheme. Linear in the text."""
    if not text:
        return Boundaries(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int8))
    codes = code_points(text)
    lines = _lines(codes)
    blocks = Outline.of(codes, lines.starts, structure.blocks)
    block_levels = _block_levels(blocks)
    line_levels = _line_levels(codes, lines, blocks, block_levels)
    inline = ~blocks.at_line
    sentences = _sentence_starts(text, structure.blocks)
    positions = np.concatenate([lines.starts, blocks.starts[inline], sentences])
    ranks = np.full(len(sentences), SENTENCE, dtype=np.int8)
    levels = np.concatenate([line_levels, block_levels[inline], ranks])
    positions, first = np.unique(positions, return_index=True)
    return _inside(text, codes, positions, levels[first])


def _lines(codes: Codes) -> _Lines:
    """The non-blank lines of a text."""
    seen = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(~blank_mask(codes))])
    starts = line_starts(codes)
    ends = np.append(starts[1:], len(codes))
    filled = seen[ends] > seen[starts]
    after_blank = np.concatenate([np.zeros(1, dtype=np.bool_), ~filled[:-1]])
    kept = starts[filled]
    ends_before = np.searchsorted(seen, seen[kept], side="left")
    return _Lines(kept, after_blank[filled], ends_before)


def _line_levels(codes: Codes, lines: _Lines, blocks: Outline, block_levels: Levels) -> Levels:
    """The level of the start of each non-blank line."""
    levels = np.where(lines.after_blank, BLANK_LINE, LINE).astype(np.int8)
    wrapped = ~lines.after_blank & ~_ends_a_sentence(codes, lines.ends_before)
    if not len(blocks.starts):
        levels[wrapped] = WRAPPED_LINE
        return levels
    owner, first, inside = blocks.owners(lines.starts)
    later = inside & ~first
    levels[wrapped & later & ~blocks.are(_NOT_FLOWING)[owner]] = WRAPPED_LINE
    defined = later & blocks.are({BlockKind.DEFINITION})[owner]
    levels[defined] = np.where(lines.after_blank, LINE, SENTENCE)[defined]
    whole = later & (blocks.are(_WHOLE) | blocks.heads())[owner]
    levels[whole] = np.where(lines.after_blank, CODE_BLANK_LINE, CODE_LINE)[whole]
    known = block_levels[owner]
    opens = first & (known != _OWN_LINE)
    levels[opens] = known[opens]
    under = inside & blocks.are({BlockKind.HEADING})[owner]
    levels[1:][under[:-1]] = AFTER_HEADING
    return levels


def _block_levels(blocks: Outline) -> Levels:
    """The level of the start of each block; `_OWN_LINE` where that of its line holds."""
    headings = blocks.are({BlockKind.HEADING})
    levels = np.where(blocks.at_line, _OWN_LINE, BLANK_LINE).astype(np.int8)
    levels[blocks.are({BlockKind.DEFINITION, BlockKind.TURN})] = BLANK_LINE
    levels[blocks.are({BlockKind.LIST_ITEM}) & ~blocks.at_line] = LINE
    levels[blocks.are({BlockKind.ROW})] = LINE
    levels[headings] = (HEADING_1 + 1 - np.clip(blocks.depths, 1, 6))[headings]
    beside = ~blocks.at_line | blocks.after(~blocks.at_line)
    levels[blocks.after(headings) & beside] = AFTER_HEADING
    levels[blocks.after(blocks.heads())] = AFTER_HEADING
    return levels


def _ends_a_sentence(codes: Codes, ends: Positions) -> NDArray[np.bool_]:
    """Whether the text before each end closes with a terminator, closing marks aside."""
    last = codes[np.maximum(ends - 1, 0)]
    before = codes[np.maximum(ends - 2, 0)]
    closed = np.isin(last, _CLOSERS) & np.isin(before, _TERMINATORS)
    return closed | np.isin(last, _TERMINATORS)


def _sentence_starts(text: str, blocks: tuple[Block, ...]) -> Positions:
    """Where a sentence starts inside a line of running text."""
    found = [match.end() for match in _SENTENCE_END.finditer(text)]
    positions: Positions = np.array(found, dtype=np.int64)
    if not blocks or not found:
        return positions
    owner = np.searchsorted([block.start for block in blocks], positions, side="right") - 1
    silent = np.array([block.kind in _NO_SENTENCES for block in blocks])
    ends = np.array([block.end for block in blocks], dtype=np.int64)
    index = np.maximum(owner, 0)
    kept = ~((owner >= 0) & silent[index] & (positions < ends[index]))
    return np.extract(kept, positions)


def _inside(text: str, codes: Codes, positions: Positions, levels: Levels) -> Boundaries:
    """Drop the ends of the text and what is not a grapheme boundary."""
    kept = (positions > 0) & (positions < len(text))
    doubtful = np.flatnonzero(kept & (codes[np.minimum(positions, len(text) - 1)] >= _FIRST_MARK))
    graphemes = Graphemes(text)
    for index in doubtful.tolist():
        kept[index] = graphemes.is_boundary(int(positions[index]))
    return Boundaries(positions[kept], levels[kept])
