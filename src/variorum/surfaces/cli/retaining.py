"""`prune`, `gc` and `erase`."""

import click

from variorum.records.retention import Collected, Compaction, Erased, Pruned
from variorum.surfaces.cli.options import Common, common_options
from variorum.surfaces.cli.output import console, counted, print_json

OUT_OF_REACH = (
    "Out of reach: exports, backups and copies of the store, snapshots of the file system, and"
    " what a provider of embeddings has kept."
)

_dry_run = click.option("--dry-run", is_flag=True, help="Only say what would go.")


@click.command()
@click.option("--keep", type=int, metavar="N", help="Keep the newest N generations.")
@click.option(
    "--keep-within", metavar="AGE", help="Keep what was the newest within AGE, such as 90d."
)
@_dry_run
@common_options
def prune(common: Common, keep: int | None, keep_within: str | None, dry_run: bool) -> int:
    """Remove old generations; what a kept one needs stays."""
    with common.index() as index:
        report = index.prune(keep=keep, keep_within=keep_within, dry_run=dry_run)
    if common.as_json:
        print_json({"ok": True, **report.as_fields()})
    else:
        _print_pruned(report)
    return 0


def _print_pruned(report: Pruned) -> None:
    one, out = report.removed, console()
    verb = "Would remove" if report.dry_run else "Removed"
    if one.is_nothing:
        out.print(f"Nothing to remove: the oldest kept generation is {report.oldest}.")
    else:
        revisions = counted(one.revisions, "revision")
        out.print(
            f"{verb} {counted(one.generations, 'generation')}, {revisions},"
            f" {counted(one.chunks, 'chunk')} and {counted(one.inputs, 'vector')}:"
            f" {one.payload_bytes:,} bytes. Generation {report.oldest} is the oldest that is kept."
        )
    _print_compaction(report.compaction)


def _print_compaction(compaction: Compaction | None) -> None:
    if compaction is not None:
        before, after = compaction.store_bytes_before, compaction.store_bytes_after
        console().print(f"The store has {after:,} bytes, before {before:,}.")


@click.command()
@click.option(
    "--older-than", default="30d", show_default=True, metavar="AGE", help="Only those as old."
)
@_dry_run
@common_options
def gc(common: Common, older_than: str, dry_run: bool) -> int:
    """Remove vectors that no kept document uses."""
    with common.index() as index:
        report = index.gc(older_than=older_than, dry_run=dry_run)
    if common.as_json:
        print_json({"ok": True, **report.as_fields()})
    else:
        _print_collected(report)
    return 0


def _print_collected(report: Collected) -> None:
    verb = "Would remove" if report.dry_run else "Removed"
    one = report.removed
    console().print(f"{verb} {counted(one.inputs, 'vector')}: {one.payload_bytes:,} bytes.")
    _print_compaction(report.compaction)


@click.command()
@click.argument("document")
@click.option("--lift", is_flag=True, help="Let an erased document be synced again.")
@common_options
def erase(common: Common, document: str, lift: bool) -> int:
    """Remove DOCUMENT from every generation, for good, and prove it."""
    with common.index() as index:
        if lift:
            index.lift(document)
            return _said_lifted(document, as_json=common.as_json)
        report = index.erase(document)
    if common.as_json:
        print_json({"ok": True, **report.as_fields()})
    else:
        _print_erased(report)
    return 0


def _said_lifted(document: str, *, as_json: bool) -> int:
    if as_json:
        print_json({"ok": True, "document": document, "lifted": True})
    else:
        console().print(f"The next sync takes {document} up again, where its source lists it.")
    return 0


def _print_erased(report: Erased) -> None:
    out, one = console(), report.removed
    out.print(f"Erased {report.document} from every generation.", style="bold")
    out.print(
        f"  removed  {counted(one.revisions, 'revision')}, {counted(one.chunks, 'chunk')},"
        f" {counted(one.inputs, 'vector')}; a sync skips the document from now on"
    )
    out.print(
        f"  proof    {counted(report.probes, 'string')} of its bytes searched for in the store's"
        f" files: {report.probes_shared} found, each in a row that another document holds"
    )
    for name in report.shared_with:
        out.print(f"  stays    {name} holds a revision of it", style="yellow")
    out.print(f"  {OUT_OF_REACH}")
    _print_compaction(report.compaction)


COMMANDS = (prune, gc, erase)
