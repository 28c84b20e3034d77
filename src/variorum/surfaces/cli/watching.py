"""`watch`."""

import sys
from contextlib import suppress

import click

from variorum.door.watching import Watched, lag_fields
from variorum.records.arguments import whole
from variorum.surfaces.cli.options import Common, common_options
from variorum.surfaces.cli.output import console, counted, print_error, print_json


@click.command()
@click.argument("source", required=False, metavar="[PATH|SOURCE]")
@click.option(
    "--settle-ms",
    type=int,
    default=300,
    show_default=True,
    metavar="MS",
    help="Publish when nothing was touched for so long.",
)
@click.option(
    "--longest-ms",
    type=int,
    default=3000,
    show_default=True,
    metavar="MS",
    help="Publish at the latest so long after the first edit.",
)
@click.option("--publishes", type=int, metavar="N", help="Stop after so many publishes.")
@common_options
def watch(
    common: Common,
    source: str | None,
    settle_ms: int,
    longest_ms: int,
    publishes: int | None,
) -> int:
    """Follow folders, and publish each burst of edits, until Ctrl-C."""
    most = None if publishes is None else whole("--publishes", publishes, 1)
    done: list[Watched] = []
    with common.index() as index, suppress(KeyboardInterrupt):
        for one in index.watch(source, settle_ms=settle_ms, longest_ms=longest_ms):
            # Counted before it is told: whoever reads the line may interrupt at once.
            if one.error is None:
                done.append(one)
            _print_watched(one, as_json=common.as_json)
            if len(done) == most:
                break
    _print_sum(done, as_json=common.as_json)
    return 0


def _print_watched(one: Watched, *, as_json: bool) -> None:
    if as_json:
        print_json(one.as_fields())
    elif one.error is not None:
        print_error(one.error, as_json=False)
    elif one.report is not None:
        counts = one.report.documents
        lag = f", {max(one.lags_s):.2f} s after the first edit" if one.lags_s else ""
        console().print(
            f"Published generation {one.report.generation}: {counts.added} added, "
            f"{counts.changed} changed, {counts.removed} removed{lag}."
        )
    sys.stdout.flush()


def _print_sum(done: list[Watched], *, as_json: bool) -> None:
    lags = [lag for one in done for lag in one.lags_s]
    fields = lag_fields(lags)
    if as_json:
        print_json({"ok": True, "publishes": len(done), **fields})
        return
    lag = fields["lag_s"]
    told = f"; lag {lag['median']} s, at most {lag['longest']} s" if lags else ""  # type: ignore[index]
    edits = counted(len(lags), "edit")
    times = "1 publish" if len(done) == 1 else f"{len(done):,} publishes"
    console().print(f"Stopped after {times}, {edits}{told}.")


COMMANDS = (watch,)
