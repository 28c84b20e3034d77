"""Reading an export: checked as a whole before anything is taken from it."""

import hashlib
import json
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sqlalchemy import LargeBinary

from variorum.records.errors import (
    DamagedError,
    InputError,
    NotFoundError,
    UnavailableError,
    UnsupportedError,
    VariorumError,
)
from variorum.store.engine import FORMAT
from variorum.store.exporting import KIND, VERSION
from variorum.store.portable import PARTS

_LONGEST_FIRST_LINE = 1 << 16

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Export:
    """An export whose checksums hold."""

    file: Path
    tenant: str
    collection: str
    generation: int
    rows: int
    file_bytes: int
    sha256: str

    def part(self, name: str) -> Iterator[Row]:
        """The rows of a part, in order; none where an older version had no such table."""
        with self.file.open("rb") as opened:
            for line in opened:
                if line.startswith(_opening(name)):
                    yield from _rows(opened, name, json.loads(line)["columns"])
                    return


def _opening(name: str) -> bytes:
    return f'{{"part":"{name}","columns":'.encode()


def _rows(opened: IO[bytes], name: str, columns: list[str]) -> Iterator[Row]:
    table = PARTS[name].table
    is_bytes = {one for one in columns if isinstance(table.c[one].type, LargeBinary)}
    for line in opened:
        if not line.startswith(b"["):
            return
        row = dict(zip(columns, json.loads(line), strict=True))
        for one in is_bytes:
            row[one] = None if row[one] is None else b64decode(row[one])
        yield row


def checked(file: Path) -> Export:
    """Read an export through, and say what it holds. Linear in it.

    Raises:
        NotFoundError: there is no such file.
        UnavailableError: it cannot be read.
        InputError: it is no export.
        UnsupportedError: a version with another format wrote it.
        DamagedError: it is not as it was written.
    """
    try:
        with file.open("rb") as opened:
            return _Checking(file, opened).run()
    except FileNotFoundError as error:
        raise NotFoundError(
            f"there is no file at {file}",
            kind="no-such-file",
            subject=str(file),
            expected="a file that `variorum export` wrote",
            found="nothing",
            remedy="check the path",
        ) from error
    except OSError as error:
        raise UnavailableError(
            f"{file} cannot be read",
            kind="unreadable-file",
            subject=str(file),
            expected="a readable file",
            found=error.strerror or str(error),
            remedy="check its permissions",
        ) from error


class _Checking:
    """One reading of a file, line by line."""

    def __init__(self, file: Path, opened: IO[bytes]) -> None:
        self._file = file
        self._opened = opened
        self._whole = hashlib.sha256()
        self._line_number = 0
        self._bytes = 0
        self._last = b""

    def run(self) -> Export:
        head = self._head()
        rows = 0
        for name in head["parts"]:
            rows += self._part(name)
        sha256 = self._whole.hexdigest()
        end = self._object()
        if end.get("end") != KIND or end.get("rows") != rows or end.get("sha256") != sha256:
            raise self._damaged(f"a last line with {rows} rows and SHA-256 {sha256}", str(end))
        if self._opened.read(1):
            raise self._damaged("the end of the file", "something behind its last line")
        return Export(
            self._file,
            str(head["tenant"]),
            str(head["collection"]),
            int(head["generation"]),
            rows,
            self._bytes,
            sha256,
        )

    def _head(self) -> dict[str, Any]:
        line = self._opened.readline(_LONGEST_FIRST_LINE)
        head = _parsed(line)
        if not isinstance(head, dict) or head.get("kind") != KIND:
            raise self._foreign(line)
        self._note(line)
        if head.get("version") != VERSION or str(head.get("format")) > FORMAT:
            raise self._newer(f"version {head.get('version')}, format {head.get('format')}")
        if head.get("format") != FORMAT:
            raise self._older(f"format {head.get('format')}")
        known = isinstance(head.get("parts"), list) and set(head["parts"]) <= set(PARTS)
        if not known or not {"tenant", "collection", "generation"} <= set(head):
            raise self._damaged("a first line that names whose it is, and its parts", str(head))
        return head

    def _part(self, name: str) -> int:
        opening = self._object()
        table = PARTS[name].table
        columns = opening.get("columns")
        if opening.get("part") != name or not isinstance(columns, list):
            raise self._damaged(f"the part {name}", str(opening))
        if not set(columns) <= set(table.c.keys()):
            raise self._damaged(f"columns of {name}", str(columns))
        digest = hashlib.sha256()
        for rows, line in enumerate(self._opened):
            self._note(line)
            if not line.startswith(b"["):
                self._close_part(name, rows, digest.hexdigest())
                return rows
            digest.update(line)
            values = _parsed(line)
            if not isinstance(values, list) or len(values) != len(columns):
                raise self._damaged(f"{len(columns)} values of {name}", "another line")
        raise self._damaged(f"the end of the part {name}", "the end of the file: it was cut off")

    def _close_part(self, name: str, rows: int, sha256: str) -> None:
        closing = _parsed(self._last)
        wanted = {"part": name, "rows": rows, "sha256": sha256}
        if closing != wanted:
            raise self._damaged(
                f"{rows} rows of {name} with SHA-256 {sha256}", self._last.decode(errors="replace")
            )

    def _object(self) -> dict[str, Any]:
        line = self._opened.readline()
        self._note(line)
        found = _parsed(line)
        if not isinstance(found, dict):
            shown = "another line" if line else "the end of the file: it was cut off"
            raise self._damaged("a line that says what follows", shown)
        return found

    def _note(self, line: bytes) -> None:
        self._line_number += 1
        self._bytes += len(line)
        self._whole.update(line)
        self._last = line

    def _damaged(self, expected: str, found: str) -> VariorumError:
        return DamagedError(
            "the export is not as it was written; nothing was imported",
            kind="export-damaged",
            subject=f"{self._file}, line {self._line_number}",
            expected=expected,
            found=found.strip(),
            remedy="copy the file again, or export again",
        )

    def _foreign(self, line: bytes) -> VariorumError:
        return InputError(
            f"{self._file} is no export of a collection",
            kind="not-an-export",
            subject=str(self._file),
            expected=f"a first line of JSON with the kind {KIND!r}",
            found=line[:80].decode(errors="replace").strip() or "an empty file",
            remedy="name a file that `variorum export` wrote",
        )

    def _newer(self, found: str) -> VariorumError:
        return UnsupportedError(
            "the export was written by a newer version of Variorum",
            kind="export-newer",
            subject=str(self._file),
            expected=f"version {VERSION}, format {FORMAT} or older",
            found=found,
            remedy="upgrade with `pip install -U variorum`",
        )

    def _older(self, found: str) -> VariorumError:
        return UnsupportedError(
            "the export was written by an older version of Variorum",
            kind="export-older",
            subject=str(self._file),
            expected=f"format {FORMAT}",
            found=found,
            remedy="import it with the version that wrote it, upgrade, and export again",
        )


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
