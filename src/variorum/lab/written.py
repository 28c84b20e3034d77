"""What runs have written into a folder: their tables, read back with their records."""

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from variorum.lab.pool import RESULTS
from variorum.lab.record import AUDIT
from variorum.lab.worst import WORST
from variorum.records.errors import DamagedError, NotFoundError

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Written:
    """A table and the record beside it."""

    name: str
    folder: Path
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    record: Mapping[str, Any]

    @property
    def title(self) -> str:
        """What the table is about."""
        return str(self.record["title"])

    @property
    def notes(self) -> list[str]:
        """Sentences that a reader needs beside it."""
        return [str(one) for one in self.record["notes"]]


@dataclass(frozen=True, slots=True)
class Folder:
    """One run's folder: its tables by name, its audit, its worst documents."""

    path: Path
    tables: Mapping[str, Written]
    audit: tuple[Mapping[str, Any], ...]
    worst: tuple[Mapping[str, Any], ...]


def written(folder: Path) -> list[Folder]:
    """Every run below a folder that wrote a table, the folder itself first.

    Raises:
        NotFoundError: kind `no-tables`, where there is none.
        DamagedError: kind `changed-table`, for a table that is not the one its record names.
    """
    places = sorted({path.parent for path in folder.rglob("*.json") if path.parent.name != RESULTS})
    found = [one for place in places if (one := _folder(place)).tables]
    if not found:
        raise NotFoundError(
            f"no run has written a table below {folder}",
            kind="no-tables",
            subject=str(folder),
            expected="the --out folder of a command of the lab",
            found="no table with its record",
            remedy="run for instance `variorum lab recompute --revisions FILE` first",
        )
    return found


def _folder(place: Path) -> Folder:
    tables = {one.name: one for one in _tables(place)}
    worst = _json(place / WORST) or []
    return Folder(place, tables, tuple(_audit(place / AUDIT)), tuple(worst))


def _tables(place: Path) -> Iterator[Written]:
    for path in sorted(place.glob("*.json")):
        record = _json(path)
        if not isinstance(record, dict) or "table" not in record:
            continue
        content = path.with_suffix(".csv").read_bytes()
        _check(path, content, record)
        reader = csv.DictReader(content.decode().splitlines(keepends=True))
        rows = tuple(reader)
        yield Written(str(record["table"]), place, tuple(reader.fieldnames or ()), rows, record)


def _check(path: Path, content: bytes, record: Mapping[str, Any]) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != record["sha256"]:
        raise DamagedError(
            f"{path.with_suffix('.csv')} is not the table that its record names",
            kind="changed-table",
            subject=str(path.with_suffix(".csv")),
            expected=f"SHA-256 {record['sha256']}",
            found=found,
            remedy="run the command of the record again",
        )


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _audit(path: Path) -> Iterator[Mapping[str, Any]]:
    if path.exists():
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)
