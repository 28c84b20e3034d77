"""`model use` and `model list`."""

import click

from variorum.records.errors import EXIT_HELD
from variorum.surfaces.cli.options import Common, common_options
from variorum.surfaces.cli.output import console, counted, print_json, print_report


@click.group()
def model() -> None:
    """Switch a collection to another model, and back."""


@model.command()
@click.argument("spec")
@click.option(
    "--tokens-per-minute", type=int, metavar="N", help="Embed no more than this in any minute."
)
@click.option("--max-tokens", type=int, metavar="N", help="Stop before embedding more than this.")
@click.option("--dry-run", is_flag=True, help="Only say what would be embedded.")
@common_options
def use(
    common: Common,
    spec: str,
    tokens_per_minute: int | None,
    max_tokens: int | None,
    dry_run: bool,
) -> int:
    """Embed what is published by SPEC, then switch to it in one publish."""
    with common.index() as index, common.progress() as progress:
        report = index.use_model(
            spec,
            tokens_per_minute=tokens_per_minute,
            max_tokens=max_tokens,
            dry_run=dry_run,
            progress=progress,
        )
    if common.as_json:
        print_json({"ok": True, **report.as_fields()})
    else:
        print_report(report, planned=dry_run)
    return EXIT_HELD if report.held else 0


@model.command("list")
@common_options
def list_models(common: Common) -> int:
    """List the models of the collection's generations."""
    with common.index() as index:
        found = index.models()
    if common.as_json:
        print_json({"ok": True, "models": [one.as_fields() for one in found]})
        return 0
    out = console()
    for one in found:
        mark = "*" if one.is_current else " "
        made = ", ".join(map(str, one.generations)) or "none that is kept"
        out.print(f"{mark} {one.spec}", style="bold" if one.is_current else "")
        out.print(f"    {counted(one.vectors, 'vector')}, generations: {made}")
    return 0


COMMANDS = (model,)
