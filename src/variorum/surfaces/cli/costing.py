"""`cost` and `alerts`."""

from collections.abc import Sequence
from pathlib import Path

import click

from variorum.ledger.alerts import Alert
from variorum.ledger.exposition import write_metrics
from variorum.ledger.measures import Totals
from variorum.ledger.report import CostReport
from variorum.ledger.thresholds import Thresholds
from variorum.records.arguments import place
from variorum.records.errors import EXIT_ALERTS
from variorum.surfaces.cli.options import Common, common_options
from variorum.surfaces.cli.output import console, counted, percent, print_json


@click.command()
@click.option(
    "--by",
    type=click.Choice(["document", "source", "day", "generation"]),
    help="Also sum up each of these.",
)
@click.option(
    "--price",
    "--usd-per-mtok",
    "price",
    type=float,
    metavar="USD",
    help="Price of a million tokens [default: as configured].",
)
@click.option("--prometheus", metavar="FILE", help="Write the figures too.")
@common_options
def cost(common: Common, by: str | None, price: float | None, prometheus: str | None) -> int:
    """Say what keeping the index costs, and the least possible."""
    metrics = None if prometheus is None else Path(place("--prometheus", prometheus))
    with common.index() as index:
        report = index.cost(by, usd_per_million_tokens=price)  # type: ignore[arg-type]
        if metrics is not None:
            write_metrics(metrics, report, index.alerts(), index.collection.name)
        lines = index.config.thresholds
    if common.as_json:
        print_json({"ok": True, **report.as_fields()})
    else:
        _print_cost(report, lines)
    return 0


def _print_cost(report: CostReport, lines: Thresholds) -> None:
    out = console()
    one = report.total
    events = f"{counted(one.ingests, 'ingest')}, {counted(one.updates, 'update')}"
    out.print(f"{events}, {counted(one.rebuilds, 'rebuild')}", style="bold")
    out.print(f"  embedded   {one.embedded_tokens:,} tokens{_money(report, one.embedded_tokens)}")
    lost = sum(spent.tokens for spent in report.unpublished)
    if lost:
        runs = counted(len(report.unpublished), "run")
        out.print(f"             and {lost:,} by {runs} that published nothing; they are kept")
    out.print(
        f"  updates    {one.update_tokens:,} of {one.full_tokens:,} tokens of their documents, "
        f"{one.changed_tokens:,} in inputs that changed, floor {one.floor_tokens:,}"
    )
    _print_ratio("waste", one.reprocessing_waste_ratio, lines.waste_target, lines.waste_alert)
    ratio = one.update_cost_to_full_ingestion_cost_ratio
    _print_ratio("of a full", ratio, lines.update_target, lines.update_alert)
    if one.update_time_to_full_ingestion_time_ratio is not None:
        out.print(f"  in time    {percent(one.update_time_to_full_ingestion_time_ratio)} of a full")
    if report.coverage is not None:
        _print_ratio("coverage", report.coverage, lines.coverage_target, lines.coverage_alert)
    _print_groups(report)
    _print_frequent(report)


def _print_ratio(name: str, value: float | None, target: float, alert: float) -> None:
    against = f"target {percent(target)}, alert {percent(alert)}"
    console().print(f"  {name:<10} {percent(value)} ({against})")


def _money(report: CostReport, tokens: float) -> str:
    price = report.usd_per_million_tokens
    return "" if price is None else f", {tokens * price / 1e6:.4f} USD"


def _print_groups(report: CostReport) -> None:
    out = console()
    for name, one in report.groups:
        out.print(f"  {one.embedded_tokens:>10,} tokens {_shares(one)}  {name}")


def _shares(one: Totals) -> str:
    ratio = percent(one.update_cost_to_full_ingestion_cost_ratio)
    waste = percent(one.reprocessing_waste_ratio)
    return f"{counted(one.updates, 'update'):>12} at {ratio:>7}, waste {waste:>7}"


def _print_frequent(report: CostReport) -> None:
    out = console()
    for one in report.frequent:
        times = one.annual_tokens / one.ingest_tokens if one.ingest_tokens else 0.0
        out.print(
            f"  {one.annual_tokens:>10,.0f} tokens a year, {times:.1f} times itself"
            f"{_money(report, one.annual_tokens)}  {one.document}"
        )


@click.command()
@common_options
def alerts(common: Common) -> int:
    """Say where updates cost far more than their edits.

    Exit code 10 where they do."""
    with common.index() as index:
        found = index.alerts()
    if common.as_json:
        print_json({"ok": not found, "alerts": [one.as_fields() for one in found]})
    else:
        _print_alerts(found)
    return EXIT_ALERTS if found else 0


def _print_alerts(found: Sequence[Alert]) -> None:
    out = console()
    if not found:
        out.print("No alert.")
    for one in found:
        where = "" if one.generation is None else f", generation {one.generation}"
        out.print(f"{one.priority} {one.name}: {one.subject}{where}", style="yellow")
        out.print(f"  {one.measure} is {one.value:.3g}, the line is {one.limit:g}")
        out.print(f"  {one.remedy}")


COMMANDS = (cost, alerts)
