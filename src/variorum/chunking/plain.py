"""A structure for a text that no parser read."""

from itertools import pairwise

import numpy as np

from variorum.chunking.characters import blank_mask, code_points, line_starts
from variorum.records.text import Block, BlockKind, Structure


def plain_structure(text: str) -> Structure:
    """Paragraphs between blank lines, no headings: linear in the text."""
    if not text or text.isspace():
        return Structure((), parser="plain-1")
    codes = code_points(text)
    seen = np.concatenate([[0], np.cumsum(~blank_mask(codes))])
    starts = line_starts(codes)
    ends = np.append(starts[1:], len(codes))
    filled = seen[ends] > seen[starts]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], filled, [False]]).astype(np.int8)))
    bounds = np.append(starts, len(codes))[edges].tolist()
    blocks = tuple(
        Block(start, end, BlockKind.PARAGRAPH)
        for index, (start, end) in enumerate(pairwise(bounds))
        if index % 2 == 0
    )
    return Structure(blocks, parser="plain-1")
