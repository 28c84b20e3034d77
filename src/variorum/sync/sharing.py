"""Embedding beside other writers: each input is claimed by one, and the others wait for it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from time import monotonic, sleep

from variorum.embedding.jobs import Outcome, Rejected
from variorum.store.leases import Leases
from variorum.store.staging import StagedInput, Staging

CLAIM_INPUTS = 128
"""Inputs claimed in one transaction."""

POLL_S = 0.1
PATIENCE_S = 120.0
"""How long a living writer may hold inputs without finishing one, until they are paid for twice."""

Embed = Callable[[Iterator[StagedInput]], Iterator[Outcome[StagedInput]]]


@dataclass(slots=True)
class Shared:
    """The inputs of a plan, shared with whoever else embeds them."""

    staging: Staging
    leases: Leases
    refused: set[bytes] = field(default_factory=set)
    elsewhere: int = 0

    def rounds(self, embed: Embed) -> Iterator[Outcome[StagedInput]]:
        """Embed what can be claimed, wait for what others are at, and claim what they left.

        A run that waits holds no lease with work to do, so two never wait for each other.
        """
        while True:
            self.elsewhere = 0
            for outcome in embed(self._claimed()):
                if isinstance(outcome, Rejected):
                    self.refused.add(outcome.key.key)
                yield outcome
            if not self.elsewhere:
                return
            self._wait()

    def _claimed(self) -> Iterator[StagedInput]:
        inputs = (one for one in self.staging.inputs_to_embed() if one.key not in self.refused)
        while page := list(islice(inputs, CLAIM_INPUTS)):
            claimed, elsewhere = self.leases.claim([one.key for one in page])
            self.elsewhere += len(elsewhere)
            yield from (one for one in page if one.key in claimed)

    def _wait(self) -> None:
        """Until a writer that was waited for is through or dead, or does not come forward."""
        since, waited_for = monotonic(), self.leases.elsewhere()
        while waited_for:
            sleep(POLL_S)
            still = self.leases.elsewhere()
            if still.keys() != waited_for.keys():
                return
            if still != waited_for:
                since, waited_for = monotonic(), still
            elif monotonic() - since > PATIENCE_S:
                self.leases.seize(still)
                return
