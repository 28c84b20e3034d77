"""Windows of a fixed number of characters."""

from dataclasses import dataclass, field

from variorum.chunking.chunker import CUT_ANYWHERE, Chunker, Shape, canonical_spec, refuse
from variorum.chunking.graphemes import Graphemes
from variorum.chunking.tokens import TokenMap
from variorum.records.text import Span, Structure

_NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class FixedCharacters:
    """Windows of `max_characters` code points, each `overlap_characters` before the last one's end.

    Ends move back to a grapheme boundary; a grapheme larger than a window is kept whole. An
    overlap that begins inside a grapheme begins at its start. A text that fits is one span, and no
    span lies inside the one before it.

    The reuse planner counts tokens, about four characters each: its windows may be longer.

    Raises:
        InputError: kind `bad-parameter`, where max_characters < 1 or overlap_characters is not in
            [0, max_characters).
    """

    max_characters: int = 1200
    overlap_characters: int = 0
    max_tokens: int = field(default=_NO_LIMIT, repr=False)
    """Most tokens of a window, where a model's limit is what it is cut for."""

    def __post_init__(self) -> None:
        if self.max_characters < 1:
            allowed = f"at least 1, and more than overlap_characters={self.overlap_characters}"
            refuse("fixed_characters", "max_characters", self.max_characters, allowed)
        if not 0 <= self.overlap_characters < self.max_characters:
            allowed = f"0 or more, and less than max_characters={self.max_characters}"
            refuse("fixed_characters", "overlap_characters", self.overlap_characters, allowed)

    @property
    def spec(self) -> str:
        """The canonical spec."""
        return canonical_spec("fixed_characters", self)

    @property
    def overlaps(self) -> bool:
        """Whether neighbouring spans share characters."""
        return self.overlap_characters > 0

    @property
    def shape(self) -> Shape:
        """Full windows of about four characters a token, and of no fewer than one and a half."""
        most = max(1, min(self.max_characters * 2 // 3, self.max_tokens))
        target = max(1, min(self.max_characters // 4, most))
        return Shape(max(1, target // 3), target, most, CUT_ANYWHERE)

    def limited(self, max_tokens: int) -> Chunker:
        """The same windows, shorter where they have more than `max_tokens` tokens."""
        if max_tokens >= self.max_tokens:
            return self
        overlap = self.overlap_characters if max_tokens > 1 else 0
        return FixedCharacters(self.max_characters, overlap, max_tokens)

    def spans(self, text: str, structure: Structure, tokens: TokenMap) -> list[Span]:
        """The windows of `text`; the structure plays no part."""
        graphemes = Graphemes(text)
        spans: list[Span] = []
        start = end = 0
        while end < len(text):
            if spans:
                start = graphemes.floor(max(0, end - self.overlap_characters))
            reached = self._end(start, len(text), tokens, graphemes)
            if spans and reached <= end:
                start = end
                reached = self._end(start, len(text), tokens, graphemes)
            spans.append(Span(start, reached))
            end = reached
        return spans

    def _end(self, start: int, length: int, tokens: TokenMap, graphemes: Graphemes) -> int:
        """Where the window from `start` ends: after it, at a grapheme boundary."""
        full = tokens.position(tokens.before(start) + self.max_tokens, length)
        reach = min(start + self.max_characters, full)
        end = graphemes.floor(reach)
        return end if end > start else graphemes.ceiling(max(reach, start + 1))
