"""An embedder whose every failure is an error of ours that names it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from variorum.embedding.answers import require_sound_answer
from variorum.embedding.batches import BatchLimits, limits_of
from variorum.records.arguments import bad_parameter
from variorum.records.errors import BugError, UnavailableError, VariorumError
from variorum.records.protocols import (
    Embedder,
    KnowsSeams,
    ModelIdentity,
    Role,
    SplitsAtBlanks,
    Tokenizer,
    Vectors,
)

_MISTAKES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    NotImplementedError,
    TypeError,
    ValueError,
)
"""What only a mistake in the embedder's code raises; anything else is of the world around it."""


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Raise what happens inside as an error of ours.

    Raises:
        BugError: a mistake in the embedder's code.
        UnavailableError: the embedder cannot answer now.
    """
    try:
        yield
    except VariorumError:
        raise
    except Exception as error:
        is_mistake = isinstance(error, _MISTAKES)
        make = BugError if is_mistake else UnavailableError
        raise make(
            f"the embedder {name!r} failed",
            kind="embedder-broke-contract" if is_mistake else "embedder-failed",
            subject=name,
            expected="an answer, or an error of variorum.records.errors",
            found=f"{type(error).__name__}: {error}",
            remedy="report it to the embedder's author"
            if is_mistake
            else "mend what the embedder needs, then run the command again",
        ) from error


def _splits_at_blanks(inner: object, name: str) -> bool:
    with _named(name):
        return isinstance(inner, SplitsAtBlanks) and inner.splits_at_blanks


@dataclass(frozen=True, slots=True)
class _GuardedTokenizer:
    """A tokenizer that fails with errors of ours only."""

    inner: Tokenizer
    name: str
    seams: KnowsSeams | None
    """The tokenizer, where it knows of any: asking at each place costs more than they do."""

    @classmethod
    def of(cls, inner: Tokenizer, name: str) -> "_GuardedTokenizer":
        """Guard a tokenizer; within `_named`."""
        return cls(inner, name, inner if isinstance(inner, KnowsSeams) else None)

    @property
    def fingerprint(self) -> str:
        """As the tokenizer's own."""
        return self.inner.fingerprint

    @property
    def splits_at_blanks(self) -> bool:
        """As the tokenizer's own; not, where it does not say."""
        return _splits_at_blanks(self.inner, self.name)

    def is_seam(self, text: str, place: int) -> bool:
        """As the tokenizer's own; nowhere, where it knows of none."""
        with _named(self.name):
            return self.seams is not None and self.seams.is_seam(text, place)

    def stands_alone(self, text: str, place: int) -> bool:
        """As the tokenizer's own; nowhere, where it knows of none."""
        with _named(self.name):
            return self.seams is not None and self.seams.stands_alone(text, place)

    def count(self, text: str) -> int:
        """As the tokenizer's own."""
        with _named(self.name):
            return self.inner.count(text)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """As the tokenizer's own."""
        with _named(self.name):
            return self.inner.count_many(texts)

    def starts(self, text: str) -> list[int]:
        """As the tokenizer's own."""
        with _named(self.name):
            return self.inner.starts(text)


@dataclass(frozen=True, slots=True)
class Guarded:
    """The embedder `inner`, whose answers are checked."""

    inner: Embedder
    identity: ModelIdentity

    @classmethod
    def of(cls, embedder: Embedder) -> "Guarded":
        """Guard an embedder.

        Raises:
            InputError: the object is not an `Embedder`.
        """
        name = type(embedder).__name__
        expected = "an object with the methods of variorum.Embedder"
        with _named(name):
            if not isinstance(embedder, Embedder):
                raise bad_parameter("embedder", expected, name)
            identity = embedder.identity
        if not isinstance(identity, ModelIdentity):
            found = f"{name} whose identity is {type(identity).__name__}"
            raise bad_parameter("embedder", f"{expected}, identity a ModelIdentity", found)
        return cls(embedder, identity)

    @property
    def tokenizer(self) -> Tokenizer:
        """The embedder's tokenizer, guarded too."""
        with _named(self.identity.name):
            return _GuardedTokenizer.of(self.inner.tokenizer, self.identity.name)

    @property
    def max_tokens(self) -> int:
        """As the embedder's own."""
        with _named(self.identity.name):
            return self.inner.max_tokens

    @property
    def splits_at_blanks(self) -> bool:
        """As the embedder's own; not, where it does not say."""
        return _splits_at_blanks(self.inner, self.identity.name)

    @property
    def batch_limits(self) -> BatchLimits:
        """The batches that the embedder asks for."""
        return limits_of(self.inner)

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        """As the embedder's own.

        Raises:
            BugError: a mistake in the embedder's code.
            UnavailableError: it cannot answer now.
        """
        with _named(self.identity.name):
            return self.inner.count(inputs, role)

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        """As the embedder's own.

        Raises:
            BugError: a mistake in the embedder's code.
            InputRejectedError: the model refuses one input.
            UnavailableError: it cannot answer now, or its answer is unusable.
        """
        with _named(self.identity.name):
            vectors = self.inner.embed(inputs, role)
            require_sound_answer(vectors, len(inputs), self.identity)
            return vectors
