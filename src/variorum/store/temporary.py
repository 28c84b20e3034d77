"""Temporary tables, made and dropped by statements that are worked out once."""

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import Connection, Dialect, MetaData
from sqlalchemy.schema import CreateIndex, CreateTable, DropTable, ExecutableDDLElement


def make_temporary(connection: Connection, tables: MetaData) -> None:
    """Make the tables anew, empty."""
    drop_temporary(connection, tables)
    for statement in _making(tables, connection.dialect):
        connection.exec_driver_sql(statement)


def drop_temporary(connection: Connection, tables: MetaData) -> None:
    """Drop those of the tables that are there."""
    for statement in _dropping(tables, connection.dialect):
        connection.exec_driver_sql(statement)


@lru_cache(maxsize=16)  # A dialect belongs to an engine, and engines come and go.
def _making(tables: MetaData, dialect: Dialect) -> Sequence[str]:
    made: list[ExecutableDDLElement] = []
    for table in tables.sorted_tables:
        made += [CreateTable(table), *map(CreateIndex, table.indexes)]
    return [str(statement.compile(dialect=dialect)) for statement in made]


@lru_cache(maxsize=16)  # A dialect belongs to an engine, and engines come and go.
def _dropping(tables: MetaData, dialect: Dialect) -> Sequence[str]:
    return [
        str(DropTable(table, if_exists=True).compile(dialect=dialect))
        for table in reversed(tables.sorted_tables)
    ]
