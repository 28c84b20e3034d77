"""Inserting rows that may be there already, on every engine."""

from functools import cache

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite


@cache
def insert_ignoring(dialect: str, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT into `table` that leaves a row alone whose unique key is taken."""
    if dialect == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).prefix_with("OR IGNORE")
