"""Structural chunking: sections and whole blocks, packed into chunks."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NoReturn

import numpy as np

from variorum.chunking.anchored import Cutter, divide
from variorum.chunking.boundaries import AFTER_HEADING, Boundaries, boundaries
from variorum.chunking.candidates import Candidates
from variorum.chunking.characters import Codes, code_points, line_starts, window_hashes
from variorum.chunking.chunker import Chunker, Shape, canonical_spec, refuse
from variorum.chunking.outline import Outline
from variorum.chunking.plain import plain_structure
from variorum.chunking.tokens import Positions, TokenMap
from variorum.records.errors import InputError
from variorum.records.text import BlockKind, Span, Structure, Text


@dataclass(frozen=True)
class Structural:
    """Keep sections apart and blocks whole, as far as they fit.

    A section with `min_tokens` shares no chunk with another; smaller ones beside each other are
    taken together. A stretch over `max_tokens` is cut between two blocks, at the best boundary
    (`boundaries`, then the hash of the text that follows) that leaves `min_tokens` on both sides,
    or else at the one nearest to its middle, since a whole block counts for more than a minimum. A
    table and its rows are one block while they fit.

    A block over `max_tokens` is cut by the anchored rule, together with what is too small to stand
    beside it, where `oversize` is `split`, and refused where it is `reject`. A text without blocks
    is taken as paragraphs.

    Under the reuse planner these are preferences, as the boundaries are priced.

    Raises:
        InputError: kind `bad-parameter`, where min_tokens < 1, max_tokens < 2 * min_tokens, or
            oversize is another word; `block-too-large` from `spans`, where `oversize` is `reject`.
    """

    max_tokens: int = 400
    min_tokens: int = 64
    oversize: str = "split"

    def __post_init__(self) -> None:
        if self.min_tokens < 1:
            refuse("structural", "min_tokens", self.min_tokens, "at least 1")
        if self.max_tokens < 2 * self.min_tokens:
            allowed = f"at least twice min_tokens={self.min_tokens}"
            refuse("structural", "max_tokens", self.max_tokens, allowed)
        if self.oversize not in ("split", "reject"):
            refuse("structural", "oversize", self.oversize, "split or reject")

    @property
    def spec(self) -> str:
        """The canonical spec."""
        return canonical_spec("structural", self)

    @property
    def overlaps(self) -> bool:
        """Never."""
        return False

    @property
    def shape(self) -> Shape:
        """A target halfway between the minimum and the maximum."""
        target = (self.min_tokens + self.max_tokens) // 2
        return Shape(self.min_tokens, target, self.max_tokens)

    def limited(self, max_tokens: int) -> Chunker:
        """The same rule up to `max_tokens`; a minimum over half of that comes down to half."""
        if max_tokens >= self.max_tokens:
            return self
        most = max(2, max_tokens)
        return replace(self, max_tokens=most, min_tokens=min(self.min_tokens, most // 2))

    def spans(self, text: str, structure: Structure, tokens: TokenMap) -> list[Span]:
        """The sections, groups of sections, and parts of sections."""
        if not text:
            return []
        known = structure if structure.blocks else plain_structure(text)
        packer = _Packer(text, known, tokens, self)
        return [span for stretch in packer.stretches() for span in packer.pack(stretch)]


class _Packer:
    """Cuts one text between its blocks, and inside the blocks that do not fit."""

    def __init__(
        self, text: str, structure: Structure, tokens: TokenMap, chunker: Structural
    ) -> None:
        codes = code_points(text)
        outline = Outline.of(codes, line_starts(codes), structure.blocks)
        self._text = text
        self._tokens = tokens
        self._chunker = chunker
        self._cutter = Cutter(text, structure, tokens, chunker.min_tokens)
        sizes = tokens.before_each(outline.ends) - tokens.before_each(outline.starts)
        too_large = sizes > chunker.max_tokens
        self._too_large: list[int] = outline.starts[too_large].tolist()
        if chunker.oversize == "reject" and self._too_large:
            _refuse_block(text, self._too_large[0], int(sizes[too_large][0]), chunker)
        found = boundaries(text, structure)
        headings = outline.are({BlockKind.HEADING})
        opens = np.intersect1d(outline.starts[headings & ~outline.after(headings)], found.positions)
        self._sections = sorted({0, *opens.tolist(), len(text)})
        self._tiers = _tiers(codes, found, outline, opens, tokens)

    def stretches(self) -> Iterator[Span]:
        """Each section that fills the minimum, and the smaller ones beside each other together."""
        first: int | None = None
        for start, end in pairwise(self._sections):
            small = self._tokens.count(start, end) < self._chunker.min_tokens
            if first is not None and not small:
                yield Span(first, start)
            if not small:
                yield Span(start, end)
                first = None
            elif first is None:
                first = start
        if first is not None:
            yield Span(first, len(self._text))

    def pack(self, stretch: Span) -> list[Span]:
        """The chunks of a stretch, in order."""
        return divide(stretch, self._cut)

    def _cut(self, span: Span) -> int:
        """Where `span` is cut, or its end where it stays whole."""
        if self._tokens.count(*span) <= self._chunker.max_tokens:
            return span.end
        holds_too_large = bisect_left(self._too_large, span.start) < bisect_left(
            self._too_large, span.end
        )
        for tier in self._tiers:
            best = tier.best(span, self._chunker.min_tokens)
            if best is None and not holds_too_large:
                best = tier.middle(span)
            if best is not None:
                return best
        return self._cutter.cut(span)


def _tiers(
    codes: Codes, found: Boundaries, outline: Outline, sections: Positions, tokens: TokenMap
) -> list[Candidates]:
    """Places between sections, between blocks (a table is one), then between the rows of tables.

    Of the last two, those that part a head from what follows it come last.
    """
    priorities = found.levels + window_hashes(codes, found.positions)
    follows = outline.after(outline.are({BlockKind.TABLE, BlockKind.ROW}))
    inner = outline.starts[outline.are({BlockKind.ROW}) & follows]
    between = np.isin(found.positions, outline.starts)
    rows = np.isin(found.positions, inner)
    firm = found.levels > AFTER_HEADING
    kept = [
        np.isin(found.positions, sections),
        between & ~rows & firm,
        between & ~rows & ~firm,
        rows & firm,
        rows & ~firm,
    ]
    return [Candidates(found.positions[one], priorities[one], tokens) for one in kept]


def _refuse_block(text: str, start: int, size: int, chunker: Structural) -> NoReturn:
    line = Text(text).line_of(start)
    raise InputError(
        f"the block at line {line} has {size} tokens, over max_tokens={chunker.max_tokens}",
        kind="block-too-large",
        subject=f"line {line}",
        expected=f"at most {chunker.max_tokens} tokens in one block",
        found=f"{size} tokens",
        remedy="split the block, raise max_tokens, or choose oversize=split",
    )
