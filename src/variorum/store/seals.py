"""A checksum in every row over its own columns: what the disk gave back is what was written.

It is made against damage, not against malice. A row's own id is left out where the engine chooses
it; the engine's indexes and references hold that.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    LargeBinary,
    Select,
    Table,
    bindparam,
    case,
    cast,
    false,
    func,
    insert,
    literal_column,
    null,
    select,
    update,
)
from sqlalchemy.types import JSON, Boolean, String

from variorum.records.errors import DamagedError
from variorum.store.conflict import insert_ignoring

SEAL = "seal"
BACKUP_OR_SYNC = (
    "run `variorum verify` for all that is damaged; restore the store from a backup, or remove its"
    " folder and sync again"
)


def crc32(value: object) -> int | None:
    """The engine's function `crc32`: of bytes, and of nothing else."""
    return zlib.crc32(value) if isinstance(value, bytes) else None


def write_json(value: object) -> str:
    """A JSON value as it is stored."""
    return json.dumps(value)


@cache
def sealed_columns(table: Table) -> tuple[Column[Any], ...]:
    """The columns that a row's seal covers, in order."""
    chosen_by_engine = table.primary_key.columns.keys() == ["id"]
    return tuple(
        column
        for column in table.c
        if column.name != SEAL and not (chosen_by_engine and column.name == "id")
    )


def seal_of(table: Table, row: Mapping[str, object]) -> int:
    """The seal of a row that is given by value; equal to what `sealed` makes of it."""
    parts = (_printed(column, row.get(column.name)) for column in sealed_columns(table))
    return zlib.crc32(",".join(parts).encode())


def _printed(column: Column[Any], value: object) -> str:
    kind = column.type
    if isinstance(kind, JSON):
        return write_json(value).encode().hex().upper()
    if value is None:
        return "NULL" if isinstance(kind, Integer | Boolean) else ""
    if isinstance(kind, String):
        return str(value).encode().hex().upper()
    if isinstance(kind, LargeBinary):
        return str(crc32(value))
    return str(int(value))  # type: ignore[call-overload]


def sealed(table: Table, values: Mapping[str, ColumnElement[Any]]) -> ColumnElement[int]:
    """The seal of a row whose columns are `values`, for the engine to work out."""
    joined: ColumnElement[Any] | None = None
    for column in sealed_columns(table):
        part = _part(column, values.get(column.name, null()))
        joined = part if joined is None else joined.op("||")(literal_column("','")).op("||")(part)
    return func.crc32(cast(joined, LargeBinary), type_=Integer)


def _part(column: Column[Any], value: ColumnElement[Any]) -> ColumnElement[Any]:
    if isinstance(column.type, String | JSON):
        return func.hex(value, type_=String)
    if isinstance(column.type, LargeBinary):
        return func.crc32(value, type_=Integer)
    return func.quote(value, type_=String)


@cache  # Of few tables, and building it costs more than running it.
def is_sound(table: Table) -> ColumnElement[bool]:
    """Whether a stored row is as it was written; never unknown."""
    return func.coalesce(table.c[SEAL] == sealed(table, dict(table.c)), false())


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, object]]) -> int:
    """Insert rows given by value, sealed; those whose unique key is taken stay as they are."""
    full = [{**row, SEAL: seal_of(table, row)} for row in rows]
    return connection.execute(insert_ignoring(connection.dialect.name, table), full).rowcount


def insert_selected(
    connection: Connection,
    table: Table,
    columns: tuple[str, ...],
    rows: Select[Any],
    parameters: Mapping[str, object] | None = None,
    *,
    ignoring: bool = False,
) -> None:
    """Insert the selected rows, sealed. `columns` are named in the order of the selection.

    The statement is kept by the selection itself: one that is built anew costs more than it runs.
    """
    statement = _insert_selected(connection.dialect.name, table, columns, rows, ignoring)
    connection.execute(statement, parameters or {})


@lru_cache(maxsize=64)
def _insert_selected(
    dialect: str, table: Table, columns: tuple[str, ...], rows: Select[Any], ignoring: bool
) -> Any:
    inner = rows.subquery()
    values: dict[str, ColumnElement[Any]] = dict(zip(columns, inner.c, strict=True))
    source = select(*inner.c, sealed(table, values))
    into: Any = insert_ignoring(dialect, table) if ignoring else insert(table)
    return into.from_select([*columns, SEAL], source)


def resealed(table: Table, **changed: object) -> dict[str, Any]:
    """The values of an UPDATE that sets `changed`, and the seal that fits them."""
    new: dict[str, ColumnElement[Any]] = {
        name: value
        if isinstance(value, ColumnElement)
        else bindparam(f"new_{name}", value, type_=table.c[name].type)
        for name, value in changed.items()
    }
    return {**new, SEAL: sealed(table, {**dict(table.c), **new})}


def reseal_row(connection: Connection, table: Table, identifier: int, **changed: object) -> None:
    """Set columns of the row with an id, and the seal that fits them."""
    mine = update(table).where(table.c.id == bindparam("wanted"))
    connection.execute(mine.values(resealed(table, **changed)), {"wanted": identifier})


def unsound_rows(connection: Connection, table: Table) -> Iterator[str]:
    """Every row that is not as it was written, such as "chunk layout_id=1 ordinal=2"."""
    yield from connection.execute(_unsound_rows(table)).scalars()


@cache
def _unsound_rows(table: Table) -> Select[str]:
    return select(named(table)).where(~is_sound(table))


def unsound(*tables: Table) -> list[ColumnElement[str | None]]:
    """A column for each table: the name of its row where that is not as it was written."""
    return [_unsound(table) for table in tables]


@cache
def _unsound(table: Table) -> ColumnElement[str | None]:
    return case((~is_sound(table), named(table)), else_=None)


def named(table: Table) -> ColumnElement[str]:
    """A row's name in messages, for the engine to make: `name_of`."""
    name: ColumnElement[Any] = literal_column(f"'{table.name}'")
    for key in table.primary_key.columns:
        name = name.op("||")(literal_column(f"' {key.name}='")).op("||")(func.quote(key))
    return name


def require_sound(row: Sequence[Any], tables: int) -> Sequence[Any]:
    """A selected row without its last `tables` columns, which `unsound` gave.

    Raises:
        DamagedError: one of them names a row.
    """
    for named in row[-tables:]:
        if named is not None:
            raise damaged_row(named)
    return row[:-tables]


def name_of(table: Table, key: Iterable[object]) -> str:
    """A row's name in messages."""
    names = table.primary_key.columns.keys()
    parts = (f"{name}={value}" for name, value in zip(names, key, strict=True))
    return " ".join([table.name, *parts])


def damaged_row(row: str) -> DamagedError:
    """The error about a row that is not as it was written."""
    return DamagedError(
        "a row of the store is not as it was written",
        kind="row-damaged",
        subject=row,
        expected="the row that its checksum was made from",
        found="another",
        remedy=BACKUP_OR_SYNC,
    )
