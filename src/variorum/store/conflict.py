"""Inserting rows that may be there already, on every engine."""

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_ignoring(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT into `table` that leaves a row alone whose unique key is taken."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).prefix_with("OR IGNORE")
