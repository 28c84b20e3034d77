"""`verify` and `repair`."""

import click

from variorum.records.errors import DamagedError
from variorum.records.repairs import Repaired
from variorum.surfaces.cli.options import Common, common_options
from variorum.surfaces.cli.output import console, counted, print_json


@click.command()
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Also embed N inputs again, and compare.",
)
@common_options
def verify(common: Common, sample: int) -> int:
    """Check every stored range, hash, vector and pointer."""
    with common.each() as indexes, common.progress() as progress:
        # The whole store, whatever its collections.
        findings = indexes[0].verify(progress, sample=sample)
        store = str(indexes[0].store.folder)
    if common.as_json:
        fields = [finding.as_fields() for finding in findings]
        print_json({"ok": not findings, "findings": fields})
    else:
        out = console()
        for finding in findings:
            out.print(f"{finding.kind}: {finding.subject}: {finding.found}", style="red")
        verdict = counted(len(findings), "finding") if findings else "every promise holds"
        out.print(f"{store}: {verdict}")
    return DamagedError.exit_code if findings else 0


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@common_options
def repair(common: Common, dry_run: bool) -> int:
    """Write again what is damaged and can be proven; say what is left."""
    with common.each() as indexes, common.progress() as progress:
        report = indexes[0].repair(dry_run=dry_run, progress=progress)
        store = str(indexes[0].config.store)
    if common.as_json:
        print_json({"ok": not report.left, **report.as_fields()})
    else:
        _print_repaired(report, store)
    return DamagedError.exit_code if report.left else 0


def _print_repaired(report: Repaired, store: str) -> None:
    out = console()
    if not report.findings:
        out.print(f"{store}: every promise holds; nothing to repair")
        return
    for one in report.mended:
        out.print(f"mended: {one.subject}: {one.how}")
    for left in report.left:
        out.print(f"left: {left.kind}: {left.subject}: {left.found}", style="red")
        out.print(f"  {left.remedy}")
    verb = "would be mended" if report.dry_run else "mended"
    embedded = f", {counted(report.embedded_inputs, 'input')} embedded"
    out.print(
        f"{store}: {counted(len(report.mended), 'row')} {verb}"
        f"{embedded if report.embedded_inputs else ''}, {counted(len(report.left), 'finding')} left"
    )


COMMANDS = (verify, repair)
