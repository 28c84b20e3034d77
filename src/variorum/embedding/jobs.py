"""Feeding an embedder: bounded batches, answers checked and given back in order as they finish."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from variorum.embedding.answers import require_sound_answer
from variorum.records.errors import BugError, InputError, InputRejectedError
from variorum.records.protocols import Embedder, Role, Vectors

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much is handed to the embedder at once, and so what a job holds in memory.

    A batch ends at `max_inputs` inputs or before it would pass `max_characters` code points (one
    longer input is a batch of its own). `max_in_flight` batches are with the embedder at a time,
    and one more waits: with two, it never idles while the caller stores what it answered.
    """

    max_inputs: int = 64
    max_characters: int = 65_536
    max_in_flight: int = 2

    def __post_init__(self) -> None:
        """Check the limits.

        Raises:
            InputError: a limit is under 1.
        """
        for name in ("max_inputs", "max_characters", "max_in_flight"):
            if getattr(self, name) < 1:
                raise InputError(
                    f"{name} must be at least 1",
                    kind="bad-parameter",
                    subject=name,
                    expected="at least 1",
                    found=str(getattr(self, name)),
                    remedy="leave it out for the default",
                )


@dataclass(frozen=True, slots=True)
class Embedded(Generic[K]):
    """An input's vector: float32[dimensions], unit length."""

    key: K
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Rejected(Generic[K]):
    """An input that the model refuses, and why."""

    key: K
    reason: str
    expected: str
    found: str


Outcome: TypeAlias = Embedded[K] | Rejected[K]
"""What became of one input."""


@dataclass(slots=True)
class CallCount:
    """What a job asked of the embedder so far. A refused call counts; its inputs come again."""

    calls: int = 0
    embedded: int = 0
    rejected: int = 0


@dataclass(slots=True)
class _Job:
    """One run over one embedder; its calls may be made from several threads at once."""

    embedder: Embedder
    role: Role
    count: CallCount
    lock: Lock

    def answer(self, batch: Sequence[tuple[K, str]]) -> list[Outcome[K]]:
        """Outcome of each input: a refused one is set aside, the others are asked for again."""
        rejected: dict[int, Rejected[K]] = {}
        waiting = list(range(len(batch)))
        vectors = np.zeros((0, 0), dtype=np.float32)
        while waiting:
            try:
                vectors = self._call([batch[place][1] for place in waiting])
                break
            except InputRejectedError as error:
                place = _refused_place(error, waiting)
                rejected[place] = Rejected(
                    batch[place][0], error.message, error.expected, error.found
                )
                waiting.remove(place)
        self._record(embedded=len(waiting), rejected=len(rejected))
        rows = iter(vectors)
        return [
            rejected[place] if place in rejected else Embedded(key, next(rows).copy())
            for place, (key, _) in enumerate(batch)
        ]

    def _call(self, texts: Sequence[str]) -> Vectors:
        with self.lock:
            self.count.calls += 1
        vectors = self.embedder.embed(texts, self.role)
        require_sound_answer(vectors, len(texts), self.embedder.identity)
        return vectors

    def _record(self, *, embedded: int, rejected: int) -> None:
        with self.lock:
            self.count.embedded += embedded
            self.count.rejected += rejected


def embed_in_order(
    embedder: Embedder,
    inputs: Iterable[tuple[K, str]],
    *,
    role: Role = "passage",
    limits: BatchLimits = BatchLimits(),
    count: CallCount | None = None,
) -> Iterator[Outcome[K]]:
    """Embed every (key, input), one outcome each, in the order given, as batches finish.

    `inputs` is read lazily in the caller's thread, never further ahead than
    `limits.max_in_flight` batches and one. Batches run in threads of their own, so that the
    embedder works while the caller stores what it was given. An input that the model refuses
    becomes `Rejected` and costs its batch one more call. Any other error is raised once the batches
    begun behind it have been yielded, since they are paid for. Closing the iterator drops the
    batches not begun and waits for those that are.

    Raises:
        UnavailableError: the embedder cannot answer, or its answer has the wrong number of vectors,
            the wrong dimensions, or a vector that is not finite and of unit length.
        BugError: the embedder refuses an input that it was not given.
    """
    job = _Job(embedder, role, count or CallCount(), Lock())
    pool = ThreadPoolExecutor(limits.max_in_flight, thread_name_prefix="variorum-embed")
    running: deque[Future[list[Outcome[K]]]] = deque()
    try:
        for batch in _batches(inputs, limits):
            running.append(pool.submit(job.answer, batch))
            # One batch more than run at a time, so that a thread that ends finds its next.
            while len(running) > limits.max_in_flight or (running and running[0].done()):
                yield from _next_answer(running)
        while running:
            yield from _next_answer(running)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _next_answer(running: deque[Future[list[Outcome[K]]]]) -> Iterator[Outcome[K]]:
    """The outcomes of the oldest batch; where it failed, those of the others, then its error."""
    first = running.popleft()
    error = first.exception()
    if error is None:
        yield from first.result()
        return
    begun = [future for future in running if not future.cancel()]
    running.clear()
    for future in begun:
        if future.exception() is None:
            yield from future.result()
    raise error


def _batches(inputs: Iterable[tuple[K, str]], limits: BatchLimits) -> Iterator[list[tuple[K, str]]]:
    batch: list[tuple[K, str]] = []
    characters = 0
    for key, text in inputs:
        full = len(batch) >= limits.max_inputs
        if batch and (full or characters + len(text) > limits.max_characters):
            yield batch
            batch, characters = [], 0
        batch.append((key, text))
        characters += len(text)
    if batch:
        yield batch


def _refused_place(error: InputRejectedError, waiting: Sequence[int]) -> int:
    if 0 <= error.index < len(waiting):
        return waiting[error.index]
    raise BugError(
        f"the embedder refuses input {error.index} of a call with {len(waiting)} inputs",
        kind="embedder-broke-contract",
        subject=error.subject,
        expected=f"an index under {len(waiting)}",
        found=str(error.index),
        remedy="report it to the embedder's author",
    ) from error
