"""What a run asks of the store, in counts that no other process can disturb."""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Engine, event

_MANIFEST_SCAN = re.compile(
    r"^SELECT manifest\.id, manifest\.document_id, .* manifest\.to_generation IS NULL$", re.DOTALL
)


@dataclass(slots=True)
class Effort:
    """Statements in order, and the engine's virtual machine steps of each distinct one."""

    statements: list[str] = field(default_factory=list)
    steps: Counter[str] = field(default_factory=Counter)

    def steps_without_scan(self) -> int:
        """Steps, but for the one read of the open manifest rows that a listing is held against."""
        return sum(
            count for statement, count in self.steps.items() if not _MANIFEST_SCAN.match(statement)
        )


@contextmanager
def measured_effort(engine: Engine) -> Iterator[Effort]:
    """Count every statement and every virtual machine step inside the block."""
    effort = Effort()

    def begin(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        effort.statements.append(statement)

    def step() -> int:
        effort.steps[effort.statements[-1] if effort.statements else ""] += 1
        return 0

    def watch(connection: sqlite3.Connection, *_rest: object) -> None:
        connection.set_progress_handler(step, 1)

    def leave(connection: sqlite3.Connection, *_rest: object) -> None:
        connection.set_progress_handler(None, 1)

    listeners = (("before_cursor_execute", begin), ("checkout", watch), ("checkin", leave))
    for name, listener in listeners:
        event.listen(engine, name, listener)
    try:
        yield effort
    finally:
        for name, listener in listeners:
            event.remove(engine, name, listener)


def table_rows(store: Path) -> dict[str, int]:
    """Rows of every table; closed manifest rows apart, since closing one writes it again."""
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    names = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    rows = {name: _count(connection, f'"{name}"') for name in names}
    rows["closed manifest rows"] = _count(connection, "manifest WHERE to_generation IS NOT NULL")
    connection.close()
    return rows


def _count(connection: sqlite3.Connection, what: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {what}").fetchone()[0])


def rows_added(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """The tables that grew, and by how much."""
    grown = {name: after[name] - before.get(name, 0) for name in after}
    return {name: count for name, count in grown.items() if count}
