"""Cost measures over the rows of the ledger. Pure; None where nothing was measured."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from variorum.records.costs import CostEntry, Event

By = Literal["document", "source", "day", "generation"]

YEAR_DAYS = 365.0
LEAST_SPAN_DAYS = 30.0
"""A shorter history is taken for so long a one: a week of edits says little about a year."""

_KEYS: dict[By, Callable[[CostEntry], str]] = {
    "document": lambda entry: str(entry.cost.document),
    "source": lambda entry: entry.cost.document.source,
    "day": lambda entry: entry.at[:10],
    "generation": lambda entry: str(entry.generation),
}


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over entries. `updates` counts those whose words changed; the ratios are theirs alone.

    `full_s` is what embedding the updated documents whole would have taken, at the rate of the
    ledger's ingests, or None where no ingest has a time.
    """

    ingests: int
    updates: int
    rebuilds: int
    embedded_inputs: int
    embedded_tokens: int
    embed_s: float
    update_inputs: int
    changed_inputs: int
    update_tokens: int
    changed_tokens: int
    edited_tokens: int
    floor_tokens: int
    full_tokens: int
    update_s: float
    full_s: float | None

    @property
    def reprocessing_waste_ratio(self) -> float | None:
        """Share of the updates' tokens in inputs in which no atom changed."""
        return _share(self.update_tokens - self.changed_tokens, self.update_tokens)

    @property
    def unedited_token_ratio(self) -> float | None:
        """Share of the updates' tokens that are not themselves new or replaced: one less the edited
        tokens inside embedded inputs over the tokens embedded.
        """
        return _share(self.update_tokens - self.edited_tokens, self.update_tokens)

    @property
    def excess_over_floor_ratio(self) -> float | None:
        """Tokens of the updates over the least that the previous layouts allowed, less one."""
        return _share(self.update_tokens - self.floor_tokens, self.floor_tokens)

    @property
    def update_cost_to_full_ingestion_cost_ratio(self) -> float | None:
        """Tokens of the updates over those of the updated documents whole."""
        return _share(self.update_tokens, self.full_tokens)

    @property
    def update_time_to_full_ingestion_time_ratio(self) -> float | None:
        """The same in seconds of embedding."""
        return None if self.full_s is None else _share(self.update_s, self.full_s)

    def as_fields(self, usd_per_million_tokens: float | None = None) -> dict[str, object]:
        """The totals and ratios as JSON fields; `usd` where there is a price."""
        fields: dict[str, object] = {
            "ingests": self.ingests,
            "updates": self.updates,
            "rebuilds": self.rebuilds,
            "embedded_inputs": self.embedded_inputs,
            "embedded_tokens": self.embedded_tokens,
            "embed_s": round(self.embed_s, 3),
            "update_inputs": self.update_inputs,
            "changed_inputs": self.changed_inputs,
            "update_tokens": self.update_tokens,
            "changed_tokens": self.changed_tokens,
            "edited_tokens": self.edited_tokens,
            "floor_tokens": self.floor_tokens,
            "full_tokens": self.full_tokens,
        }
        for name in RATIOS:
            fields[name] = getattr(self, name)
        if usd_per_million_tokens is not None:
            fields["usd"] = round(self.embedded_tokens * usd_per_million_tokens / 1e6, 6)
        return fields


RATIOS = (
    "reprocessing_waste_ratio",
    "unedited_token_ratio",
    "excess_over_floor_ratio",
    "update_cost_to_full_ingestion_cost_ratio",
    "update_time_to_full_ingestion_time_ratio",
)


