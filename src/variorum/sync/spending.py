"""What a run embedded and did not publish: written down, since it was paid for."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Protocol

from variorum.records.costs import UnpublishedCost
from variorum.records.errors import VariorumError
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
