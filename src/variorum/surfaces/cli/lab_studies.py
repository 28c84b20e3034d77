"""`lab grid`, `position`, `verbatim`, `overlap`, `calibrate`: studies of a file of revisions."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import click

from variorum.lab.calibrate import calibrate
from variorum.lab.families import PAPER
from variorum.lab.grid import TARGETS, grid
from variorum.lab.overlap import PERCENTS, SIZES, overlap
from variorum.lab.position import position
from variorum.lab.record import Cell, Table, command_line
from variorum.lab.studying import Setup
from variorum.lab.subjects import MATCHED, short
from variorum.lab.trial import Settings
from variorum.lab.verbatim import verbatim
from variorum.surfaces.cli.lab_options import (
    chosen,
    chunker_option,
    lab_options,
    out_option,
    peers_option,
    print_table,
    revisions_option,
    row_fields,
    study_options,
)
from variorum.surfaces.cli.options import Common
from variorum.surfaces.cli.output import console, print_json

_COUNT = click.IntRange(min=1)
MOST_ROWS = 40

family_option = click.option(
    "--family",
    "names",
    multiple=True,
    metavar="NAME",
    help="Such as fixed, recursive, anchored+planner; may be given again.",
)


@click.command(name="grid")
@revisions_option
@family_option
@click.option("--target", "targets", type=_COUNT, multiple=True, metavar="TOKENS", help="A size.")
@out_option("lab-grid")
@study_options
@lab_options
def lab_grid(
    common: Common,
    settings: Settings,
    revisions: Path,
    names: tuple[str, ...],
    targets: tuple[int, ...],
    out: Path,
    limit: int | None,
    workers: int | None,
) -> int:
    """Compare chunkers only where their chunks are equally long, at several sizes."""
    return _study(
        common,
        out,
        lambda setup: grid(revisions, names or PAPER, targets or TARGETS, setup, limit),
        settings,
        workers,
    )


Compared = Callable[[Path, Sequence[str], Setup, int | None], list[Table]]
"""A study of revisions that compares specs: (file, specs, setup, limit)."""


def _comparing(name: str, study: Compared, what: str) -> click.Command:
    """The command of a study that compares chunkers at their matched sizes."""

    @click.command(name=name, help=what)
    @revisions_option
    @chunker_option
    @peers_option
    @out_option(f"lab-{name}")
    @study_options
    @lab_options
    def compare(
        common: Common,
        settings: Settings,
        revisions: Path,
        chunkers: tuple[str, ...],
        peers: bool,
        out: Path,
        limit: int | None,
        workers: int | None,
    ) -> int:
        specs = chosen(chunkers, MATCHED, peers=peers)
        return _study(
            common, out, lambda setup: study(revisions, specs, setup, limit), settings, workers
        )

    return compare


lab_position = _comparing(
    "position",
    position,
    "Insert one percent at the start, in the middle, at the end, and count what is recomputed.",
)
lab_verbatim = _comparing(
    "verbatim", verbatim, "Count how much of what is recomputed stands whole in the old version."
)


@click.command(name="overlap")
@revisions_option
@click.option("--size", "sizes", type=_COUNT, multiple=True, metavar="TOKENS", help="A window.")
@click.option(
    "--percent",
    "percents",
    type=click.IntRange(0, 90),
    multiple=True,
    metavar="P",
    help="Shared with the window before.",
)
@out_option("lab-overlap")
@study_options
@lab_options
def lab_overlap(
    common: Common,
    settings: Settings,
    revisions: Path,
    sizes: tuple[int, ...],
    percents: tuple[int, ...],
    out: Path,
    limit: int | None,
    workers: int | None,
) -> int:
    """Map windows by size and overlap: what they recompute, and what they embed in all."""
    return _study(
        common,
        out,
        lambda setup: overlap(revisions, sizes or SIZES, percents or PERCENTS, setup, limit),
        settings,
        workers,
    )


@click.command(name="calibrate")
@revisions_option
@family_option
@click.option(
    "--target", type=_COUNT, default=300, show_default=True, metavar="TOKENS", help="The length."
)
@out_option("lab-calibrate")
@study_options
@lab_options
def lab_calibrate(
    common: Common,
    settings: Settings,
    revisions: Path,
    names: tuple[str, ...],
    target: int,
    out: Path,
    limit: int | None,
    workers: int | None,
) -> int:
    """Find settings whose chunks are equally long, on calibration documents."""
    families = names or (*PAPER, "structural", "anchored", "anchored+planner")
    return _study(
        common,
        out,
        lambda setup: calibrate(revisions, families, target, setup, limit),
        settings,
        workers,
    )


def _study(
    common: Common,
    out: Path,
    run: Callable[[Setup], list[Table]],
    settings: Settings,
    workers: int | None,
) -> int:
    with common.progress() as progress:
        tables = run(Setup(settings, out, progress, command_line(), workers))
    if common.as_json:
        named = {one.name: row_fields(one) for one in tables}
        print_json({"ok": True, "out": str(out), "tables": list(named), **named})
    else:
        for table in tables:
            _print(table)
        console().print(f"Tables and records are in {out}.")
    return 0


_HIDDEN = {"repositories", "low_by_repository", "high_by_repository", "set", "succeeded", "all"}
_HEADS = {"documents": "n", "within_15_percent": "within 15 %", "ratio_to_middle": "ratio"}


def _print(table: Table) -> None:
    kept = [place for place, name in enumerate(table.columns) if name not in _HIDDEN]
    shown = [
        [_cell(table.columns[place], row[place]) for place in kept]
        for row in table.rows[:MOST_ROWS]
    ]
    heads = [_HEADS.get(table.columns[place], table.columns[place]) for place in kept]
    print_table(table.title, heads, shown)
    if len(table.rows) > MOST_ROWS:
        console().print(f"  and {len(table.rows) - MOST_ROWS} more rows in {table.name}.csv")
    for note in table.notes:
        console().print(f"  {note}")


_LENGTHS = {"median", "median_old", "median_new", "gate", "ratio", "ratio_to_middle"}
_LENGTHS |= {"inputs_per_text", "inputs", "recomputed_inputs"}


def _cell(column: str, cell: Cell) -> str:
    """A share in percent, a length or a ratio as it is."""
    if cell is None:
        return "NA"
    if isinstance(cell, Fraction | float):
        return f"{float(cell):.2f}" if column in _LENGTHS else f"{100 * float(cell):.1f}"
    return short(cell) if column == "chunker" and isinstance(cell, str) else str(cell)


COMMANDS = (lab_grid, lab_position, lab_verbatim, lab_overlap, lab_calibrate)
