"""One dialect for every store, so that a process compiles a statement once, not once a store."""

from typing import Any

from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

URL = "sqlite+variorum://"
_MOST = 1000


class StoreDialect(SQLiteDialect_pysqlite):
    """SQLite's dialect. All are equal: engines of stores differ in nothing that it depends on."""

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))


class _Statements(dict[Any, Any]):
    """Compiled statements; begun anew where there are many."""

    def __setitem__(self, key: Any, compiled: Any) -> None:
        if len(self) >= _MOST:
            self.clear()
        super().__setitem__(key, compiled)


COMPILED = _Statements()
"""What an engine's option `compiled_cache` takes."""

registry.register("sqlite.variorum", __name__, StoreDialect.__name__)
