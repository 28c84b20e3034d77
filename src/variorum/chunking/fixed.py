"""Windows of a fixed number of tokens."""

from dataclasses import dataclass

from variorum.chunking.chunker import CUT_ANYWHERE, Chunker, Shape, canonical_spec, refuse
from variorum.chunking.graphemes import Graphemes
from variorum.chunking.tokens import TokenMap
from variorum.records.text import Span, Structure


@dataclass(frozen=True)
class Fixed:
    """Windows of `max_tokens` tokens, each beginning `overlap_tokens` before the last one's end.

    Ends move back to a grapheme boundary; a grapheme larger than a window is kept whole. An
    overlap that begins inside a grapheme begins at its start, so it may be a few tokens longer
    than asked. A text that fits is one span, and no span lies inside the one before it.

    Raises:
        InputError: kind `bad-parameter`, where max_tokens < 1 or overlap_tokens is not in
            [0, max_tokens).
    """

    max_tokens: int = 304
    overlap_tokens: int = 0

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            allowed = f"at least 1, and more than overlap_tokens={self.overlap_tokens}"
            refuse("fixed", "max_tokens", self.max_tokens, allowed)
        if not 0 <= self.overlap_tokens < self.max_tokens:
            allowed = f"0 or more, and less than max_tokens={self.max_tokens}"
            refuse("fixed", "overlap_tokens", self.overlap_tokens, allowed)

    @property
    def spec(self) -> str:
        """The canonical spec."""
        return canonical_spec("fixed", self)

    @property
    def overlaps(self) -> bool:
        """Whether neighbouring spans share characters."""
        return self.overlap_tokens > 0

    @property
    def shape(self) -> Shape:
        """Full windows, hardly ever cut at a structural boundary."""
        return Shape(max(1, self.max_tokens // 3), self.max_tokens, self.max_tokens, CUT_ANYWHERE)

    def limited(self, max_tokens: int) -> Chunker:
        """Windows of at most `max_tokens`; an overlap that no longer fits is cut to half."""
        if max_tokens >= self.max_tokens:
            return self
        overlap = self.overlap_tokens
        return Fixed(max_tokens, overlap if overlap < max_tokens else max_tokens // 2)

    def spans(self, text: str, structure: Structure, tokens: TokenMap) -> list[Span]:
        """The windows of `text`; the structure plays no part."""
        if not text:
            return []
        graphemes = Graphemes(text)
        spans: list[Span] = []
        start = end = 0
        while end < len(text):
            if spans:
                start = self._next_start(spans[-1], tokens, graphemes)
            end = self.window_end(start, len(text), tokens, graphemes)
            if spans and end <= spans[-1].end:
                start = spans[-1].end
                end = self.window_end(start, len(text), tokens, graphemes)
            spans.append(Span(start, end))
        return spans

    def window_end(self, start: int, length: int, tokens: TokenMap, graphemes: Graphemes) -> int:
        """Where the window from `start` ends: after it, at a grapheme boundary.

        The last one up to which the window, tokenized on its own, has at most `max_tokens` tokens.
        """
        first = tokens.before(start)
        for index in range(first + self.max_tokens, first, -1):
            end = graphemes.floor(tokens.position(index, length))
            if end <= start:
                break
            if tokens.fits(start, end, self.max_tokens):
                return end
        return graphemes.ceiling(max(tokens.position(first + 1, length), start + 1))

    def parts(self, span: Span, tokens: TokenMap, graphemes: Graphemes) -> list[Span]:
        """`span` in full windows without overlap."""
        parts: list[Span] = []
        start = span.start
        while start < span.end:
            end = min(self.window_end(start, span.end, tokens, graphemes), span.end)
            parts.append(Span(start, end))
            start = end
        return parts

    def _next_start(self, last: Span, tokens: TokenMap, graphemes: Graphemes) -> int:
        """Where the window after `last` starts, at a grapheme boundary."""
        if not self.overlap_tokens:
            return last.end
        first = max(0, tokens.before(last.end) - self.overlap_tokens)
        return graphemes.floor(tokens.position(first, last.end))
