"""What an older layout under the same recipe already counted, and need not be counted again."""

from collections.abc import Mapping, Sequence

from variorum.records.layout import PreviousLayout
from variorum.records.protocols import Role, Sizer, Tokenizer


def known_counts(previous: PreviousLayout | None) -> Mapping[str, int]:
    """The exact tokens of the inputs of an older layout."""
    if previous is None:
        return {}
    layout = previous.layout
    counts = (chunk.tokens for chunk in layout.chunks)
    return dict(zip(layout.inputs, counts, strict=True))


def content_tokens(previous: PreviousLayout, sizer: Sizer) -> tuple[int, ...]:
    """Tokens of each old chunk's own characters, or 0 where its input was not counted.

    Its prefix is taken off by its share of the input's characters.
    """
    overhead = sizer.count([""])[0]
    tokens = []
    for chunk, rendered in zip(previous.layout.chunks, previous.layout.inputs, strict=True):
        own = len(rendered) - len(chunk.prefix)
        share = (chunk.tokens - overhead) * own // max(1, len(rendered))
        tokens.append(max(1, share) if chunk.tokens else 0)
    return tuple(tokens)


class KnownPrefixes:
    """A sizer that does not count the prefixes of an older layout's inputs: they have room.

    They count 0 by its tokenizer, which is all that is asked about a prefix. Counts of inputs as
    sent are the sizer's own.
    """

    def __init__(self, sizer: Sizer, previous: PreviousLayout) -> None:
        self._sizer = sizer
        self._tokenizer = _Tokenizer(
            sizer.tokenizer, frozenset(chunk.prefix for chunk in previous.layout.chunks)
        )

    @property
    def tokenizer(self) -> Tokenizer:
        """The sizer's, but for the known prefixes."""
        return self._tokenizer

    @property
    def max_tokens(self) -> int:
        """The sizer's."""
        return self._sizer.max_tokens

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        """The sizer's."""
        return self._sizer.count(inputs, role)


class _Tokenizer:
    def __init__(self, tokenizer: Tokenizer, known: frozenset[str]) -> None:
        self._tokenizer = tokenizer
        self._known = known

    @property
    def fingerprint(self) -> str:
        return self._tokenizer.fingerprint

    def count(self, text: str) -> int:
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        unknown = [text for text in texts if text not in self._known]
        counts = iter(self._tokenizer.count_many(unknown) if unknown else ())
        return [0 if text in self._known else next(counts) for text in texts]

    def starts(self, text: str) -> list[int]:
        return self._tokenizer.starts(text)
