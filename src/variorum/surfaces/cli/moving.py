"""`export`, `import` and `backup`."""

import click

from variorum.surfaces.cli.options import Common, common_options
from variorum.surfaces.cli.output import console, counted, print_json


@click.command()
@click.argument("file")
@common_options
def export(common: Common, file: str) -> int:
    """Write the collection, with its history, into the new FILE."""
    with common.index() as index:
        done = index.export(file)
    if common.as_json:
        print_json({"ok": True, **done.as_fields()})
    else:
        console().print(
            f"Wrote {done.collection} up to generation {done.generation} into {done.file}:"
            f" {counted(done.rows, 'row')}, {done.file_bytes:,} bytes."
        )
    return 0


@click.command("import")
@click.argument("file")
@common_options
def import_file(common: Common, file: str) -> int:
    """Take the collection in FILE into a store without it."""
    with common.index() as index:
        done = index.import_(file)
    if common.as_json:
        print_json({"ok": True, **done.as_fields()})
    else:
        console().print(
            f"Imported {done.file} as {done.collection}, up to generation {done.generation}:"
            f" {counted(done.rows, 'row')}."
        )
    return 0


@click.command()
@click.argument("file")
@common_options
def backup(common: Common, file: str) -> int:
    """Copy the whole store into the new FILE while it is in use."""
    with common.index() as index:
        done = index.backup(file)
    if common.as_json:
        print_json({"ok": True, **done.as_fields()})
    else:
        console().print(
            f"Copied the store into {done.file}: {done.file_bytes:,} bytes, every row checked."
        )
        console().print(f"SHA-256 {done.sha256}")
    return 0


COMMANDS = (export, import_file, backup)