def totals(entries: Iterable[CostEntry], ingest_s_per_token: float | None = None) -> Totals:
    """Sum entries."""
    costs = [entry.cost for entry in entries]
    updates = [one for one in costs if one.event is Event.UPDATE]
    full = sum(one.total_tokens for one in updates)
    rate = ingest_s_per_token
    return Totals(
        ingests=sum(one.event is Event.INGEST for one in costs),
        updates=len(updates),
        rebuilds=sum(one.event is Event.REBUILD for one in costs),
        embedded_inputs=sum(one.embedded_inputs for one in costs),
        embedded_tokens=sum(one.embedded_tokens for one in costs),
        embed_s=sum(one.embed_s for one in costs),
        update_inputs=sum(one.embedded_inputs for one in updates),
        changed_inputs=sum(one.changed_inputs for one in updates),
        update_tokens=sum(one.embedded_tokens for one in updates),
        changed_tokens=sum(one.changed_tokens for one in updates),
        edited_tokens=sum(one.edited_tokens for one in updates),
        floor_tokens=sum(one.floor_tokens for one in updates),
        full_tokens=full,
        update_s=sum(one.embed_s for one in updates),
        full_s=None if rate is None else rate * full,
    )


def ingest_s_per_token(entries: Sequence[CostEntry]) -> float | None:
    """Seconds of embedding a token, over the ingests that took measurable time."""
    ingests = [entry.cost for entry in entries if entry.cost.event is Event.INGEST]
    tokens = sum(one.embedded_tokens for one in ingests)
    seconds = sum(one.embed_s for one in ingests)
    return seconds / tokens if tokens and seconds > 0 else None


def grouped(entries: Sequence[CostEntry], by: By) -> list[tuple[str, Totals]]:
    """The totals of each group, by name."""
    rate = ingest_s_per_token(entries)
    groups: dict[str, list[CostEntry]] = {}
    for entry in entries:
        groups.setdefault(_KEYS[by](entry), []).append(entry)
    names = sorted(groups, key=int) if by == "generation" else sorted(groups)
    return [(name, totals(groups[name], rate)) for name in names]


def since(entries: Iterable[CostEntry], now: datetime, days: float) -> list[CostEntry]:
    """The entries of the last `days`."""
    first = now - timedelta(days=days)
    return [entry for entry in entries if datetime.fromisoformat(entry.at) >= first]


def by_document(entries: Iterable[CostEntry]) -> dict[str, list[CostEntry]]:
    """The entries of each document, in their order."""
    groups: dict[str, list[CostEntry]] = {}
    for entry in entries:
        groups.setdefault(str(entry.cost.document), []).append(entry)
    return groups


def updates_of(entries: Iterable[CostEntry]) -> list[CostEntry]:
    """Those that are updates."""
    return [entry for entry in entries if entry.cost.event is Event.UPDATE]


def annual_tokens(entries: Sequence[CostEntry], now: datetime) -> float:
    """`high_churn_document_annual_reprocessing_cost` of one document: tokens that its updates embed
    in a year.

    What the last 365 days hold; of a younger document, at its rate since its first entry, or over
    30 days where that is longer.
    """
    if not entries:
        return 0.0
    age_days = (now - datetime.fromisoformat(entries[0].at)).total_seconds() / 86_400
    recent = since(updates_of(entries), now, YEAR_DAYS)
    span_days = min(YEAR_DAYS, max(age_days, LEAST_SPAN_DAYS))
    return sum(entry.cost.embedded_tokens for entry in recent) * YEAR_DAYS / span_days


def ingest_tokens(entries: Sequence[CostEntry]) -> int:
    """The one-time cost of one document: what embedding it whole takes, as it is now."""
    return entries[-1].cost.total_tokens if entries else 0


def coverage(
    entries: Iterable[CostEntry], maintained: set[str], now: datetime, frequent_updates: int
) -> float | None:
    """`chunk_hash_manifest_coverage_percent` as a share: of the frequently updated documents, those
    whose manifest is whole and not behind.

    None where no document is updated so often. `maintained` are the names of such documents.
    """
    recent = by_document(since(updates_of(entries), now, YEAR_DAYS))
    frequent = [name for name, own in recent.items() if len(own) >= frequent_updates]
    return _share(sum(name in maintained for name in frequent), len(frequent))


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
