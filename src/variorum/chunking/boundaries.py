"""Where a text may be cut, and how good each place is: the candidates of every structural chunker.

Levels, best first: a heading by its depth, a blank line before a block, a line end, a sentence end,
a line end inside a sentence; then, for want of anything else, a blank line or a line end inside a
code fence, and the place between a heading and what follows it.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from variorum.chunking.characters import Codes, blank_mask, code_points, line_starts
from variorum.chunking.graphemes import Graphemes
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

_WHOLE = frozenset({BlockKind.CODE, BlockKind.FRONT_MATTER})
_NO_SENTENCES = _WHOLE | {BlockKind.TABLE, BlockKind.HEADING, BlockKind.HTML}
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
    line_levels = _line_levels(codes, lines, structure.blocks)
    sentences = _sentence_starts(text, structure.blocks)
    positions = np.concatenate([lines.starts, sentences])
    levels = np.concatenate([line_levels, np.full(len(sentences), SENTENCE, dtype=np.int8)])
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


def _line_levels(codes: Codes, lines: _Lines, blocks: tuple[Block, ...]) -> Levels:
    """The level of the start of each non-blank line."""
    levels = np.where(lines.after_blank, BLANK_LINE, LINE).astype(np.int8)
    wrapped = ~lines.after_blank & ~_ends_a_sentence(codes, lines.ends_before)
    if not blocks:
        levels[wrapped] = WRAPPED_LINE
        return levels
    owner, first, inside = _owners(lines.starts, blocks)
    kinds = [block.kind for block in blocks]
    flowing = np.array([kind not in _NO_SENTENCES for kind in kinds])[owner]
    whole = np.array([kind in _WHOLE for kind in kinds])[owner]
    depth = np.array([block.depth for block in blocks], dtype=np.int8)[owner]
    heading = np.array([kind is BlockKind.HEADING for kind in kinds])[owner] & inside
    later = inside & ~first
    levels[wrapped & flowing & later] = WRAPPED_LINE
    levels[later & whole] = np.where(lines.after_blank, CODE_BLANK_LINE, CODE_LINE)[later & whole]
    opens = heading & first
    levels[opens] = (HEADING_1 + 1 - np.clip(depth, 1, 6))[opens]
    levels[1:][heading[:-1]] = AFTER_HEADING
    return levels


def _owners(
    starts: Positions, blocks: tuple[Block, ...]
) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.bool_]]:
    """For each line: the last block begun by its start, whether it begins there, whether inside."""
    block_starts = np.array([block.start for block in blocks], dtype=np.int64)
    block_ends = np.array([block.end for block in blocks], dtype=np.int64)
    line_of_block = np.searchsorted(starts, block_starts, side="right") - 1
    snapped = starts[np.maximum(line_of_block, 0)]
    owner = np.searchsorted(snapped, starts, side="right") - 1
    known = owner >= 0
    owner = np.maximum(owner, 0)
    inside = known & (starts < block_ends[owner])
    return owner, known & (snapped[owner] == starts), inside


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
