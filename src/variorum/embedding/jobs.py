"""Feeding an embedder: bounded batches, answers checked and given back in order as they finish."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from variorum.embedding.answers import (
    BAD_ANSWER,
    bad_answer,
    faults_of_rows,
    require_sound_answer,
)
from variorum.embedding.batches import BatchLimits, Sized, batches, limits_of
from variorum.embedding.failures import BatchRefusedError
from variorum.embedding.uninterrupted import uninterrupted
from variorum.records.errors import BugError, InputRejectedError, UnavailableError
from variorum.records.protocols import Embedder, Role, Vectors

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Embedded(Generic[K]):
    """An input's vector: float32[dimensions], unit length."""

    key: K
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Rejected(Generic[K]):
    """An input that has no vector, and why: the model refuses it, or gives no usable one."""

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


@dataclass(frozen=True, slots=True)
class _Answer(Generic[K]):
    """What became of a batch, and the error that ended it before its last input, if one did."""

    outcomes: list[Outcome[K]]
    error: Exception | None


@dataclass(slots=True)
class _Job:
    """One run over one embedder; its calls may be made from several threads at once."""

    embedder: Embedder
    role: Role
    count: CallCount
    lock: Lock

    def answer(self, batch: Sequence[Sized[K]]) -> "_Answer[K]":
        """Outcomes in order; an input at fault costs its companions nothing but more calls."""
        outcomes: dict[int, Outcome[K]] = {}
        error: Exception | None = None
        try:
            self._answer(batch, outcomes)
        except Exception as caught:
            error = caught
        self._record(outcomes.values())
        return _Answer([outcomes[place] for place in sorted(outcomes)], error)

    def _answer(self, batch: Sequence[Sized[K]], outcomes: dict[int, Outcome[K]]) -> None:
        pending = [list(range(len(batch)))]
        while pending:
            places = pending.pop()
            try:
                vectors = self._call([batch[place].text for place in places])
            except InputRejectedError as error:
                refused = _refused_place(error, places)
                outcomes[refused] = _rejection(batch[refused].key, error)
                pending.append([place for place in places if place != refused])
            except BatchRefusedError as error:
                pending.extend(_halves(error, places))
            except UnavailableError as error:
                if error.kind != BAD_ANSWER or len(places) > 1:
                    raise
                outcomes[places[0]] = self._again(batch[places[0]], error.found, sound=False)
            else:
                self._take(batch, places, vectors, outcomes)
            pending = [group for group in pending if group]

    def _take(
        self,
        batch: Sequence[Sized[K]],
        places: Sequence[int],
        vectors: Vectors,
        outcomes: dict[int, Outcome[K]],
    ) -> None:
        """Keep the usable rows of an answer, and ask again for each of the others alone."""
        faults = faults_of_rows(vectors)
        for place, row in zip(places, vectors, strict=True):
            outcomes[place] = Embedded(batch[place].key, row.copy())
        sound = len(faults) < len(places)
        for number, fault in faults.items():
            place = places[number]
            outcomes[place] = self._again(batch[place], fault, sound=sound)

    def _again(self, one: Sized[K], fault: str, *, sound: bool) -> Outcome[K]:
        """The second answer for an input whose vector was unusable.

        Raises:
            UnavailableError: it is unusable too, and the model gave no usable vector in this job.
        """
        try:
            vectors = self._call([one.text])
            return Embedded(one.key, vectors[0].copy())
        except InputRejectedError as error:
            return _rejection(one.key, error)
        except UnavailableError as error:
            if error.kind != BAD_ANSWER:
                raise
            fault = error.found
        if not (sound or self.count.embedded):
            raise bad_answer(self.embedder.identity.name, "vectors of unit length", fault)
        reason = f"the model gives no usable vector: {fault}"
        return Rejected(one.key, reason, "a vector of unit length", fault)

    def _call(self, texts: Sequence[str]) -> Vectors:
        with self.lock:
            self.count.calls += 1
        vectors = self.embedder.embed(texts, self.role)
        require_sound_answer(vectors, len(texts), self.embedder.identity)
        return vectors

    def _record(self, outcomes: Iterable[Outcome[K]]) -> None:
        embedded = [isinstance(outcome, Embedded) for outcome in outcomes]
        with self.lock:
            self.count.embedded += sum(embedded)
            self.count.rejected += len(embedded) - sum(embedded)


