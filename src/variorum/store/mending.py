"""Rows that are not as they were written: what their checksum proves, and writing that."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Integer,
    LargeBinary,
    Table,
    func,
    literal_column,
    select,
)
from sqlalchemy.exc import DBAPIError

from variorum.records.repairs import Mended
from variorum.store.flips import Change, RawRow, Value, proven_change, raw_seal
from variorum.store.schema import metadata
from variorum.store.seals import SEAL, is_sound, name_of, sealed_columns

BY_CHECKSUM = "checksum"
"""A row mended by the one change that its own checksum allows."""

_MADE_AGAIN = frozenset({"lexicon", "indexed", "posting", "lease"})
"""Tables whose rows are made from others, or lapse: not mended one by one."""

_MOST_IDS = 2048
_SMALL = 1024


def mend_rows(connection: Connection) -> Iterator[Mended]:
    """Within a transaction: write every row again of which its checksum proves what it was."""
    for table in metadata.sorted_tables:
        if table.name in _MADE_AGAIN:
            continue
        known: dict[str, Iterable[Value]] | None = None
        for row in raw_rows(connection, table, ~is_sound(table)):
            known = _known(connection, table) if known is None else known
            change = proven_change(table, row, known)
            if change is not None and _is_written(connection, table, row, change):
                yield Mended(row_name(table, row), BY_CHECKSUM)


def raw_rows(connection: Connection, table: Table, which: ColumnElement[bool]) -> list[RawRow]:
    """The chosen rows of a table as its file holds them, whatever their columns should hold."""
    rowid: ColumnElement[int] = literal_column(f'"{table.name}".rowid')
    columns = [_raw(column) for column in table.c]
    rows = connection.execute(select(rowid, *columns).where(which)).all()
    return [_raw_row(table, *row) for row in rows]


def _raw(column: Column[Any]) -> ColumnElement[Any]:
    name = f'"{column.table.name}"."{column.name}"'
    return literal_column(
        f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END"
    )


def _raw_row(table: Table, rowid: int, *values: Value) -> RawRow:
    found = dict(zip(table.c.keys(), values, strict=True))
    return RawRow(rowid, found, found.pop(SEAL))


def row_name(table: Table, row: RawRow) -> str:
    """The name of a row in messages, as the engine makes it."""
    return name_of(table, (_quoted(key, row.values) for key in table.primary_key.columns))


def _quoted(column: Column[Any], values: Mapping[str, Value]) -> object:
    value = values[column.name]
    if not isinstance(value, bytes):
        return "NULL" if value is None else value
    if isinstance(column.type, LargeBinary):
        return f"X'{value.hex().upper()}'"
    return "'" + value.decode(errors="replace").replace("'", "''") + "'"


def _known(connection: Connection, table: Table) -> dict[str, Iterable[Value]]:
    """Values that the columns of a table may hold: ids that exist, small numbers, nothing."""
    known: dict[str, Iterable[Value]] = {}
    for column in sealed_columns(table):
        values: list[Value] = [None] if column.nullable else []
        if column.foreign_keys:
            values += _ids(connection, next(iter(column.foreign_keys)).column)
        elif isinstance(column.type, Boolean):
            values += [0, 1]
        elif type(column.type) is Integer:
            values += range(_SMALL)
        known[column.name] = values
    return known


def _ids(connection: Connection, column: Column[Any]) -> list[int]:
    if connection.execute(select(func.count()).select_from(column.table)).scalar_one() > _MOST_IDS:
        return []
    return list(connection.execute(select(column)).scalars())


def _is_written(connection: Connection, table: Table, row: RawRow, change: Change) -> bool:
    """Write one proven value; False where another row stands in its way."""
    if change.column == SEAL:
        return write_raw(connection, table, row)
    return write_raw(connection, table, row, **{change.column: change.value})


def write_raw(connection: Connection, table: Table, row: RawRow, **changed: Value) -> bool:
    """Write a row again with some columns changed, and the seal that fits it.

    False where a value is not of its column's type, or the engine refuses it.
    """
    values = {**row.values, **changed}
    seal = raw_seal(table, values)
    if seal is None:
        return False
    stored = {name: _stored(table.c[name], value) for name, value in changed.items()}
    return _is_set(connection, table, row.rowid, {**stored, SEAL: seal})


def _stored(column: Column[Any], value: Value) -> object:
    is_text = isinstance(value, bytes) and not isinstance(column.type, LargeBinary)
    return value.decode() if is_text else value  # type: ignore[union-attr]


def _is_set(connection: Connection, table: Table, rowid: int, values: Mapping[str, object]) -> bool:
    names = ", ".join(f'"{name}" = ?' for name in values)
    statement = f'UPDATE "{table.name}" SET {names} WHERE rowid = ?'
    try:
        with connection.begin_nested():
            connection.exec_driver_sql(statement, (*values.values(), rowid))
    except DBAPIError:
        return False
    return True
