"""Giving the space of removed rows back to the file system, with nothing of them left behind."""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from variorum.records.errors import BusyError
from variorum.records.retention import Compaction
from variorum.store.file import FILE_NAME
from variorum.store.leases import leases
from variorum.store.schema import lease


def bytes_of(folder: Path) -> int:
    """Bytes of the store's files, write-ahead log included."""
    return sum(map(_size_of, folder.glob(f"{FILE_NAME}*")))


def _size_of(file: Path) -> int:
    """Its bytes; none where it is gone by now, as a log may be."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def compact(connection: Connection, folder: Path, before: int | None = None) -> Compaction:
    """Rebuild the file without free pages, and empty its log. Linear in the store.

    Takes as much free space as the store, until it is done; readers go on meanwhile. A reader that
    is at an older state keeps the log from being emptied, so that its bytes come back later.
    """
    size = bytes_of(folder) if before is None else before
    if _free_pages(connection):
        _run(connection, "VACUUM")
    empty_log(connection)
    return Compaction(size, bytes_of(folder))


def empty_log(connection: Connection) -> bool:
    """Copy the log's pages into the file and cut it to nothing; False where a reader is at it."""
    (busy, _, _) = _run(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
    return not busy


def overwrite_removed(connection: Connection) -> None:
    """From now on this connection overwrites what it deletes."""
    _run(connection, "PRAGMA secure_delete = ON")


def end_dead_leases(connection: Connection, folder: Path) -> None:
    """Take away the leases that writers left who are gone: they protect nothing."""
    with leases(connection, folder):
        pass  # The end of any holder does.


def require_no_writers(connection: Connection, folder: Path) -> None:
    """Refuse to go on while an input is being embedded: its vector would come in afterwards.

    Raises:
        BusyError: a run is at it, or ended without clearing up.
    """
    end_dead_leases(connection, folder)
    with connection.begin():
        writers = connection.execute(select(func.count(lease.c.holder.distinct()))).scalar_one()
    if writers:
        raise BusyError(
            "a sync is embedding, and could write what is to be erased",
            kind="sync-running",
            subject=str(folder),
            expected="no sync at work",
            found=f"{writers} at work",
            remedy="wait for it to end, or stop it, then erase again",
        )


def _free_pages(connection: Connection) -> int:
    return int(_run(connection, "PRAGMA freelist_count")[0])


def _run(connection: Connection, statement: str) -> Any:
    """Run a statement that must stand outside of any transaction; its first row."""
    previous = connection.get_execution_options().get("begin", "BEGIN")
    connection.execution_options(begin="")
    try:
        result = connection.exec_driver_sql(statement)
        return result.first() if result.returns_rows else None
    finally:
        connection.rollback()
        connection.execution_options(begin=previous)
