"""What a run embedded and did not publish: written down, since it was paid for."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from variorum.records.costs import UnpublishedCost
from variorum.records.errors import ConflictError, VariorumError
from variorum.records.reports import Report
from variorum.store.costs import record_unpublished
from variorum.store.engine import meaningful_errors
from variorum.store.publish import register_collection
from variorum.sync.planning import Plan

NOTHING_TO_PUBLISH = "nothing-to-publish"


class Spender(Protocol):
    """A run that embeds."""

    done_inputs: int
    done_tokens: int
    embed_s: float

    @property
    def calls(self) -> int:
        """Calls of the model."""
        ...


@dataclass(slots=True)
class LostAttempts:
    """What attempts of one sync embedded that another writer overtook. The next plan reuses it."""

    inputs: int = 0
    tokens: int = 0
    calls: int = 0
    embed_s: float = 0.0

    @contextmanager
    def counted(self, run: Spender) -> Iterator[None]:
        """Count the run in where the block ends with a conflict."""
        try:
            yield
        except ConflictError:
            self.inputs += run.done_inputs
            self.tokens += run.done_tokens
            self.calls += run.calls
            self.embed_s += run.embed_s
            raise

    def told(self, report: Report) -> Report:
        """The last attempt's report as that of the whole sync: embedded is what was sent."""
        if not self.calls:
            return report
        inputs, tokens = report.inputs, report.tokens
        embed = tokens.embed + self.tokens
        total = max(tokens.total, embed)
        return report.with_run(
            inputs=replace(
                inputs,
                embed=inputs.embed + self.inputs,
                reuse=max(0, inputs.reuse - self.inputs),
            ),
            tokens=replace(
                tokens, embed=embed, reuse=max(0, tokens.reuse - self.tokens), total=total
            ),
            embedded_fraction=embed / total if total else None,
            embedder_calls=report.embedder_calls + self.calls,
            embed_s=report.embed_s + self.embed_s,
        )


@contextmanager
def noted(plan: Plan, run: Spender, at: datetime) -> Iterator[None]:
    """Write down what the run spent where the block does not end with a publish."""
    try:
        yield
    except BaseException as error:
        kind = error.kind if isinstance(error, VariorumError) else type(error).__name__
        # What stopped the run may stop this too; the first error is the one to tell.
        with suppress(VariorumError), meaningful_errors(plan.store.path):
            note(plan, run, at, kind)
        raise


def note(plan: Plan, run: Spender, at: datetime, kind: str) -> None:
    """Write down what the run spent, under the reason why it published nothing."""
    if run.done_inputs:
        connection = plan.staging.connection
        collection_id = register_collection(connection, plan.target.tenant, plan.target.collection)
        moment = at.isoformat(timespec="milliseconds")
        spent = UnpublishedCost(moment, run.done_inputs, run.done_tokens, run.embed_s, kind)
        record_unpublished(connection, collection_id, spent)
