"""One making of each statement's SQL for every engine of a process and of its forks.

Every open index has an engine of its own, and making the SQL is most of what a short run costs.
"""

from typing import Any

from sqlalchemy import Engine
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.util import LRUCache

from variorum.store import engine


def make_statements_once() -> None:
    """From now on, engines that are made share their statements."""
    statements: LRUCache[Any, Any] = LRUCache(2_000)
    dialect: Any = SQLiteDialect
    dialect.__hash__ = lambda _: 1
    dialect.__eq__ = lambda one, other: type(one) is type(other)
    made = engine.create_engine

    def with_statements(*arguments: Any, **named: Any) -> Engine:
        one = made(*arguments, **named)
        one._compiled_cache = statements
        return one

    engine.create_engine = with_statements
