"""`chunk`: how a file would be cut."""

import click

from variorum.door.cutting import Cut, cut_file
from variorum.door.several import cutting_alike
from variorum.records.errors import InputError
from variorum.surfaces.cli.options import Common, common_options
from variorum.surfaces.cli.output import console, counted, headings, on_one_line, print_json


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--chunker", metavar="SPEC", help="Such as fixed(max_tokens=256) [default: as configured]."
)
@click.option("--given", metavar="OLD_FILE", help="Plan reuse of this older file's chunks.")
@common_options
def chunk(common: Common, files: tuple[str, ...], chunker: str | None, given: str | None) -> int:
    """Show the ranges, sizes and heading paths that FILE is cut into.

    Stores nothing. With --json, one object a line for each FILE.
    """
    if given is not None and len(files) != 1:
        raise InputError(
            "--given compares with one file",
            kind="bad-parameter",
            subject="--given",
            expected="one FILE",
            found=f"{len(files)} files",
            remedy="run the command once for each file",
        )
    with common.each() as indexes:
        index = cutting_alike(indexes, chunker)
        common.note_limit(index, chunker)
        for file in files:
            cut = cut_file(index, file, chunker, given)
            if common.as_json:
                print_json(cut.as_fields())
            else:
                _print(cut)
    return 0


def _print(cut: Cut) -> None:
    out = console()
    out.print(
        f"{on_one_line(cut.path)}: {counted(len(cut.chunks), 'chunk')} by {cut.recipe}",
        style="bold",
    )
    if cut.fallback:
        out.print(f"read by a simpler parser: {on_one_line(cut.fallback)}")
    for chunk_ in cut.chunks:
        mark = "=" if chunk_.reused else " "
        path = headings(chunk_.heading_path)
        where = f"{chunk_.start:>7}–{chunk_.end:<7} {chunk_.tokens:>4} tokens"
        out.print(f"{mark} {where}  {path}".rstrip())
    if cut.reused_tokens is not None:
        share = cut.reused_tokens / max(1, sum(chunk_.tokens for chunk_ in cut.chunks))
        out.print(f"= marks inputs of the older file: {100 * share:.1f} % of the tokens")


COMMANDS = (chunk,)
