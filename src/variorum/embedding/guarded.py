"""An embedder whose every failure is an error of ours that names it."""

from collections.abc import Sequence
from dataclasses import dataclass

from variorum.embedding.answers import require_sound_answer
from variorum.embedding.batches import BatchLimits, limits_of
from variorum.embedding.blame import blamed
from variorum.records.arguments import bad_parameter
from variorum.records.protocols import (
    Embedder,
    KnowsSeams,
    ModelIdentity,
    Role,
    SplitsAtBlanks,
    Tokenizer,
    Vectors,
)


def _splits_at_blanks(inner: object, name: str) -> bool:
    with blamed(name):
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
        """Guard a tokenizer; within `blamed`."""
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
        with blamed(self.name):
            return self.seams is not None and self.seams.is_seam(text, place)

    def stands_alone(self, text: str, place: int) -> bool:
        """As the tokenizer's own; nowhere, where it knows of none."""
        with blamed(self.name):
            return self.seams is not None and self.seams.stands_alone(text, place)

    def count(self, text: str) -> int:
        """As the tokenizer's own."""
        with blamed(self.name):
            return self.inner.count(text)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """As the tokenizer's own."""
        with blamed(self.name):
            return self.inner.count_many(texts)

    def starts(self, text: str) -> list[int]:
        """As the tokenizer's own."""
        with blamed(self.name):
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
        with blamed(name):
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
        with blamed(self.identity.name):
            return _GuardedTokenizer.of(self.inner.tokenizer, self.identity.name)

    @property
    def max_tokens(self) -> int:
        """As the embedder's own."""
        with blamed(self.identity.name):
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
        with blamed(self.identity.name):
            return self.inner.count(inputs, role)

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        """As the embedder's own.

        Raises:
            BugError: a mistake in the embedder's code.
            InputRejectedError: the model refuses one input.
            UnavailableError: it cannot answer now, or its answer is unusable.
        """
        with blamed(self.identity.name):
            vectors = self.inner.embed(inputs, role)
            require_sound_answer(vectors, len(inputs), self.identity)
            return vectors
