"""Never over a provider's limits, and again when it stumbles: rates, retries, one clock."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from variorum.embedding.failures import TransientError

T = TypeVar("T")

_MINUTE_S = 60.0
_LEAST_WAIT_S = 1e-3
_ROUNDING = 1e-9


class Clock(Protocol):
    """Where time comes from, and how it passes."""

    def now(self) -> float:
        """Seconds since some moment; never falls."""
        ...

    def sleep(self, seconds: float) -> None:
        """Return when so much time has passed."""
        ...


class SystemClock:
    """The machine's own."""

    def now(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Block the calling thread."""
        time.sleep(seconds)


@dataclass(frozen=True, slots=True)
class PaceLimits:
    """What a provider allows, and how often it is asked again. None: no limit of that kind.

    A request is sent at most `attempts` times. Before the next, it waits `first_wait_s`, doubled
    each time up to `longest_wait_s`, of which jitter takes up to a half; or as long as the provider
    says, unless that is over `longest_retry_after_s`.
    """

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_in_flight: int = 4
    attempts: int = 6
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    longest_retry_after_s: float = 300.0


class Bucket:
    """A token bucket whose spending in any minute stays within `per_minute`.

    It holds a quarter of a minute's allowance and fills at the rate of the other three quarters, so
    that a full bucket spent at once and all that drips in within the minute are the allowance.
    """

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self.capacity = max(1.0, per_minute / 4)
        self._rate = (per_minute - self.capacity) / _MINUTE_S
        self._clock = clock
        self._level = self.capacity
        self._filled_at = clock.now()

    def wait_s(self, cost: float) -> float:
        """How long until `cost`, at most the capacity, is there."""
        now = self._clock.now()
        self._level = min(self.capacity, self._level + (now - self._filled_at) * self._rate)
        self._filled_at = now
        missing = min(cost, self.capacity) - self._level
        # Never so little that adding it to the time now would change nothing.
        return missing / self._rate + _LEAST_WAIT_S if missing > _ROUNDING else 0.0

    def take(self, cost: float) -> None:
        """Spend it."""
        self._level -= cost


class Pace:
    """Sends requests within the limits and repeats those that fail for a while.

    Safe for many threads: they share one allowance, and one pause where the provider asks for it.
    """

    def __init__(
        self,
        limits: PaceLimits,
        clock: Clock | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.limits = limits
        self._clock = clock or SystemClock()
        self._jitter = jitter
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(limits.max_in_flight)
        self._requests = self._bucket(limits.requests_per_minute)
        self._tokens = self._bucket(limits.tokens_per_minute)
        self._paused_until = self._clock.now()

    def _bucket(self, per_minute: int | None) -> Bucket | None:
        return None if per_minute is None else Bucket(per_minute, self._clock)

    def call(self, tokens: int, send: Callable[[], T]) -> T:
        """What `send` returns, at its first attempt that succeeds.

        Raises:
            UnavailableError: every attempt failed, or the provider asks for too long a wait.
        """
        # Imported here: a model that runs on this machine never needs it.
        from tenacity import Retrying, retry_if_exception, stop_after_attempt

        retrying = Retrying(
            retry=retry_if_exception(self._is_worth_another),
            stop=stop_after_attempt(self.limits.attempts),
            wait=lambda state: self._wait_s(
                state.attempt_number, state.outcome.exception() if state.outcome else None
            ),
            sleep=self._clock.sleep,
            reraise=True,
        )
        answer: T = retrying(self._attempt, tokens, send)
        return answer

    def _attempt(self, tokens: int, send: Callable[[], T]) -> T:
        with self._slots:
            self.admit(tokens)
            try:
                return send()
            except TransientError as error:
                self._note_pause(error)
                raise

    def admit(self, tokens: int) -> None:
        """Wait until the limits allow one more request, then spend it."""
        while True:
            with self._lock:
                wait_s = self._wait_for_room_s(tokens)
                if wait_s <= 0:
                    for bucket, cost in self._costs(tokens):
                        bucket.take(cost)
                    return
            self._clock.sleep(wait_s)

    def _wait_for_room_s(self, tokens: int) -> float:
        waits = [bucket.wait_s(cost) for bucket, cost in self._costs(tokens)]
        return max([self._paused_until - self._clock.now(), *waits])

    def _costs(self, tokens: int) -> list[tuple[Bucket, float]]:
        pairs = ((self._requests, 1.0), (self._tokens, float(tokens)))
        return [(bucket, cost) for bucket, cost in pairs if bucket is not None]

    def _note_pause(self, error: TransientError) -> None:
        """Where the provider says when to come back, no thread goes before."""
        if error.retry_after_s is not None and self._is_worth_another(error):
            with self._lock:
                until = self._clock.now() + error.retry_after_s
                self._paused_until = max(self._paused_until, until)

    def _is_worth_another(self, error: BaseException) -> bool:
        if not isinstance(error, TransientError):
            return False
        asked = error.retry_after_s
        return asked is None or asked <= self.limits.longest_retry_after_s

    def _wait_s(self, attempt: int, error: BaseException | None) -> float:
        if isinstance(error, TransientError) and error.retry_after_s is not None:
            return error.retry_after_s
        doubled: float = self.limits.first_wait_s * 2 ** (attempt - 1)
        return min(doubled, self.limits.longest_wait_s) * (1 - self._jitter() / 2)
