"""`lab report`: one HTML file of what runs wrote."""

from pathlib import Path

import click

from variorum.lab.report import report
from variorum.surfaces.cli.lab_options import lab_options
from variorum.surfaces.cli.options import Common
from variorum.surfaces.cli.output import console, counted, print_json


@click.command(name="report")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where it goes [default: DIR/report.html].",
)
@click.option("--without-text", is_flag=True, help="No text of documents: figures and hashes.")
@lab_options
def lab_report(common: Common, folder: Path, file: Path | None, without_text: bool) -> int:
    """Write one HTML file, without a network, of all runs in DIR."""
    target = file or folder / "report.html"
    runs = report(folder, target, with_text=not without_text)
    if common.as_json:
        print_json({"ok": True, "file": str(target), "runs": runs})
    else:
        console().print(f"{target}: {counted(runs, 'run')}")
    return 0


COMMANDS = (lab_report,)