def embed_in_order(
    embedder: Embedder,
    inputs: Iterable[tuple[K, str]],
    *,
    role: Role = "passage",
    limits: BatchLimits | None = None,
    count: CallCount | None = None,
    tokens: Callable[[K], int] | None = None,
) -> Iterator[Outcome[K]]:
    """Embed every (key, input), one outcome each, in the order given, as batches finish.

    `inputs` is read lazily in the caller's thread, never further ahead than
    `limits.max_in_flight` batches and one. Batches run in threads of their own, so that the
    embedder works while the caller stores what it was given. `limits` are the embedder's by
    default; `tokens` gives the tokens of a key's input, where a batch is to be bounded by them.
    An input that the model refuses becomes `Rejected` and costs its batch one more call, or, where
    only the whole call is refused, a call for each halving until the input at fault stands alone.
    An unusable vector is asked for once more by itself, then becomes `Rejected` too. Any other
    error is raised once the batches begun behind it have been yielded, since they are paid for.
    Closing the iterator drops the batches not begun and waits for those that are.

    Raises:
        UnavailableError: the embedder cannot answer, or its answer has the wrong number of vectors
            or the wrong dimensions, or it gave no vector that is finite and of unit length.
        BugError: the embedder refuses an input that it was not given.
    """
    limits = limits or limits_of(embedder)
    job = _Job(embedder, role, count or CallCount(), Lock())
    sized = (Sized(key, text, tokens(key) if tokens else 0) for key, text in inputs)
    pool = ThreadPoolExecutor(limits.max_in_flight, thread_name_prefix="variorum-embed")
    running: deque[Future[_Answer[K]]] = deque()
    try:
        for batch in batches(sized, limits, 4 * embedder.identity.dimensions):
            running.append(pool.submit(job.answer, batch))
            # One batch more than run at a time, so that a thread that ends finds its next.
            while len(running) > limits.max_in_flight or (running and running[0].done()):
                yield from _next_answer(running)
        while running:
            yield from _next_answer(running)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def embed_and_keep(
    embedder: Embedder,
    inputs: Iterable[tuple[K, str]],
    keep: Callable[[Sequence[Outcome[K]]], None],
    *,
    limits: BatchLimits | None = None,
    count: CallCount | None = None,
    tokens: Callable[[K], int] | None = None,
) -> None:
    """Embed every (key, input) as a passage; `keep` is given the outcomes of a batch at once.

    As `embed_in_order`, but batches are kept in the order in which they are answered, and `keep`
    runs in the caller's thread. A batch is handed to the embedder only where fewer than
    `limits.max_in_flight` are unkept: so many are lost with the process, and no more. Whatever
    ends the job, Ctrl-C too, the batches begun are waited for and kept, since they are paid for.

    Raises:
        UnavailableError: as `embed_in_order`.
        BugError: as `embed_in_order`.
    """
    limits = limits or limits_of(embedder)
    job = _Job(embedder, "passage", count or CallCount(), Lock())
    sized = (Sized(key, text, tokens(key) if tokens else 0) for key, text in inputs)
    pool = ThreadPoolExecutor(limits.max_in_flight, thread_name_prefix="variorum-embed")
    running: set[Future[_Answer[K]]] = set()
    try:
        for batch in batches(sized, limits, 4 * embedder.identity.dimensions):
            while len(running) >= limits.max_in_flight:
                _keep_answered(running, keep)
            with uninterrupted():
                running.add(pool.submit(copy_context().run, job.answer, batch))
        while running:
            _keep_answered(running, keep)
    except BaseException:
        _keep_begun(running, keep)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _keep_answered(
    running: set[Future[_Answer[K]]], keep: Callable[[Sequence[Outcome[K]]], None]
) -> None:
    """Wait until a batch is answered, and keep all that are; then raise what ended one of them."""
    done = wait(running, return_when=FIRST_COMPLETED).done
    answers = [future.result() for future in done]
    outcomes = [outcome for answer in answers for outcome in answer.outcomes]
    try:
        with uninterrupted():
            if outcomes:
                keep(outcomes)
            running -= done
    except Exception:
        running -= done
        raise
    for answer in answers:
        if answer.error is not None:
            raise answer.error


def _keep_begun(
    running: set[Future[_Answer[K]]], keep: Callable[[Sequence[Outcome[K]]], None]
) -> None:
    """Keep what the batches begun come to. The error that ends the job is the one to tell."""
    answers = [future.result() for future in running if not future.cancel()]
    outcomes = [outcome for answer in answers for outcome in answer.outcomes]
    if outcomes:
        with uninterrupted(), suppress(Exception):
            keep(outcomes)


def _next_answer(running: deque[Future[_Answer[K]]]) -> Iterator[Outcome[K]]:
    """The outcomes of the oldest batch; where it failed, those of the others too, then its error.

    What a batch paid for before it failed is among them.
    """
    answer = running.popleft().result()
    yield from answer.outcomes
    if answer.error is None:
        return
    begun = [future for future in running if not future.cancel()]
    running.clear()
    for future in begun:
        yield from future.result().outcomes
    raise answer.error


def _rejection(key: K, error: InputRejectedError) -> Rejected[K]:
    return Rejected(key, error.message, error.expected, error.found)


def _halves(error: BatchRefusedError, places: list[int]) -> tuple[list[int], list[int]]:
    """Both halves of a refused batch, the first one last: it is taken up next."""
    if len(places) == 1:
        raise BugError(
            "the embedder refuses a call with one input without naming it",
            kind="embedder-broke-contract",
            subject=error.subject,
            expected="InputRejectedError with index 0",
            found=error.message,
            remedy="report it to the embedder's author",
        ) from error
    middle = len(places) // 2
    return places[middle:], places[:middle]


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
