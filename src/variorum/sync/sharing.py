"""Work beside other writers: each input or output is claimed by one, and the others wait for it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from time import monotonic, sleep
from typing import Generic, Protocol, TypeVar

from variorum.store.leases import VECTORS, Leases, Work

CLAIM_INPUTS = 128
"""Inputs or outputs claimed in one transaction."""

POLL_S = 0.1
PATIENCE_S = 120.0
"""How long a living writer may hold inputs without finishing one, until they are paid for twice."""


class Keyed(Protocol):
    """An input of the model, or an output of a function."""

    @property
    def key(self) -> bytes:
        """Its identity."""


T = TypeVar("T", bound=Keyed)


@dataclass(slots=True)
class Shared(Generic[T]):
    """Inputs or outputs that this run wants, shared with whoever else makes them.

    `wanted` lists those that this run did not try yet; `in_work` counts, for each other living
    writer, those that it is at.
    """

    leases: Leases
    wanted: Callable[[], Iterator[T]]
    in_work: Callable[[], dict[str, int]]
    work: Work = VECTORS
    elsewhere: int = 0

    def rounds(self, make: Callable[[Iterator[T]], None]) -> None:
        """Make what can be claimed, wait for what others are at, and claim what they left.

        `make` keeps all that it makes. So a run that waits holds no lease with work to do, and two
        never wait for each other.
        """
        while True:
            self.elsewhere = 0
            make(self._claimed())
            if not self.elsewhere:
                return
            self._wait()

    def _claimed(self) -> Iterator[T]:
        inputs = self.wanted()
        while page := list(islice(inputs, CLAIM_INPUTS)):
            claimed, elsewhere = self.leases.claim([one.key for one in page], self.work)
            self.elsewhere += len(elsewhere)
            yield from (one for one in page if one.key in claimed)

    def _wait(self) -> None:
        """Until a writer that was waited for is through or dead, or does not come forward."""
        since, waited_for = monotonic(), self.in_work()
        while waited_for:
            sleep(POLL_S)
            still = self.in_work()
            if still.keys() != waited_for.keys():
                return
            if still != waited_for:
                since, waited_for = monotonic(), still
            elif monotonic() - since > PATIENCE_S:
                self.leases.seize(still)
                return
