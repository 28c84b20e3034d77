"""The ledger's figures for Prometheus, through its own client library; an optional extra."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from variorum.ledger.alerts import NAMES, Alert
from variorum.ledger.measures import RATIOS
from variorum.ledger.report import CostReport
from variorum.records.errors import UnavailableError, UnsupportedError
from variorum.records.writing import write_whole

COUNTERS = (
    "ingests",
    "updates",
    "embedded_inputs",
    "embedded_tokens",
    "update_tokens",
    "changed_tokens",
    "edited_tokens",
    "floor_tokens",
)


def write_metrics(path: Path, report: CostReport, alerts: Sequence[Alert], collection: str) -> None:
    """Write the figures to `path` in one step, for the text-file collector of a node's exporter.

    Raises:
        UnsupportedError: the client library is not installed.
        UnavailableError: the file cannot be written.
    """
    client = _client()
    try:
        write_whole(path, client.generate_latest(metrics(report, alerts, collection)))
    except OSError as error:
        raise UnavailableError(
            "the metrics cannot be written",
            kind="metrics-not-writable",
            subject=str(path),
            expected="a file that this user may write",
            found=error.strerror or str(error),
            remedy="name another file",
        ) from error


def metrics(report: CostReport, alerts: Sequence[Alert], collection: str) -> Any:
    """A registry that holds the figures of one collection.

    Raises:
        UnsupportedError: the client library is not installed.
    """
    client = _client()
    registry = client.CollectorRegistry()

    def gauge(name: str, what: str, value: object, **labels: str) -> None:
        if isinstance(value, int | float):
            made = gauges.get(name) or client.Gauge(
                f"variorum_{name}", what, ["collection", *labels], registry=registry
            )
            gauges[name] = made
            made.labels(collection=collection, **labels).set(value)

    gauges: dict[str, Any] = {}
    fields = report.total.as_fields(report.usd_per_million_tokens)
    for name in (*COUNTERS, "usd"):
        gauge(name, f"{name} of every publish so far", fields.get(name))
    for name in RATIOS:
        gauge(name, f"{name} over every update so far", fields[name])
    share = None if report.coverage is None else 100 * report.coverage
    name = "chunk_hash_manifest_coverage_percent"
    gauge(name, "frequently updated documents whose manifest is whole", share)
    annual = "high_churn_document_annual_reprocessing_cost"
    for one in report.frequent:
        gauge(annual, "tokens a year of updates", one.annual_tokens, document=one.document)
    for name in NAMES:
        raised = sum(alert.name == name for alert in alerts)
        gauge("alerts", "alerts raised now", raised, alert=name)
    return registry


def _client() -> Any:
    try:
        return importlib.import_module("prometheus_client")
    except ImportError as error:
        raise UnsupportedError(
            "metrics need the library prometheus-client",
            kind="library-missing",
            subject="prometheus-client",
            expected="prometheus-client installed",
            found=str(error),
            remedy="pip install 'variorum[metrics]'",
        ) from error
