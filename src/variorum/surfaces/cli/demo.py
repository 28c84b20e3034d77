"""`demo`: the main job on the handbook that ships with the package, as real commands."""

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from variorum import demo as handbook
from variorum.door.index import open_index
from variorum.records.arguments import place
from variorum.records.errors import ConflictError, UnavailableError
from variorum.surfaces.cli.options import require_current_folder
from variorum.surfaces.cli.output import console

NEXT = (
    "variorum init docs && variorum plan -v    # your own documents: what would it cost?",
    "variorum sync && variorum search '…'      # index them, and ask",
    "variorum chunk --given OLD.md NEW.md      # what would one edit embed again?",
)


@click.command()
@click.option("--keep", metavar="FOLDER", help="Work in FOLDER, new or empty, and leave it.")
@click.option("--model", default="e5-small", show_default=True, metavar="SPEC", help="The model.")
def demo(keep: str | None, model: str) -> int:
    """Sync a small handbook, edit it, sync again, search both editions."""
    with _workplace(keep) as folder:
        _configure(folder, model)
        _say("A handbook of 20 documents, half English, half Chinese. The first sync embeds it.")
        _edition(folder, "first")
        _run("sync")
        _say("The second edition: a sentence here, a section moved there, a file renamed.")
        _edition(folder, "second")
        _run("plan")
        _run("sync")
        for question in _one_per_language():
            _say(_contrast(question))
            _run("search", question["query"], "-k", "1")
            _run("search", question["query"], "-k", "1", "--as-of", "1")
        _say("Every citation opens at its exact characters, in the exact revision.")
        _run("show", _citation(folder, _one_per_language()[0]["query"]))
        _run("log")
    _say("Next:")
    for line in NEXT:
        console().print(f"  {line}")
    return 0


@contextmanager
def _workplace(keep: str | None) -> Iterator[Path]:
    require_current_folder()
    before = Path.cwd()
    if keep is None:
        folder = Path(tempfile.mkdtemp(prefix="variorum-demo-"))
    else:
        folder = _made(Path(place("--keep", keep)).absolute())
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def _made(folder: Path) -> Path:
    """The folder, made where it is missing; one that holds anything is the user's own."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = next(folder.iterdir(), None)
    except OSError as error:
        raise UnavailableError(
            f"the folder {folder} cannot be made or read",
            kind="folder-not-writable",
            subject=str(folder),
            expected="a new or empty folder that this user may write",
            found=error.strerror or str(error),
            remedy="name another folder with --keep",
        ) from error
    if held is not None:
        raise ConflictError(
            f"the folder {folder} is not empty",
            kind="folder-not-empty",
            subject=str(folder),
            expected="a new or empty folder",
            found=held.name,
            remedy="name another folder with --keep, so that nothing of yours is overwritten",
        )
    return folder


def _configure(folder: Path, model: str) -> None:
    lines = ['[sources.handbook]\nroot = "handbook"\n', f"[model]\nspec = {json.dumps(model)}\n"]
    (folder / "variorum.toml").write_text("\n".join(lines), encoding="utf-8")


def _edition(folder: Path, name: str) -> None:
    target = folder / "handbook"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(handbook.edition("first" if name == "first" else "second"), target)


def _one_per_language() -> list[dict[str, str]]:
    questions: list[dict[str, str]] = handbook.facts()["questions"]
    return list({question["language"]: question for question in questions}.values())


def _contrast(question: dict[str, str]) -> str:
    return (
        f"Now “{question['answer_second']}”; in the first generation, "
        f"still there, “{question['answer_first']}”."
    )


def _citation(folder: Path, query: str) -> str:
    with open_index(folder) as index:
        return str(index.search(query, 1).hits[0].citation)


def _run(*arguments: str) -> None:
    console().print(f"\n$ variorum {shlex.join(arguments)}", style="bold cyan")
    root = click.get_current_context().find_root().command
    code = root.main(args=list(arguments), prog_name="variorum", standalone_mode=False)
    if code:
        raise click.exceptions.Exit(code)


def _say(text: str) -> None:
    console().print(f"\n{text}", style="italic")


COMMANDS = (demo,)
