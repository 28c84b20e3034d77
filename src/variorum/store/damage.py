"""Where a store is damaged, row by row."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from sqlalchemy import Connection

from variorum.records.errors import DamagedError
from variorum.store.columns import ill_typed
from variorum.store.file import damaged
from variorum.store.schema import metadata
from variorum.store.seals import damaged_row, unsound_rows


def damaged_rows(connection: Connection) -> Iterator[str]:
    """Every row of every table that is not as it was written. Linear in the store."""
    for table in metadata.sorted_tables:
        yield from unsound_rows(connection, table)


def file_damage(connection: Connection, path: Path) -> DamagedError | None:
    """The error about the first thing that the engine finds wrong with its own file."""
    with connection.begin():
        problem = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
    return None if problem == "ok" else damaged(path, str(problem))


def first_damage(connection: Connection) -> DamagedError | None:
    """The error about the first row that is not as it was written, if there is one."""
    with connection.begin():
        row = next(chain(damaged_rows(connection), _ill_made(connection)), None)
    return None if row is None else damaged_row(row)


def dangling_rows(connection: Connection) -> Iterator[tuple[str, str]]:
    """(row, what is wrong) of every row that points to one that is not there."""
    for table, row, target, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield f"{table} rowid={row}", f"points to nothing in {target}"


def _ill_made(connection: Connection) -> Iterator[str]:
    """Every row that points to one that is not there, or whose columns are of other types."""
    for row, problem in dangling_rows(connection):
        yield f"{row}, which {problem}"
    for table in metadata.sorted_tables:
        yield from (f"{row}: {problem}" for row, problem in ill_typed(connection, table))
