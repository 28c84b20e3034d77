"""No input over the model's limit (invariant 2): exact counts, and what gives way."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from variorum.chunking.chunker import Reading
from variorum.chunking.graphemes import Graphemes
from variorum.chunking.prefixes import Prefix, Prefixes
from variorum.chunking.render import render
from variorum.chunking.words import begins_with_mark
from variorum.records.errors import InputError
from variorum.records.protocols import Sizer, SplitsAtBlanks
from variorum.records.text import Span


@dataclass(frozen=True, slots=True)
class Fitted:
    """A span, what stands before it, the input, and its exact tokens as sent."""

    span: Span
    prefix: Prefix
    characters: str
    tokens: int = 0


def content_room(sizer: Sizer) -> int:
    """Tokens of text that one input surely has room for, its prefix apart; at least 1.

    A little under the limit less what an empty input takes: a range tokenized on its own may count
    a token or two more than in its text.
    """
    overhead = sizer.count([""])[0]
    slack = max(1, sizer.max_tokens // 64)
    return max(1, sizer.max_tokens - overhead - slack)


class Fitter:
    """Renders spans of one text, counts them, and makes what is over the limit give way."""

    def __init__(
        self, reading: Reading, sizer: Sizer, prefixes: Prefixes, known: Mapping[str, int]
    ) -> None:
        self._text = reading.characters
        self._tokens = reading.tokens
        self._sizer = sizer
        self._prefixes = prefixes
        self._known = known
        self._adds_up = isinstance(sizer, SplitsAtBlanks) and sizer.splits_at_blanks
        self._before_text: dict[str, int] = {}
        self._graphemes = Graphemes(reading.characters)

    def fit(self, spans: Sequence[Span]) -> list[Fitted]:
        """Each span as one input, or as several where it is over the limit.

        Where the sizer's counts add up and the text is tokenized, an input counts what its own text
        does, its prefix and an empty input. Else the inputs whose count is not known are counted in
        one batch, and in one more for each round of giving way: a prefix loses its outermost title,
        then what it repeats, then the text is cut near its middle, at a grapheme boundary where it
        has one inside.

        Raises:
            InputError: kind `model-limit-too-small`, where a single character is over the limit.
        """
        fitted = self._counted([self._start(span) for span in spans])
        while any(one.tokens > self._sizer.max_tokens for one in fitted):
            settled: list[Fitted] = []
            for one in fitted:
                over = one.tokens > self._sizer.max_tokens
                settled.extend(self._give_way(one) if over else [one])
            fitted = self._counted(settled)
        return fitted

    def _start(self, span: Span) -> Fitted:
        first = self._filled(span).start
        return self._rendered(span, self._prefixes.at(first))

    def _rendered(self, span: Span, prefix: Prefix) -> Fitted:
        characters = render(prefix.rendered, self._text[span.start : span.end])
        return Fitted(span, prefix, characters, self._known.get(characters, 0))

    def _counted(self, fitted: list[Fitted]) -> list[Fitted]:
        """The same with the counts that were missing."""
        missing = [index for index, one in enumerate(fitted) if not one.tokens]
        adding = self._adds_up and self._tokens.is_read
        added = [
            index for index in missing if adding and not begins_with_mark(fitted[index].characters)
        ]
        asked = sorted({*missing} - {*added})
        counts = [*self._added([fitted[index] for index in added])]
        if asked:
            counts += self._sizer.count([fitted[index].characters for index in asked])
        for index, count in zip([*added, *asked], counts, strict=True):
            fitted[index] = replace(fitted[index], tokens=max(1, count))
        return fitted

    def _added(self, fitted: Sequence[Fitted]) -> Iterator[int]:
        """Tokens of inputs as the sum of their parts."""
        own = self._tokens.own([one.span for one in fitted])
        for one, tokens in zip(fitted, own, strict=True):
            prefix = one.prefix.rendered
            if prefix not in self._before_text:
                self._before_text[prefix] = self._sizer.count([prefix])[0]
            yield self._before_text[prefix] + tokens

    def _give_way(self, one: Fitted) -> list[Fitted]:
        if one.prefix:
            return [self._rendered(one.span, one.prefix.shorter())]
        filled = self._filled(one.span)
        if filled.end - filled.start < 2:
            _refuse_limit(one, self._sizer.max_tokens)
        cut = self._middle(filled)
        return [self._start(Span(one.span.start, cut)), self._start(Span(cut, one.span.end))]

    def _middle(self, filled: Span) -> int:
        """A place inside `filled` near its middle token; both sides keep a non-blank character."""
        start, end = filled
        index = (self._tokens.before(start) + self._tokens.before(end)) // 2
        middle = self._tokens.position(index, end)
        if not start < middle < end:
            middle = (start + end) // 2
        for cut in (self._graphemes.floor(middle), self._graphemes.ceiling(middle)):
            if start < cut < end:
                return cut
        return middle

    def _filled(self, span: Span) -> Span:
        """The span without the blank characters at its ends."""
        characters = self._text[span.start : span.end]
        leading = len(characters) - len(characters.lstrip())
        return Span(span.start + leading, span.start + len(characters.rstrip()))


def _refuse_limit(one: Fitted, limit: int) -> NoReturn:
    raise InputError(
        f"the single character {one.characters!r} takes {one.tokens} tokens, over the limit",
        kind="model-limit-too-small",
        subject=f"character {one.span.start}",
        expected=f"at most {limit} tokens",
        found=f"{one.tokens} tokens",
        remedy="choose a model with a higher limit",
    )
