"""How much is handed to an embedder at once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from variorum.records.errors import InputError
from variorum.records.protocols import Embedder

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much is handed to the embedder at once, and so what a job holds in memory.

    A batch ends at `max_inputs` inputs, or before it would pass `max_tokens` tokens as sent or
    `max_bytes` of text in UTF-8 and vectors (one larger input is a batch of its own).
    `max_in_flight` batches are with the embedder at a time, and one more waits: with two, it never
    idles while the caller stores what it answered.
    """

    max_inputs: int = 64
    max_tokens: int = 65_536
    max_bytes: int = 1 << 20
    max_in_flight: int = 2

    def __post_init__(self) -> None:
        """Check the limits.

        Raises:
            InputError: a limit is under 1.
        """
        for name in ("max_inputs", "max_tokens", "max_bytes", "max_in_flight"):
            if getattr(self, name) < 1:
                raise InputError(
                    f"{name} must be at least 1",
                    kind="bad-parameter",
                    subject=name,
                    expected="at least 1",
                    found=str(getattr(self, name)),
                    remedy="leave it out for the default",
                )


LOCAL_LIMITS = BatchLimits(max_inputs=16)
"""Small, so that finished vectors reach the store soon, whatever ends the run."""


def limits_of(embedder: Embedder) -> BatchLimits:
    """The batches that an embedder asks for, or small ones."""
    limits = getattr(embedder, "batch_limits", LOCAL_LIMITS)
    return limits if isinstance(limits, BatchLimits) else LOCAL_LIMITS


class Sized(NamedTuple, Generic[K]):
    """An input on its way: its key, its text, its tokens as sent (0 where nobody counted)."""

    key: K
    text: str
    tokens: int


def batches(
    inputs: Iterable[Sized[K]], limits: BatchLimits, vector_bytes: int
) -> Iterator[list[Sized[K]]]:
    """The inputs in order, in batches within the limits. Reads no further than one input ahead."""
    batch: list[Sized[K]] = []
    tokens = size = 0
    for one in inputs:
        own = len(one.text.encode("utf-8", "surrogatepass")) + vector_bytes
        if batch and (
            len(batch) >= limits.max_inputs
            or tokens + one.tokens > limits.max_tokens
            or size + own > limits.max_bytes
        ):
            yield batch
            batch, tokens, size = [], 0, 0
        batch.append(one)
        tokens += one.tokens
        size += own
    if batch:
        yield batch
