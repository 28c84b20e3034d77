"""Where a store is damaged, row by row."""

from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection

from variorum.records.errors import DamagedError
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
        row = next(damaged_rows(connection), None)
    return None if row is None else damaged_row(row)
