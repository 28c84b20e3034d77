"""The figures of the failure pattern: its worked example, and its reproduction."""

from datetime import UTC, datetime, timedelta

import pytest

from variorum.ledger.alerts import (
    COST_OUTLIER,
    COSTLY_UPDATES,
    FULL_REPROCESSING,
    LOW_COVERAGE,
    PERSISTENT_GAP,
    find_alerts,
)
from variorum.ledger.measures import annual_tokens, coverage, ingest_tokens, totals
from variorum.ledger.thresholds import Thresholds
from variorum.records.costs import CostEntry, DocumentCost, Event
from variorum.records.names import DocumentName

NAME = DocumentName("docs", b"policy.md")
START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=365)
CHUNKS, CHUNK_TOKENS, CHANGED, EDITS = 80, 150, 2, 156


def year(embedded_chunks: int, changed: int = CHANGED) -> list[CostEntry]:
    """A document of 80 chunks, ingested, then edited 156 times in a year."""
    whole = CHUNKS * CHUNK_TOKENS
    first = DocumentCost(NAME, Event.INGEST, 80, 80, 80, whole, whole, whole, whole, whole, 10.0)
    entries = [CostEntry(1, START.isoformat(), first)]
    for number in range(EDITS):
        at = START + timedelta(days=365 * (number + 1) / EDITS)
        cost = DocumentCost(
            document=NAME,
            event=Event.UPDATE,
            embedded_inputs=embedded_chunks,
            changed_inputs=changed,
            total_inputs=CHUNKS,
            embedded_tokens=embedded_chunks * CHUNK_TOKENS,
            changed_tokens=changed * CHUNK_TOKENS,
            edited_tokens=20,
            floor_tokens=changed * CHUNK_TOKENS,
            total_tokens=whole,
            embed_s=10.0 * embedded_chunks / CHUNKS,
        )
        entries.append(CostEntry(number + 2, at.isoformat(), cost))
    return entries


FULL, OURS = year(CHUNKS), year(CHANGED)


def test_the_worked_example_wastes_97_5_percent_under_full_reprocessing():
    full = totals(FULL, 10.0 / 12_000)
    assert full.update_tokens == 1_872_000
    assert full.update_tokens - full.changed_tokens == 1_825_200
    assert full.reprocessing_waste_ratio == pytest.approx(0.975)
    assert full.update_cost_to_full_ingestion_cost_ratio == 1.0
    assert full.update_time_to_full_ingestion_time_ratio == pytest.approx(1.0)


def test_the_worked_example_wastes_nothing_where_only_changed_chunks_are_embedded():
    ours = totals(OURS, 10.0 / 12_000)
    assert ours.update_tokens == 46_800
    assert ours.reprocessing_waste_ratio == 0
    assert ours.update_cost_to_full_ingestion_cost_ratio == 0.025
    assert ours.update_time_to_full_ingestion_time_ratio == pytest.approx(0.025)
    assert ours.unedited_token_ratio == pytest.approx(1 - 20 / 300)
    assert ours.excess_over_floor_ratio == 0


def test_a_year_of_full_reprocessing_costs_156_documents_and_raises_every_alert():
    assert annual_tokens(FULL, NOW) == pytest.approx(1_872_000)
    assert ingest_tokens(FULL) == 12_000
    alerts = find_alerts(FULL, {str(NAME)}, NOW, Thresholds())
    assert {alert.name for alert in alerts} == {
        FULL_REPROCESSING,
        COST_OUTLIER,
        PERSISTENT_GAP,
        COSTLY_UPDATES,
    }
    assert {alert.priority for alert in alerts} == {"P3"}
    values = {alert.name: alert.value for alert in alerts}
    assert values[FULL_REPROCESSING] == pytest.approx(0.975)
    assert values[COST_OUTLIER] == pytest.approx(156)
    assert values[PERSISTENT_GAP] == 40


def test_a_year_of_incremental_updates_raises_none():
    assert annual_tokens(OURS, NOW) == pytest.approx(46_800)
    assert find_alerts(OURS, {str(NAME)}, NOW, Thresholds()) == []


def test_a_frequently_updated_document_without_a_maintained_manifest_is_not_covered():
    assert coverage(OURS, {str(NAME)}, NOW, 12) == 1.0
    assert coverage(OURS, set(), NOW, 12) == 0.0
    assert coverage(OURS, set(), NOW, 157) is None
    alerts = find_alerts(OURS, set(), NOW, Thresholds())
    assert [alert.name for alert in alerts] == [LOW_COVERAGE]


def test_every_line_can_be_moved():
    lines = Thresholds(waste_alert=0.99, update_alert=1.0, churn_factor=200, gap_factor=50)
    assert find_alerts(FULL, {str(NAME)}, NOW, lines) == []
    strict = Thresholds(churn_factor=3)
    assert [one.name for one in find_alerts(OURS, {str(NAME)}, NOW, strict)] == [COST_OUTLIER]


def test_what_lies_before_the_window_raises_nothing_about_single_updates():
    later = NOW + timedelta(days=60)
    names = {alert.name for alert in find_alerts(FULL, {str(NAME)}, later, Thresholds())}
    assert names == {COST_OUTLIER}


def test_a_young_document_is_not_taken_for_a_year_of_its_first_day():
    first_day = [FULL[0], FULL[1]]
    now = datetime.fromisoformat(first_day[1].at)
    assert annual_tokens(first_day, now) == pytest.approx(12_000 * 365 / 30)
