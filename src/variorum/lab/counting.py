"""A model's tokens for a study: each text tokenized once, the time that it took, and a limit.

Times are the process's own (CPU), so that a busy machine does not show in them.
"""

from collections.abc import Callable, Sequence
from time import process_time

from variorum.records.protocols import KnowsSeams, Role, Sizer, SplitsAtBlanks, Tokenizer

Clock = Callable[[], float]


class OnceTokenizer:
    """Another tokenizer; every text goes through it once, until it is told to forget.

    `spent_s` is the time inside the other tokenizer, `characters` what went through it.
    """

    def __init__(self, inner: Tokenizer, clock: Clock = process_time) -> None:
        self._inner = inner
        self._seams = inner if isinstance(inner, KnowsSeams) else None
        self._clock = clock
        self._starts: dict[str, list[int]] = {}
        self._counts: dict[str, int] = {}
        self.spent_s = 0.0
        self.characters = 0

    @property
    def fingerprint(self) -> str:
        """The other's."""
        return self._inner.fingerprint

    @property
    def splits_at_blanks(self) -> bool:
        """The other's."""
        return isinstance(self._inner, SplitsAtBlanks) and self._inner.splits_at_blanks

    def is_seam(self, text: str, place: int) -> bool:
        """The other's; nowhere, where it knows of none."""
        return self._seams is not None and self._seams.is_seam(text, place)

    def stands_alone(self, text: str, place: int) -> bool:
        """The other's; nowhere, where it knows of none."""
        return self._seams is not None and self._seams.stands_alone(text, place)

    def starts(self, text: str) -> list[int]:
        """Where each token of `text` starts."""
        if text not in self._starts:
            begun = self._clock()
            self._starts[text] = self._inner.starts(text)
            self.spent_s += self._clock() - begun
            self.characters += len(text)
        return self._starts[text]

    def count(self, text: str) -> int:
        """Tokens of `text` on its own."""
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """`count` of each; those not known yet in one call."""
        missing = [one for one in dict.fromkeys(texts) if one not in self._counts]
        if missing:
            begun = self._clock()
            counts = self._inner.count_many(missing)
            self.spent_s += self._clock() - begun
            self.characters += sum(map(len, missing))
            self._counts.update(zip(missing, counts, strict=True))
        return [self._counts[one] for one in texts]

    def remember(self, text: str, starts: list[int]) -> None:
        """Take the tokens of a text as known."""
        self._starts[text] = starts

    def forget(self) -> None:
        """Drop the remembered texts: the next document shares none of them."""
        self._starts.clear()
        self._counts.clear()


class StudySizer:
    """A model's exact counts of inputs as sent, each counted once, under a limit of one's own.

    `cap_tokens` is the most content tokens of an input, special tokens and the model's prefix
    apart; without it the model's own limit holds.
    """

    def __init__(
        self, inner: Sizer, cap_tokens: int | None = None, clock: Clock = process_time
    ) -> None:
        self._inner = inner
        self._clock = clock
        self._known: dict[str, int] = {}
        self.tokenizer = OnceTokenizer(inner.tokenizer, clock)
        self.overhead = inner.count([""])[0]
        self.max_tokens = inner.max_tokens if cap_tokens is None else cap_tokens + self.overhead

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        """Tokens as sent: the model's prefix and its special tokens included."""
        missing = [one for one in dict.fromkeys(inputs) if one not in self._known]
        if missing:
            begun = self._clock()
            counts = self._inner.count(missing, role)
            self.tokenizer.spent_s += self._clock() - begun
            self.tokenizer.characters += sum(map(len, missing))
            self._known.update(zip(missing, counts, strict=True))
        return [self._known[one] for one in inputs]

    def forget(self) -> None:
        """Drop what was remembered of a document."""
        self._known.clear()
        self.tokenizer.forget()
