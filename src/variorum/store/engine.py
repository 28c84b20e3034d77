"""Opening a store: the engine, its transactions, its format, and what its errors mean."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool, StaticPool

from variorum.records.errors import (
    BusyError,
    DamagedError,
    NotFoundError,
    UnavailableError,
    UnsupportedError,
    VariorumError,
)
from variorum.store.schema import metadata

FORMAT = "0002"
"""Newest format this version reads and writes: the head of the migrations."""

BUSY_TIMEOUT_MS = 10_000
FILE_NAME = "store.sqlite"
_NETWORK_FILE_SYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs"})


def open_engine(path: Path) -> Engine:
    """An engine on the SQLite file at `path`, in WAL mode, durable at every commit.

    Raises:
        UnsupportedError: the file lies on a network file system, whose locks SQLite cannot trust.
    """
    refuse_network_file_system(path)
    # Never by text: a path may hold what a URL reads as a query or an escape.
    url = URL.create("sqlite", database=str(path.absolute()))
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=4,
        max_overflow=60,
        json_deserializer=_read_json,
        connect_args={"check_same_thread": False, "timeout": BUSY_TIMEOUT_MS / 1000},
    )
    _configure(engine)
    return engine


def empty_engine() -> Engine:
    """An engine on an empty store in memory: what a plan compares with before the first sync."""
    engine = create_engine(
        "sqlite://",
        poolclass=StaticPool,
        connect_args={"check_same_thread": False},
        json_deserializer=_read_json,
    )
    _configure(engine)
    metadata.create_all(engine)
    return engine


@lru_cache(maxsize=4096)
def _read_json(stored: str) -> Any:
    """A stored JSON value; equal ones are one object, which nobody may change."""
    return json.loads(stored)


def _configure(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA temp_store = FILE")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


@contextmanager
def write_transaction(connection: Connection) -> Iterator[None]:
    """One immediate transaction: the writer's lock is taken at once, so it cannot fail half way."""
    previous = connection.get_execution_options().get("begin", "BEGIN")
    connection.execution_options(begin="BEGIN IMMEDIATE")
    try:
        with connection.begin():
            yield
    finally:
        connection.execution_options(begin=previous)


@contextmanager
def meaningful_errors(path: Path) -> Iterator[None]:
    """Turn an engine's errors into ours, about the store at `path`."""
    try:
        yield
    except VariorumError:
        raise
    except (DBAPIError, sqlite3.Error) as error:
        raise _meaning(error, path) from error


def _meaning(error: Exception, path: Path) -> VariorumError:
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    text = str(cause)
    subject = str(path)
    if "locked" in text or "busy" in text:
        return BusyError(
            "another process is writing to the store",
            kind="store-busy",
            subject=subject,
            expected=f"the write lock within {BUSY_TIMEOUT_MS // 1000} s",
            found=text,
            remedy="wait for the other run to end, then try again",
        )
    if "disk is full" in text:
        return UnavailableError(
            "no space is left for the store",
            kind="no-space",
            subject=subject,
            expected="free space on the store's disk and on the temporary folder's",
            found=text,
            remedy="free some space, then run the command again: finished vectors are kept",
        )
    if "readonly" in text or "read-only" in text or "unable to open" in text:
        return UnavailableError(
            "the store cannot be written",
            kind="store-not-writable",
            subject=subject,
            expected="a folder that this user may write",
            found=text,
            remedy="check the folder's permissions, or name another with --store",
        )
    if "malformed" in text or "not a database" in text or "disk I/O" in text:
        return DamagedError(
            "the store's file is damaged",
            kind="store-damaged",
            subject=subject,
            expected="an intact SQLite database",
            found=text,
            remedy="restore the file from a backup, or remove it and sync again",
        )
    return DamagedError(
        "the store answered with an unexpected error",
        kind="store-error",
        subject=subject,
        found=f"{type(cause).__name__}: {text}",
        remedy="run `variorum verify`; if it finds nothing, please report this",
    )


def current_format(engine: Engine) -> str | None:
    """The format of the store, or None where there is no table yet."""
    with engine.connect() as connection:
        names = connection.exec_driver_sql(
            "SELECT name FROM sqlite_master WHERE name = 'alembic_version'"
        ).scalar()
        if names is None:
            return None
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
        return None if found is None else str(found)


def bring_up_to_date(engine: Engine, path: Path) -> None:
    """Create or upgrade the store's tables to `FORMAT`.

    Raises:
        UnsupportedError: the store was written by a newer version.
    """
    found = current_format(engine)
    if found == FORMAT:
        return
    require_known_format(found, path)
    from alembic import command
    from alembic.config import Config

    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with engine.connect() as connection, write_transaction(connection):
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, "head")


def require_known_format(found: str | None, path: Path) -> None:
    """Refuse a store of a newer format than this version knows.

    Raises:
        UnsupportedError: `found` is newer than `FORMAT`.
    """
    if found is not None and found > FORMAT:
        raise UnsupportedError(
            "the store was written by a newer version of Variorum",
            kind="store-newer",
            subject=str(path),
            expected=f"format {FORMAT} or older",
            found=f"format {found}",
            remedy="upgrade with `pip install -U variorum`, or name another store with --store",
        )


def require_store(path: Path) -> None:
    """Refuse to read a store that is not there.

    Raises:
        NotFoundError: no file at `path`.
    """
    if not path.is_file():
        raise NotFoundError(
            f"there is no store at {path.parent}",
            kind="no-store",
            subject=str(path.parent),
            expected=f"a folder holding {FILE_NAME}",
            found="nothing",
            remedy="run `variorum sync` first, or name the store with --store",
        )


def refuse_network_file_system(path: Path) -> None:
    """Refuse a path whose file system cannot be trusted with locks.

    Raises:
        UnsupportedError: a network file system holds `path`.
    """
    kind = _file_system(path)
    if kind in _NETWORK_FILE_SYSTEMS:
        raise UnsupportedError(
            "the store lies on a network file system, whose locks cannot be trusted",
            kind="network-file-system",
            subject=str(path),
            expected="a local disk",
            found=kind,
            remedy="put the store on a local disk with --store",
        )


def _file_system(path: Path) -> str:
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return ""
    resolved = str(path.absolute())
    best, kind = "", ""
    for line in mounts.read_text(errors="replace").splitlines():
        fields = line.split(" ")
        where = fields[1].replace("\\040", " ")
        inside = resolved == where or resolved.startswith(where.rstrip("/") + "/")
        if inside and len(where) >= len(best):
            best, kind = where, fields[2]
    return kind
