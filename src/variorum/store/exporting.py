"""Writing a collection into one file: JSON Lines, with a SHA-256 of every part and of the whole.

The first line says what the file is. Each part is a line that names its columns, a line for each
row, and a line with the number and the SHA-256 of these. The last line has the SHA-256 of all lines
before it.
"""

import hashlib
import json
import secrets
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, LargeBinary, select

from variorum.records.errors import ConflictError, UnavailableError
from variorum.records.moving import Moved
from variorum.store.durable import name_finished
from variorum.store.engine import FORMAT
from variorum.store.portable import PARTS, Part
from variorum.store.seals import require_sound, unsound

VERSION = 1
KIND = "variorum export"


@dataclass(slots=True)
class Lines:
    """JSON values on their way into a file, a line each; hashed as they go."""

    file: IO[bytes]
    whole: Any = field(default_factory=hashlib.sha256)
    part: Any = field(default_factory=hashlib.sha256)
    written_bytes: int = 0

    def write(self, value: object) -> None:
        """Write one line."""
        line = json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        self.file.write(line)
        self.whole.update(line)
        self.part.update(line)
        self.written_bytes += len(line)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A place beside `path` to write at; it takes the name when the block ends well.

    Raises:
        ConflictError: there is something at `path`; it stays.
        UnavailableError: the folder cannot be written.
    """
    if path.exists():
        raise _taken(path)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        yield beside
        name_finished(beside, path)
    except FileExistsError as error:
        raise _taken(path) from error
    except OSError as error:
        raise UnavailableError(
            f"{path} cannot be written",
            kind="file-not-writable",
            subject=str(path),
            expected="a folder with space that this user may write",
            found=error.strerror or str(error),
            remedy="check the folder's permissions and its free space, or name another file",
        ) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _taken(path: Path) -> ConflictError:
    return ConflictError(
        f"there is a file at {path} already",
        kind="file-exists",
        subject=str(path),
        expected="a name that is free",
        found="a file, which stays as it is",
        remedy="name another file, or move that one away",
    )


def export(
    connection: Connection,
    collection_id: int,
    named: dict[str, object],
    file: Path,
    probes: list[bytes],
) -> Moved:
    """Write everything that belongs to a collection, as it stands at one moment.

    `named` says whose it is; `probes` are keys of inputs that no chunk holds and that go along.

    Raises:
        ConflictError: there is a file already.
        UnavailableError: it cannot be written.
        DamagedError: a row is not as it was written.
    """
    with new_file(file) as beside, beside.open("xb") as opened, connection.begin():
        lines = Lines(opened)
        newest = _generation(connection, collection_id)
        parts = list(PARTS)
        head = {"kind": KIND, "version": VERSION, "format": FORMAT}
        lines.write({**head, **named, "generation": newest, "parts": parts})
        rows = sum(
            _write_part(connection, collection_id, part, lines, probes) for part in PARTS.values()
        )
        sha256 = lines.whole.hexdigest()
        lines.write({"end": KIND, "rows": rows, "sha256": sha256})
    return Moved(str(file), str(named["collection"]), newest, rows, lines.written_bytes, sha256)


def _generation(connection: Connection, collection_id: int) -> int:
    head = PARTS["head"].table
    query = select(head.c.generation).where(head.c.collection_id == collection_id)
    return int(connection.execute(query).scalar_one())


def _write_part(
    connection: Connection, collection_id: int, part: Part, lines: Lines, probes: list[bytes]
) -> int:
    table = part.table
    lines.write({"part": table.name, "columns": [column.name for column in part.columns]})
    lines.part = hashlib.sha256()
    chosen = part.chosen(collection_id)
    if table.name in ("input", "vector"):
        chosen = chosen | _is_probe(table, probes)
    query = (
        select(*part.columns, *unsound(table)).where(chosen).order_by(*table.primary_key.columns)
    )
    is_bytes = [isinstance(column.type, LargeBinary) for column in part.columns]
    count = 0
    for row in connection.execute(query, execution_options={"yield_per": 500}):
        values = require_sound(row, 1)
        lines.write([_printed(*one) for one in zip(values, is_bytes, strict=True)])
        count += 1
    lines.write({"part": table.name, "rows": count, "sha256": lines.part.hexdigest()})
    return count


def _is_probe(table: Any, probes: list[bytes]) -> Any:
    inputs = PARTS["input"].table
    mine = select(inputs.c.id).where(inputs.c.key.in_(probes))
    return table.c["id" if table is inputs else "input_id"].in_(mine)


def _printed(value: object, is_bytes: bool) -> object:
    if is_bytes and value is not None:
        return b64encode(value).decode()  # type: ignore[arg-type]
    return value
