"""The ledger's answer to what keeping an index costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from variorum.ledger.measures import (
    By,
    Totals,
    annual_tokens,
    by_document,
    coverage,
    grouped,
    ingest_s_per_token,
    ingest_tokens,
    since,
    totals,
    updates_of,
)
from variorum.ledger.thresholds import DEFAULTS, Thresholds
from variorum.records.costs import CostEntry, UnpublishedCost


@dataclass(frozen=True, slots=True)
class AnnualCost:
    """Tokens that one document's updates embed in a year, and what embedding it whole takes."""

    document: str
    updates_a_year: int
    annual_tokens: float
    ingest_tokens: int

    def as_fields(self, usd_per_million_tokens: float | None) -> dict[str, object]:
        """The cost as JSON fields."""
        fields: dict[str, object] = {
            "document": self.document,
            "updates_a_year": self.updates_a_year,
            "high_churn_document_annual_reprocessing_cost": round(self.annual_tokens),
            "ingest_tokens": self.ingest_tokens,
        }
        if usd_per_million_tokens is not None:
            fields["usd"] = round(self.annual_tokens * usd_per_million_tokens / 1e6, 6)
        return fields


@dataclass(frozen=True, slots=True)
class CostReport:
    """What a collection cost, in all and by group.

    `unpublished` are tokens of runs that published nothing; `frequent` the frequently updated
    documents, the dearest first; `coverage` a share, None where there are none of them.
    """

    total: Totals
    groups: tuple[tuple[str, Totals], ...]
    unpublished: tuple[UnpublishedCost, ...]
    frequent: tuple[AnnualCost, ...]
    coverage: float | None
    usd_per_million_tokens: float | None

    def as_fields(self) -> dict[str, object]:
        """The report as JSON fields."""
        price = self.usd_per_million_tokens
        lost = sum(one.tokens for one in self.unpublished)
        share = self.coverage
        return {
            "total": self.total.as_fields(price),
            "groups": [{"name": name, **one.as_fields(price)} for name, one in self.groups],
            "unpublished": {"runs": len(self.unpublished), "embedded_tokens": lost},
            "frequent": [one.as_fields(price) for one in self.frequent],
            "chunk_hash_manifest_coverage_percent": None if share is None else 100 * share,
        }


def cost_report(
    entries: Sequence[CostEntry],
    unpublished: Sequence[UnpublishedCost],
    maintained: set[str],
    now: datetime,
    *,
    by: By | None = None,
    lines: Thresholds = DEFAULTS,
    usd_per_million_tokens: float | None = None,
) -> CostReport:
    """Sum the ledger up. Linear in its entries."""
    return CostReport(
        total=totals(entries, ingest_s_per_token(entries)),
        groups=tuple(grouped(entries, by)) if by else (),
        unpublished=tuple(unpublished),
        frequent=tuple(_frequent(entries, now, lines)),
        coverage=coverage(entries, maintained, now, lines.frequent_updates),
        usd_per_million_tokens=usd_per_million_tokens,
    )


def _frequent(entries: Sequence[CostEntry], now: datetime, lines: Thresholds) -> list[AnnualCost]:
    found = []
    for name, own in by_document(entries).items():
        updates = len(since(updates_of(own), now, 365))
        if updates >= lines.frequent_updates:
            found.append(AnnualCost(name, updates, annual_tokens(own, now), ingest_tokens(own)))
    return sorted(found, key=lambda one: (-one.annual_tokens, one.document))
