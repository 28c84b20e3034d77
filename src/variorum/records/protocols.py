"""What the rooms ask of each other: sources, tokenizers, embedders."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""float32[n, dimensions], one unit-length row an input."""

Role = Literal["passage", "query"]
"""What an input is to the model: a passage of a document, or a search query."""

Progress = Callable[[str, int, int | None], None]
"""Called with (stage, done, total or None); stages come in order, `done` never falls."""


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Everything that decides a vector: two vectors are comparable only under one fingerprint.

    `fingerprint` covers weights, tokenizer, pooling, prefixes, precision, normalisation, runtime.
    `is_proven` says that it was computed from the weights themselves. Where it is only claimed, as
    of a model behind an address, the vectors of a few probe inputs are kept and compared.
    """

    name: str
    fingerprint: str
    dimensions: int
    is_proven: bool = False


@runtime_checkable
class TokenCounter(Protocol):
    """What counts the tokens of a text as the model that reads it does; any `Tokenizer` is one."""

    def count(self, text: str) -> int:
        """Number of tokens of `text` on its own."""
        ...


@runtime_checkable
class Tokenizer(Protocol):
    """A model's own tokenizer, over plain text: no special tokens, no prefix, nothing truncated.

    Markers such as `</s>` in the text are ordinary characters to it.
    """

    @property
    def fingerprint(self) -> str:
        """Identity of the vocabulary and rules; part of every recipe."""
        ...

    def count(self, text: str) -> int:
        """Number of tokens of `text` on its own."""
        ...

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """`count` of each, in one call."""
        ...

    def starts(self, text: str) -> list[int]:
        """Code-point offset where each token of `text` starts: `count(text)` of them.

        Not decreasing, some may repeat, each < len(text); outer blanks may have no token.
        """
        ...


@runtime_checkable
class Sizer(Protocol):
    """What chunking asks of a model: its tokenizer, its limit, and exact counts of inputs."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer."""
        ...

    @property
    def max_tokens(self) -> int:
        """Most tokens in one input as sent: prefix and special tokens included."""
        ...

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        """Tokens of each input as sent: the model's prefix and special tokens included."""
        ...


@runtime_checkable
class SplitsAtBlanks(Protocol):
    """A tokenizer, or a sizer, whose counts add up over what blanks part.

    Where `splits_at_blanks` is true, a text has the tokens of its two parts alone, in order, if it
    is parted before a space, a tab or a line feed, or after one that no combining mark follows. A
    sizer then counts its tokenizer's tokens, and the same number of others in every input (but for
    one that begins with a combining mark).
    """

    @property
    def splits_at_blanks(self) -> bool:
        """Whether that holds."""
        ...


@runtime_checkable
class KnowsSeams(SplitsAtBlanks, Protocol):
    """A tokenizer that also knows where the tokens of a word are those of its parts.

    Both hold in a word of at most 1,800 characters.

    At a seam a word has the tokens of what stands before it alone, and then as many as the rest
    has, whatever stands to the left of the last character before the seam.

    Where a token starts at a character that stands alone, the tokens before it are those of what
    stands before it alone.
    """

    def is_seam(self, text: str, place: int) -> bool:
        """Whether no token ever reaches across `place`, a place inside `text`."""
        ...

    def stands_alone(self, text: str, place: int) -> bool:
        """Whether the character at `place` is one character to the model, whatever is around it."""
        ...


@runtime_checkable
class Embedder(Sizer, Protocol):
    """Turns embedding inputs into vectors. Never truncates. Safe for several threads at once.

    A model may refuse blank inputs, and may load itself at its first use.
    """

    @property
    def identity(self) -> ModelIdentity:
        """The identity that the vectors carry."""
        ...

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        """Vectors of `inputs`, in order; the same input always gives the same bytes.

        Raises:
            InputRejectedError: the model refuses one input, for instance as too long.
            UnavailableError: the model cannot answer now.
        """
        ...


@runtime_checkable
class Reranker(Protocol):
    """Reads a query and a passage together. Is shown passages that the asker may read, and no
    others. Safe for several threads at once.
    """

    @property
    def name(self) -> str:
        """What it is called in an answer."""
        ...

    def scores(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """How well each passage answers the query, in order: higher is better.

        Raises:
            UnavailableError: it cannot answer now.
        """
        ...


@dataclass(frozen=True, slots=True)
class Listed:
    """A document that a source lists: its path in the source, and what reading it needs.

    `metadata` is the user's own, flat, values of str, int, float, bool.
    """

    path: bytes
    content_type: str
    size_bytes: int
    metadata: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that a source saw and did not list, and why (a stable kebab-case word)."""

    path: bytes
    reason: str
    detail: str = ""


@runtime_checkable
class Source(Protocol):
    """A configured name and its root. Its listing speaks for this source only.

    A listing that cannot be completed raises: what it yielded by then proves nothing was removed.
    """

    @property
    def name(self) -> str:
        """The configured name, unique in a collection."""
        ...

    @property
    def root(self) -> str:
        """Where it reads from, as printed and compared when a name is used again."""
        ...

    def list(self) -> Iterator[Listed | Skipped]:
        """Every document, sorted by path, with what was skipped in between.

        Raises:
            NotFoundError: the root is not there.
            UnavailableError: the listing broke off.
        """
        ...

    def read(self, listed: Listed) -> bytes:
        """The document's bytes.

        Raises:
            UnavailableError: this document cannot be read now; `kind` says why.
        """
        ...
