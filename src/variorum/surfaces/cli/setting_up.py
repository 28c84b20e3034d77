"""`init` and `doctor`."""

from pathlib import Path

import click

from variorum.door.config import FILE_NAME
from variorum.door.several import examine_each
from variorum.door.template import template
from variorum.records.arguments import place
from variorum.records.errors import ConflictError, NotFoundError, UnavailableError
from variorum.surfaces.cli.options import Common, common_options
from variorum.surfaces.cli.output import console, print_json


@click.command()
@click.argument("root", default=".", metavar="[FOLDER]")
@click.option("--print", "print_only", is_flag=True, help="Print it instead of writing it.")
@common_options
def init(common: Common, root: str, print_only: bool) -> int:
    """Write a commented variorum.toml for the documents in FOLDER."""
    file = Path(FILE_NAME if common.config is None else place("config", common.config))
    text = template(place("FOLDER", root), file.parent)
    _require_there(Path(root))
    if print_only:
        click.echo(text, nl=False)
        return 0
    _write_new(file, text)
    if common.as_json:
        print_json({"ok": True, "written": str(file)})
    else:
        console().print(f"Wrote {file}. Next: `variorum plan`, then `variorum sync`.")
    return 0


def _require_there(root: Path) -> None:
    if not root.exists():
        raise NotFoundError(
            f"there is no folder {root}",
            kind="no-such-folder",
            subject=str(root),
            expected="the folder of the documents, or a .jsonl file",
            found="nothing",
            remedy="make the folder first, or name another",
        )


def _write_new(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError as error:
        raise ConflictError(
            f"{file} is there already",
            kind="config-exists",
            subject=str(file),
            expected="no file of that name",
            found="one",
            remedy="edit it, or see `variorum init --print`",
        ) from error
    except OSError as error:
        raise UnavailableError(
            f"{file} cannot be written",
            kind="config-not-writable",
            subject=str(file),
            expected="a folder that this user may write",
            found=error.strerror or str(error),
            remedy="make the folder, or check its permissions",
        ) from error


@click.command()
@common_options
def doctor(common: Common) -> int:
    """Say what is missing or wrong on this machine."""
    with common.each() as indexes:
        checks = examine_each(indexes)
    wrong = any(check.state == "wrong" for check in checks)
    if common.as_json:
        print_json({"ok": not wrong, "checks": [check.as_fields() for check in checks]})
    else:
        marks = {"ok": "ok", "warning": "warning", "wrong": "WRONG"}
        styles = {"ok": "green", "warning": "yellow", "wrong": "bold red"}
        out = console()
        for check in checks:
            out.print(f"{marks[check.state]:<8}", style=styles[check.state], end="")
            out.print(f"{check.name}: {check.found}")
            if check.remedy:
                out.print(f"        do: {check.remedy}")
    return UnavailableError.exit_code if wrong else 0


COMMANDS = (init, doctor)
