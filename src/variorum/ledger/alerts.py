"""When the ledger raises its hand."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from variorum.ledger.measures import (
    YEAR_DAYS,
    annual_tokens,
    by_document,
    coverage,
    ingest_tokens,
    since,
    totals,
    updates_of,
)
from variorum.ledger.thresholds import Thresholds
from variorum.records.costs import CostEntry

PRIORITY = "P3"
FULL_REPROCESSING = "Full-Reprocessing-On-Small-Edit"
COST_OUTLIER = "High-Churn-Document-Cost-Outlier"
PERSISTENT_GAP = "Persistent-Reprocessing-Gap"
COSTLY_UPDATES = "Update-Costs-Like-Full-Ingestion"
LOW_COVERAGE = "Low-Manifest-Coverage"
NAMES = (FULL_REPROCESSING, COST_OUTLIER, PERSISTENT_GAP, COSTLY_UPDATES, LOW_COVERAGE)


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert: about what, which measure, its value, the line it crossed, and what to do."""

    name: str
    priority: str
    subject: str
    measure: str
    value: float
    limit: float
    generation: int | None
    remedy: str

    def as_fields(self) -> dict[str, object]:
        """The alert as JSON fields."""
        return asdict(self)


def find_alerts(
    entries: Sequence[CostEntry], maintained: set[str], now: datetime, lines: Thresholds
) -> list[Alert]:
    """Every alert that the ledger gives rise to now. Linear in its entries."""
    found = list(_low_coverage(entries, maintained, now, lines))
    for name, own in by_document(entries).items():
        recent = since(updates_of(own), now, lines.window_days)
        found += _wasteful(name, recent, lines)
        found += _costly(name, recent, lines)
        found += _gap(name, updates_of(own), recent, lines)
        found += _outlier(name, own, now, lines)
    return found


def _wasteful(name: str, recent: Sequence[CostEntry], lines: Thresholds) -> Iterator[Alert]:
    """The document's most wasteful recent update, where it is over the line."""
    wastes = [(totals([one]).reprocessing_waste_ratio or 0.0, one) for one in recent]
    worst = max(wastes, key=lambda pair: pair[0], default=None)
    if worst is not None and worst[0] > lines.waste_alert:
        yield Alert(
            FULL_REPROCESSING,
            PRIORITY,
            name,
            "reprocessing_waste_ratio",
            worst[0],
            lines.waste_alert,
            worst[1].generation,
            "see `variorum plan --explain`: switch the planner on, or use smaller, anchored chunks",
        )


def _costly(name: str, recent: Sequence[CostEntry], lines: Thresholds) -> Iterator[Alert]:
    """Small edits that cost nearly what the whole document does."""
    small = [
        one for one in recent if one.cost.changed_tokens <= lines.small_edit * one.cost.total_tokens
    ]
    ratio = totals(small).update_cost_to_full_ingestion_cost_ratio or 0.0
    if ratio > lines.update_alert:
        yield Alert(
            COSTLY_UPDATES,
            PRIORITY,
            name,
            "update_cost_to_full_ingestion_cost_ratio",
            ratio,
            lines.update_alert,
            small[-1].generation,
            "incremental updating is not happening: see `variorum plan --explain`",
        )


def _gap(
    name: str, updates: Sequence[CostEntry], recent: Sequence[CostEntry], lines: Thresholds
) -> Iterator[Alert]:
    """A run of updates up to the last that each embedded far more inputs than had changed."""
    last = [one for one in updates if one.cost.embedded_inputs][-lines.gap_updates :]
    ratios = [one.cost.embedded_inputs / max(1, one.cost.changed_inputs) for one in last]
    if recent and len(last) == lines.gap_updates and min(ratios) >= lines.gap_factor:
        yield Alert(
            PERSISTENT_GAP,
            PRIORITY,
            name,
            "embedded_inputs / changed_inputs",
            min(ratios),
            lines.gap_factor,
            last[-1].generation,
            "more is embedded than changes, update after update: see `variorum plan --explain`",
        )


def _outlier(
    name: str, own: Sequence[CostEntry], now: datetime, lines: Thresholds
) -> Iterator[Alert]:
    if len(since(updates_of(own), now, YEAR_DAYS)) < lines.frequent_updates:
        return
    once, annual = ingest_tokens(own), annual_tokens(own, now)
    if once and annual > lines.churn_factor * once:
        yield Alert(
            COST_OUTLIER,
            PRIORITY,
            name,
            "high_churn_document_annual_reprocessing_cost",
            annual / once,
            lines.churn_factor,
            own[-1].generation,
            "the document costs this many times itself a year: smaller chunks, or fewer syncs",
        )


def _low_coverage(
    entries: Sequence[CostEntry], maintained: set[str], now: datetime, lines: Thresholds
) -> Iterator[Alert]:
    share = coverage(entries, maintained, now, lines.frequent_updates)
    if share is not None and share < lines.coverage_alert:
        yield Alert(
            LOW_COVERAGE,
            PRIORITY,
            "collection",
            "chunk_hash_manifest_coverage_percent",
            100 * share,
            100 * lines.coverage_alert,
            None,
            "see `variorum status` for held documents, and `variorum verify`",
        )
