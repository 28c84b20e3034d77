"""`lab replay`: a repository's own history under every strategy."""

from pathlib import Path
from typing import Any

import click

from variorum.lab.record import command_line
from variorum.lab.replay import STRATEGIES, Replayed, replay
from variorum.lab.subjects import short
from variorum.lab.trial import Settings
from variorum.sources import DEFAULT_INCLUDE
from variorum.sources.git import Selection
from variorum.sources.git_place import git_place
from variorum.surfaces.cli.lab_options import (
    chosen,
    chunker_option,
    lab_options,
    out_option,
    peers_option,
    print_table,
    row_fields,
    study_options,
)
from variorum.surfaces.cli.lab_recompute import percent
from variorum.surfaces.cli.options import Common
from variorum.surfaces.cli.output import console, counted, print_json, visible

MOST_SHOWN = 10


@click.command(name="replay")
@click.argument("place", metavar="git:REPO[@REV][:PATH]")
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="The last N commits.")
@click.option("--since", metavar="DATE", help="Commits since a date that git understands.")
@click.option(
    "--price",
    type=click.FloatRange(min=0),
    metavar="USD",
    help="Price of a million tokens.",
)
@click.option("--include", multiple=True, metavar="GLOB", help="Instead of the usual documents.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these out.")
@chunker_option
@peers_option
@out_option("lab-replay")
@study_options
@lab_options
def lab_replay(
    common: Common,
    settings: Settings,
    place: str,
    last: int | None,
    since: str | None,
    price: float | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    chunkers: tuple[str, ...],
    peers: bool,
    out: Path,
    workers: int | None,
) -> int:
    """Say what every strategy would have embedded over a repository's history.

    First-parent commits, renames followed. The tables name the documents whose churn costs most.
    """
    with common.progress() as progress:
        found = replay(
            git_place(place),
            chosen(chunkers, STRATEGIES, peers=peers),
            settings,
            out,
            progress,
            command=command_line(),
            last=last,
            since=since,
            price=price,
            selection=Selection(include or DEFAULT_INCLUDE, exclude),
            workers=workers,
        )
    if common.as_json:
        print_json(_fields(found, out))
    else:
        _print(found, out)
    return 0


def _fields(found: Replayed, out: Path) -> dict[str, Any]:
    study = found.study
    return {
        "ok": True,
        "out": str(out),
        "run": study.run.fingerprint,
        "tip": found.window.tip,
        "commits": found.window.commits,
        "days": found.window.days,
        "documents": len(found.window.histories),
        "strategies": row_fields(study.table("strategies")),
        "costliest": row_fields(study.table("documents"))[: MOST_SHOWN * len(study.specs)],
        "left_out": row_fields(study.table("left_out")),
        "failures": row_fields(study.table("failures")),
        "choice": found.choice.sentence,
    }


def _print(found: Replayed, out: Path) -> None:
    window, screen = found.window, console()
    screen.print(
        f"{window.repository}: {counted(window.commits, 'commit')} over {window.days:,.1f} days, "
        f"{counted(len(window.histories), 'document')} edited",
        style="bold",
    )
    columns = ("chunker", "edits", "full", "embedded", "%", "ever", "floor", "USD a year")
    rows = [
        [
            short(str(row[0])),
            *(_count(row[place]) for place in (1, 2, 3)),
            percent(row[8]),
            _count(row[4]),
            _count(row[5]),
            "" if row[10] is None else f"{row[10]:,.2f}",
        ]
        for row in found.study.table("strategies").rows
    ]
    print_table("Tokens embedded by all edits", columns, rows)
    first = found.study.specs[0]
    costly = [row for row in found.study.table("documents").rows if row[1] == first][:MOST_SHOWN]
    shown = [[visible(str(row[0])), _count(row[2]), _count(row[4])] for row in costly]
    print_table(
        f"Documents that cost {short(first)} most", ("document", "edits", "embedded"), shown
    )
    if window.left_out:
        screen.print(f"  {counted(len(window.left_out), 'document')} left out: left_out.csv")
    screen.print(found.choice.sentence)
    screen.print(f"Tables, records and audit are in {out}.")


def _count(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) else "NA"


COMMANDS = (lab_replay,)
