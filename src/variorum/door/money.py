"""What an index costs, and whether an alert is due."""

from datetime import datetime
from typing import get_args

from variorum.ledger.alerts import Alert, find_alerts
from variorum.ledger.measures import By
from variorum.ledger.report import CostReport, cost_report
from variorum.ledger.thresholds import Thresholds
from variorum.records.arguments import one_of
from variorum.store.costs import maintained_documents, read_costs, read_unpublished
from variorum.store.snapshot import Snapshot
from variorum.store.store import Store


def cost(
    store: Store,
    snapshot: Snapshot,
    now: datetime,
    by: By | None,
    lines: Thresholds,
    usd_per_million_tokens: float | None,
) -> CostReport:
    """Sum up the ledger of a snapshot's collection.

    Raises:
        InputError: `by` is no way to group it.
    """
    if by is not None:
        one_of("by", by, get_args(By))
    with store.connection() as connection, connection.begin():
        entries = read_costs(connection, snapshot.collection_id)
        unpublished = read_unpublished(connection, snapshot.collection_id)
    return cost_report(
        entries,
        unpublished,
        _maintained(store, snapshot),
        now,
        by=by,
        lines=lines,
        usd_per_million_tokens=usd_per_million_tokens,
    )


def alerts(store: Store, snapshot: Snapshot, now: datetime, lines: Thresholds) -> list[Alert]:
    """Every alert that the collection's ledger gives rise to."""
    with store.connection() as connection, connection.begin():
        entries = read_costs(connection, snapshot.collection_id)
    return find_alerts(entries, _maintained(store, snapshot), now, lines)


def _maintained(store: Store, snapshot: Snapshot) -> set[str]:
    """The documents whose manifest is whole, less those that are held back at an old revision."""
    with store.connection() as connection, connection.begin():
        whole = maintained_documents(connection, snapshot.collection_id)
    held = snapshot.generation.report.get("held")
    behind = {str(one["document"]) for one in held} if isinstance(held, list) else set()
    return {str(name) for name in whole} - behind
