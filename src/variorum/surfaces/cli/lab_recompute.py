"""`lab recompute`: what revisions embed again."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from variorum.lab.recompute import Study, recompute
from variorum.lab.record import Cell, command_line
from variorum.lab.subjects import MATCHED, short
from variorum.lab.trial import Settings
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
from variorum.surfaces.cli.output import console, counted, print_json


@click.command(name="recompute")
@revisions_option
@chunker_option
@peers_option
@out_option("lab-recompute")
@study_options
@lab_options
def lab_recompute(
    common: Common,
    settings: Settings,
    revisions: Path,
    chunkers: tuple[str, ...],
    peers: bool,
    out: Path,
    limit: int | None,
    workers: int | None,
) -> int:
    """Measure what each revision embeds again under every chunker.

    Writes tables with their records and an audit of every document to --out. A run that was
    stopped goes on where it was.
    """
    with common.progress() as progress:
        study = recompute(
            revisions,
            chosen(chunkers, MATCHED, peers=peers),
            settings,
            out,
            progress,
            command=command_line(),
            limit=limit,
            workers=workers,
        )
    if common.as_json:
        print_json(study_fields(study, out))
    else:
        print_study(study, out)
    return 0


def study_fields(study: Study, out: Path) -> dict[str, Any]:
    """What `--json` prints of a study."""
    return {
        "ok": True,
        "out": str(out),
        "run": study.run.fingerprint,
        "documents": len(study.documents),
        "tables": [one.name for one in study.tables],
        "means": row_fields(study.table("means")),
        "ratios": row_fields(study.table("ratios")),
        "failures": row_fields(study.table("failures")),
        "notes": [note for one in study.tables for note in one.notes],
    }


def print_study(study: Study, out: Path) -> None:
    """Means and sizes of every set and language, failures, and where the rest is."""
    for title, rows in _grouped(study).items():
        print_table(title, _COLUMNS, rows)
    screen = console()
    for line in _ratio_lines(study):
        screen.print(f"  {line}")
    failed = study.table("failures").rows
    for row in failed[:10]:
        screen.print(f"  NA  {row[2]}, {row[3]}: {row[4]}", style="yellow")
    if len(failed) > 10:
        screen.print(f"  NA  and {len(failed) - 10} more in failures.csv", style="yellow")
    for note in study.table("sizes").notes:
        screen.print(f"  {note}", style="yellow")
    screen.print(f"{counted(len(study.documents), 'document')}, run {study.run.fingerprint[:16]}")
    screen.print(f"Tables, records and audit are in {out}.")


_COLUMNS = ("chunker", "n", "size", "R %", "95 %", "floor", "excess", "waste")


def _grouped(study: Study) -> dict[str, list[list[str]]]:
    found: dict[tuple[Cell, ...], dict[Cell, tuple[Cell, ...]]] = {}
    for row in study.table("means").rows:
        if row[1] == "all":
            found.setdefault((row[0], row[2], row[3], row[4], row[5]), {})[row[6]] = row[9:]
    tokens = {(row[0], row[1], row[2]): row[5] for row in study.table("sizes").rows}
    grouped: dict[str, list[list[str]]] = {}
    for (name, language, spec, succeeded, every), measures in found.items():
        size = tokens[name, language, spec]
        shown = [
            short(str(spec)),
            f"{succeeded}/{every}",
            "NA" if size is None else f"{float(size):.0f}",
        ]
        shown += _shares(measures)
        grouped.setdefault(f"{name}, {language}", []).append(shown)
    return grouped


def _ratio_lines(study: Study) -> list[str]:
    """The first chunker's mean R over each other's."""
    return [
        f"{row[0]}, {row[1]}: R of {short(str(row[2]))} is {decimal(row[6])} times that of"
        f" {short(str(row[3]))} ({decimal(row[7])}–{decimal(row[8])})"
        for row in study.table("ratios").rows
        if row[2] == study.specs[0]
    ]


def decimal(cell: Cell) -> str:
    """A ratio with three decimals."""
    return f"{float(cell):.3f}" if isinstance(cell, float | Fraction) else "NA"


def _shares(measures: dict[Cell, tuple[Cell, ...]]) -> list[str]:
    share = measures["recompute_fraction"]
    others = ("floor", "excess_over_floor", "waste_ratio")
    interval = "NA" if share[0] is None else f"{percent(share[1])}–{percent(share[2])}"
    return [percent(share[0]), interval, *(percent(measures[name][0]) for name in others)]


def percent(cell: Cell) -> str:
    """A share in percent with one decimal, or NA."""
    return f"{100 * cell:.1f}" if isinstance(cell, float) else _exact_percent(cell)


def _exact_percent(cell: Cell) -> str:
    return f"{float(100 * cell):.1f}" if isinstance(cell, Fraction) else "NA"


COMMANDS = (lab_recompute,)
