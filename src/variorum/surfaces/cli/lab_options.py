"""Options that the commands of the lab share: they open no index."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.table import Table as Printed

from variorum.lab.peers import BY_DEFAULT
from variorum.lab.recall.running import DEFAULT_BUDGET
from variorum.lab.record import Cell, Table, printed
from variorum.lab.trial import Settings
from variorum.lab.versions import TEXT_RULES
from variorum.surfaces.cli.options import Common, with_options
from variorum.surfaces.cli.output import console

F = TypeVar("F", bound=Callable[..., Any])
_NAME_WIDTH = 34
_FILE_WIDTH = 120
"""Columns of a table where the output is no terminal."""


def lab_options(command: F) -> F:
    """Add `--json` and `-q`; the command takes them as `common`."""

    def with_common(**values: Any) -> Any:
        common = Common(values.pop("as_json"), values.pop("quiet"), None, None, None)
        return command(common=common, **values)

    return with_options(command, with_common, _LAB)


def study_options(command: F) -> F:
    """Add what every study of revisions takes; the command takes `settings` for it."""

    def with_settings(**values: Any) -> Any:
        settings = Settings(
            model=values.pop("model"),
            text_rule=values.pop("text_rule"),
            cap_tokens=values.pop("cap"),
            least_tokens=values.pop("min_tokens"),
            most_tokens=values.pop("max_tokens"),
        )
        return command(settings=settings, **values)

    return with_options(command, with_settings, _STUDY)


_COUNT = click.IntRange(min=1)
_LAB = (
    click.option(
        "--json", "as_json", is_flag=True, help="One JSON object on stdout; errors are one too."
    ),
    click.option("-q", "--quiet", is_flag=True, help="No progress bar."),
)
_STUDY = (
    click.option(
        "--model", default="e5-small", show_default=True, metavar="SPEC", help="Whose tokens count."
    ),
    click.option(
        "--text",
        "text_rule",
        type=click.Choice(TEXT_RULES),
        default="exact",
        show_default=True,
        help="The text as it is, or blocks with white space folded.",
    ),
    click.option(
        "--cap", type=_COUNT, metavar="TOKENS", help="Most content tokens [default: the model's]."
    ),
    click.option(
        "--min-tokens", type=_COUNT, metavar="N", help="Leave out documents with a version under N."
    ),
    click.option(
        "--max-tokens", type=_COUNT, metavar="N", help="Leave out documents with a version over N."
    ),
    click.option(
        "--workers", type=_COUNT, metavar="N", help="Processes [default: one a usable core]."
    ),
)

chunker_option = click.option(
    "--chunker",
    "chunkers",
    multiple=True,
    metavar="SPEC",
    help="Such as fixed(max_tokens=304) or anchored+planner; may be given again.",
)
peers_option = click.option("--peers", is_flag=True, help="Also splitters of other libraries.")
questions_option = click.option(
    "--questions", required=True, metavar="DATASET", help="A set of questions: its path or name."
)
budget_option = click.option(
    "--budget",
    type=_COUNT,
    default=DEFAULT_BUDGET,
    show_default=True,
    metavar="TOKENS",
    help="Tokens that are returned for a question.",
)
split_option = click.option(
    "--split",
    type=click.Choice(["tune", "held-out", "all"]),
    default="held-out",
    show_default=True,
    help="Which questions are asked.",
)


def revisions_option(command: F) -> F:
    """Add `--revisions FILE`, which must be given, and `--limit`."""
    file = click.option(
        "--revisions",
        required=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Pairs, chains or sentences: .jsonl or .jsonl.gz.",
    )
    limit = click.option(
        "--limit", type=_COUNT, metavar="N", help="The first N documents of each language."
    )
    return file(limit(command))


def out_option(default: str) -> Callable[[F], F]:
    """Add `--out DIR` with a default."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path(default),
        show_default=True,
        metavar="DIR",
        help="Where tables, records and the audit go.",
    )


def chosen(chunkers: Sequence[str], default: Sequence[str], *, peers: bool) -> list[str]:
    """The specs that a run compares."""
    return [*(chunkers or default), *(BY_DEFAULT if peers else ())]


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table for people, with its lines unbroken where the terminal is wide enough."""
    shown = Printed(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for number, column in enumerate(columns):
        named = number == 0 or column in ("chunker", "setting")
        widest = min(_NAME_WIDTH, max((len(row[number]) for row in rows), default=0))
        shown.add_column(
            column,
            justify="left" if named else "right",
            overflow="fold",
            min_width=widest if named else None,
        )
    for row in rows:
        shown.add_row(*row)
    out = console()
    if not out.is_terminal:
        out.width = max(out.width, _FILE_WIDTH)
    out.print(shown)
    out.print("")


def row_fields(table: Table) -> list[dict[str, Cell | float]]:
    """The rows of a table as JSON objects; numbers as its file prints them."""
    return [
        {
            column: cell if cell is None or isinstance(cell, str | int) else float(printed(cell))
            for column, cell in zip(table.columns, row, strict=True)
        }
        for row in table.rows
    ]
