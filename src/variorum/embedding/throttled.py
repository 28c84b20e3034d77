"""An embedder that is asked for no more tokens a minute than it is allowed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from variorum.embedding.batches import BatchLimits, limits_of
from variorum.embedding.remote.pace import Clock, Pace, PaceLimits
from variorum.records.arguments import bad_parameter
from variorum.records.protocols import Embedder, ModelIdentity, Role, Tokenizer, Vectors


@dataclass(frozen=True, slots=True)
class Throttled:
    """The embedder `inner` at a bounded rate. Use `of`. Safe for several threads at once."""

    inner: Embedder
    tokens_per_minute: int
    pace: Pace = field(repr=False)

    @classmethod
    def of(cls, inner: Embedder, tokens_per_minute: int, clock: Clock | None = None) -> "Throttled":
        """Bound an embedder to so many tokens in any minute.

        Raises:
            InputError: fewer than four of its longest inputs.
        """
        least = 4 * inner.max_tokens
        if tokens_per_minute < least:
            expected = f"at least {least}: four of the model's longest inputs"
            raise bad_parameter("tokens_per_minute", expected, tokens_per_minute)
        return cls(
            inner, tokens_per_minute, Pace(PaceLimits(tokens_per_minute=tokens_per_minute), clock)
        )

    @property
    def identity(self) -> ModelIdentity:
        """As the embedder's own."""
        return self.inner.identity

    @property
    def tokenizer(self) -> Tokenizer:
        """As the embedder's own."""
        return self.inner.tokenizer

    @property
    def max_tokens(self) -> int:
        """As the embedder's own."""
        return self.inner.max_tokens

    @property
    def batch_limits(self) -> BatchLimits:
        """The batches that the embedder asks for, none over what is let through at once."""
        limits = limits_of(self.inner)
        return replace(limits, max_tokens=min(limits.max_tokens, self.tokens_per_minute // 4))

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        """As the embedder's own."""
        return self.inner.count(inputs, role)

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        """As the embedder's own, when its turn has come."""
        self.pace.admit(sum(self.inner.count(inputs, role)))
        return self.inner.embed(inputs, role)
