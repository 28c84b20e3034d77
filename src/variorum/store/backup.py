"""A copy of a store while it is in use, by the engine's own online backup."""

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from variorum.records.moving import BackedUp
from variorum.store.damage import file_damage, first_damage
from variorum.store.engine import meaningful_errors, open_engine
from variorum.store.exporting import new_file
from variorum.store.store import Store

_PAGES = 2_000
"""Pages copied between two looks at what came in, such as Ctrl-C."""


def back_up(store: Store, file: Path) -> BackedUp:
    """Copy the store as it stands at one moment into `file`, and check every row of the copy.

    Writers and readers go on meanwhile. Linear in the store.

    Raises:
        ConflictError: there is a file already.
        UnavailableError: it cannot be written.
        DamagedError: the store, and so the copy, is not as it was written.
    """
    with new_file(file) as beside:
        try:
            with meaningful_errors(beside):
                _copy(store, beside)
                _require_sound(beside)
        finally:
            for left in beside.parent.glob(f"{beside.name}-*"):
                left.unlink(missing_ok=True)
        copied, sha256 = beside.stat().st_size, _sha256(beside)
    return BackedUp(str(file), copied, sha256)


def _copy(store: Store, path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with store.connection() as connection, closing(sqlite3.connect(path)) as copy:
        # A transaction that has read keeps its moment: a writer does not start the copy anew.
        with connection.begin():
            connection.exec_driver_sql("SELECT count(*) FROM alembic_version").scalar()
            driver = connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            driver.backup(copy, pages=_PAGES)
        # One file, which may also be read where no log can be made.
        copy.execute("PRAGMA journal_mode = DELETE")


def _require_sound(path: Path) -> None:
    engine = open_engine(path, read_only=True)
    try:
        with engine.connect() as connection:
            damage = file_damage(connection, path) or first_damage(connection)
    finally:
        engine.dispose()
    if damage is not None:
        raise damage


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
