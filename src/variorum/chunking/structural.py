"""Structural chunking: sections and whole blocks, packed into chunks."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from variorum.chunking.anchored import Cutter, divide
from variorum.chunking.boundaries import AFTER_HEADING, Boundaries, boundaries
from variorum.chunking.candidates import Candidates
from variorum.chunking.characters import code_points, line_starts, window_hashes
from variorum.chunking.chunker import Chunker, Shape, canonical_spec, refuse
from variorum.chunking.outline import Mask, Outline
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
        """A target at which planned spans average what spans cut afresh do."""
        target = (self.min_tokens + self.max_tokens) * 9 // 20
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
        if chunker.oversize == "reject":
            _refuse_too_large(text, outline, tokens, chunker)
        found = boundaries(text, structure)
        headings = outline.are({BlockKind.HEADING})
        opens = np.intersect1d(outline.starts[headings & ~outline.after(headings)], found.positions)
        self._sections = sorted({0, *opens.tolist(), len(text)})
        priorities = found.levels + window_hashes(codes, found.positions)
        self._tiers = _tiers(found, priorities, outline, opens, tokens, chunker.max_tokens)

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
        if self._tokens.fits(*span, self._chunker.max_tokens):
            return span.end
        for tier in self._tiers:
            place = tier.cut(span, self._chunker.min_tokens)
            if place is not None:
                return place
        return self._cutter.cut(span)


@dataclass(frozen=True, slots=True)
class _Tier:
    """Places of one kind, and the starts of what a cut there cannot keep whole."""

    places: Candidates
    too_large: list[int]
    parts_heads: bool = False
    """Whether a cut there parts a head from what follows it: done only to keep that whole."""

    def cut(self, span: Span, min_tokens: int) -> int | None:
        """The best place that leaves the minimum, or else one that keeps all in `span` whole."""
        best = None if self.parts_heads else self.places.best(span, min_tokens)
        if best is not None:
            return best
        first, last = (bisect_left(self.too_large, place) for place in span)
        return self.places.middle(span) if first == last else None


def _tiers(
    found: Boundaries,
    priorities: NDArray[np.float64],
    outline: Outline,
    sections: Positions,
    tokens: TokenMap,
    max_tokens: int,
) -> list[_Tier]:
    """Places between sections, between blocks (a table is one), then between the rows of tables."""
    rows = outline.are({BlockKind.ROW})
    inner = rows & outline.after(rows | outline.are({BlockKind.TABLE}))
    tables = _too_large(outline, np.flatnonzero(~inner), tokens, max_tokens)
    blocks = _too_large(outline, np.arange(len(inner)), tokens, max_tokens)
    outer = np.isin(found.positions, outline.starts[~inner])
    within = np.isin(found.positions, outline.starts[inner])
    firm = found.levels > AFTER_HEADING

    def tier(kept: Mask, too_large: list[int], *, parts_heads: bool = False) -> _Tier:
        places = Candidates(found.positions[kept], priorities[kept], tokens)
        return _Tier(places, too_large, parts_heads)

    return [
        tier(np.isin(found.positions, sections), tables),
        tier(outer & firm, tables),
        tier(outer & ~firm, tables, parts_heads=True),
        tier(within & firm, blocks),
        tier(within & ~firm, blocks, parts_heads=True),
    ]


def _too_large(
    outline: Outline, firsts: NDArray[np.intp], tokens: TokenMap, max_tokens: int
) -> list[int]:
    """Starts of the groups of blocks over the maximum; a group runs up to the next first one."""
    lasts = np.append(firsts, len(outline.starts))[1:] - 1
    starts = outline.starts[firsts]
    sizes = tokens.before_each(outline.ends[lasts]) - tokens.before_each(starts)
    found: list[int] = starts[sizes > max_tokens].tolist()
    return found


def _refuse_too_large(text: str, outline: Outline, tokens: TokenMap, chunker: Structural) -> None:
    sizes = tokens.before_each(outline.ends) - tokens.before_each(outline.starts)
    too_large = np.flatnonzero(sizes > chunker.max_tokens)
    if len(too_large):
        first = int(too_large[0])
        _refuse_block(text, int(outline.starts[first]), int(sizes[first]), chunker)


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
