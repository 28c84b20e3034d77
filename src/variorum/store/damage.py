"""Where a store is damaged, row by row."""

from collections.abc import Iterator
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
        row = next(damaged_rows(connection), None) or _row_of_nothing(connection)
    return None if row is None else damaged_row(row)


def _row_of_nothing(connection: Connection) -> str | None:
    """The first row that points to one that is not there, or whose columns are of other types."""
    for table, row, target, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        return f"{table} rowid={row}, which points to nothing in {target}"
    types = (ill_typed(connection, table) for table in metadata.sorted_tables)
    return next((f"{row}: {problem}" for found in types for row, problem in found), None)
