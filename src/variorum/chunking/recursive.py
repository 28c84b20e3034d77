"""Recursive separators: the coarsest one that helps, its pieces packed greedily."""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace

import numpy as np

from variorum.chunking.chunker import Chunker, Shape, canonical_spec, refuse
from variorum.chunking.fixed import Fixed
from variorum.chunking.graphemes import Graphemes
from variorum.chunking.tokens import Positions, TokenMap
from variorum.records.text import Span, Structure

_LINE_END = r"(?:\r\n|\r(?!\n)|\n)"
_BLANK_LINE = re.compile(rf"{_LINE_END}(?:[^\S\r\n]*{_LINE_END})+")
_TWO_LINE_ENDS = re.compile(rf"{_LINE_END}{{2}}")
_LINE = re.compile(_LINE_END)
_SPACE = re.compile(" ")
_SPACED = re.compile(r"[.!?。！？]\s+")
_MARKS = re.compile(r"[.!?;。！？；]\s+")
_FULL_WIDTH = re.compile(r"[。！？｡．](?![。！？｡．…])[\"'”’」』】》）]{0,4}\s*")

_RULES = {
    "paper": (_BLANK_LINE, _LINE, _SPACED, _FULL_WIDTH),
    "guide": (_TWO_LINE_ENDS, _LINE, _MARKS, _FULL_WIDTH, _SPACE),
    "default": (_TWO_LINE_ENDS, _LINE, _SPACE),
}
"""The separators of each set of rules, coarsest first; between tokens comes after them all."""


@dataclass(frozen=True)
class Recursive:
    """Cut at the coarsest separator, and what is still too large at the next one.

    Pieces end after a separator and are packed greedily up to `max_tokens`; a piece that is larger
    alone is cut by the next separator, at last between tokens.

    `rules` names the separators: `paper`, blank lines, line ends, sentence ends; `guide`, empty
    lines, line ends, `. ! ? ;` before white space, spaces; `default`, empty lines, line ends,
    spaces, the common default of recursive character splitters.

    `terminators` says where a sentence of `paper` and `guide` ends: `spaced`, at a mark followed by
    white space; `any` cuts a piece that this leaves too large after a full-width terminator alone,
    with its closing quotes, as Chinese and Japanese are written.

    Raises:
        InputError: kind `bad-parameter`, where max_tokens < 1, or rules or terminators is another
            word.
    """

    max_tokens: int = 400
    terminators: str = "any"
    rules: str = "paper"

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            refuse("recursive", "max_tokens", self.max_tokens, "at least 1")
        if self.rules not in _RULES:
            refuse("recursive", "rules", self.rules, "paper, guide or default")
        if self.terminators not in ("any", "spaced"):
            refuse("recursive", "terminators", self.terminators, "any or spaced")

    @property
    def spec(self) -> str:
        """The canonical spec."""
        return canonical_spec("recursive", self)

    @property
    def overlaps(self) -> bool:
        """Never."""
        return False

    @property
    def shape(self) -> Shape:
        """Greedy packing leaves pieces of about five sixths of the maximum."""
        target = max(1, self.max_tokens * 5 // 6)
        return Shape(max(1, self.max_tokens // 4), target, self.max_tokens)

    def limited(self, max_tokens: int) -> Chunker:
        """The same rules, packed up to `max_tokens`."""
        if max_tokens >= self.max_tokens:
            return self
        return replace(self, max_tokens=max_tokens)

    def spans(self, text: str, structure: Structure, tokens: TokenMap) -> list[Span]:
        """The packed pieces of `text`; the structure plays no part."""
        graphemes = Graphemes(text)
        spans: list[Span] = []
        pending = [(Span(0, len(text)), 0)] if text else []
        separators = self._separators(text, tokens, graphemes)
        while pending:
            piece, level = pending.pop()
            if tokens.fits(*piece, self.max_tokens):
                spans.append(piece)
            elif level == len(separators):
                spans.extend(Fixed(self.max_tokens).parts(piece, tokens, graphemes))
            else:
                packed = self._pack(piece, separators[level], tokens)
                pending.extend((part, level + 1) for part in reversed(packed))
        return spans

    def _separators(self, text: str, tokens: TokenMap, graphemes: Graphemes) -> "list[_Separator]":
        full_width = self.terminators == "any"
        patterns = [one for one in _RULES[self.rules] if full_width or one is not _FULL_WIDTH]
        return [_Separator.find(pattern, text, tokens, graphemes) for pattern in patterns]

    def _pack(self, piece: Span, separator: "_Separator", tokens: TokenMap) -> list[Span]:
        """Cut `piece` at the separator and pack what fits together."""
        packed: list[Span] = []
        start = piece.start
        while start < piece.end:
            reach = tokens.before(start) + self.max_tokens
            fits = tokens.before(piece.end) <= reach
            end = piece.end if fits else separator.last_end(start, piece.end, reach)
            while not tokens.fits(start, end, self.max_tokens):
                earlier = separator.last_before(start, end)
                if earlier is None:
                    break
                end = earlier
            packed.append(Span(start, end))
            start = end
        return packed


@dataclass(frozen=True, slots=True)
class _Separator:
    """The ends of one separator in a text, and the tokens before each."""

    ends: list[int]
    before: list[int]

    @classmethod
    def find(
        cls, pattern: re.Pattern[str], text: str, tokens: TokenMap, graphemes: Graphemes
    ) -> "_Separator":
        found = (match.end() for match in pattern.finditer(text))
        ends = [end for end in found if graphemes.is_boundary(end)]
        positions: Positions = np.array(ends, dtype=np.int64)
        return cls(ends, tokens.before_each(positions).tolist())

    def last_end(self, start: int, end: int, reach: int) -> int:
        """The last separator after `start` with at most `reach` tokens before it, or the next."""
        first = bisect_right(self.ends, start)
        last = bisect_right(self.before, reach, lo=first) - 1
        index = max(first, last)
        return min(self.ends[index], end) if index < len(self.ends) else end

    def last_before(self, start: int, end: int) -> int | None:
        """The last separator between `start` and `end`."""
        index = bisect_left(self.ends, end) - 1
        return self.ends[index] if index >= 0 and self.ends[index] > start else None
