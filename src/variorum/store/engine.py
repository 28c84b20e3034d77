"""Opening a store: the engine, its transactions, its format, and what its errors mean."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
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
from variorum.store.dialect import COMPILED, URL
from variorum.store.file import (
    BACKUP,
    FILE_NAME,
    Identity,
    cannot_open,
    damaged,
    gone,
    identity_of,
    is_present,
    not_writable,
    refuse_network_file_system,
    replaced,
)
from variorum.store.schema import metadata
from variorum.store.seals import crc32, write_json

KNOWN_FORMATS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008")
FORMAT = KNOWN_FORMATS[-1]
"""Newest format this version reads and writes: the head of the migrations."""

BUSY_TIMEOUT_MS = 10_000
_migrating = Lock()
_POLL_MS = 200
_STEPS_BETWEEN_SIGNALS = 200_000
"""Steps of the engine between two looks at what came in, such as Ctrl-C: some milliseconds."""


def open_engine(path: Path, *, read_only: bool = False, still: bool = False) -> Engine:
    """An engine on the SQLite file at `path`, which is there: in WAL mode, durable at every commit.

    With `read_only` nothing is written; with `still` besides nothing is locked either, which is
    right only while nobody writes.

    Raises:
        UnsupportedError: the file lies on a network file system, whose locks SQLite cannot trust.
    """
    refuse_network_file_system(path)
    options = "mode=ro&immutable=1" if still else "mode=ro" if read_only else "mode=rw"
    # As a quoted URI: a path may hold what SQLite reads as an option or an escape.
    uri = f"{path.absolute().as_uri()}?{options}"

    def connect() -> sqlite3.Connection:
        timeout_s = BUSY_TIMEOUT_MS / 1000
        return sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=timeout_s)

    identity = identity_of(path)
    engine = create_engine(
        URL,
        creator=connect,
        poolclass=QueuePool,
        pool_size=4,
        max_overflow=60,
        json_serializer=write_json,
        json_deserializer=_read_json,
        execution_options={"file": (path, identity), "compiled_cache": COMPILED},
    )
    _configure(engine, read_only=read_only or still)
    event.listen(engine, "connect", partial(_require_at, path, identity))
    return engine


def _require_at(path: Path, identity: Identity | None, connection: Any, _record: Any) -> None:
    """Refuse a new connection that may be to another file, or to this one with another's log."""
    connection.execute("PRAGMA schema_version").fetchone()  # Opens the log, by its name.
    if identity_of(path) != identity:
        raise replaced(path)


def empty_engine() -> Engine:
    """An engine on an empty store that nobody else sees and that goes with its last connection.

    What a plan compares with before the first sync, and where it keeps what it spends. In memory
    while it is small, else in a temporary file. One connection: one thread at a time.
    """
    engine = create_engine(
        URL,
        poolclass=StaticPool,
        creator=lambda: sqlite3.connect("", check_same_thread=False),
        json_serializer=write_json,
        json_deserializer=_read_json,
        execution_options={"compiled_cache": COMPILED},
    )
    _configure(engine)
    metadata.create_all(engine)
    return engine


class NotJsonError(Exception):
    """A stored JSON value cannot be read: which row holds it, its seal says."""


@lru_cache(maxsize=4096)
def _read_json(stored: str) -> Any:
    """A stored JSON value; equal ones are one object, which nobody may change."""
    try:
        return json.loads(stored)
    except (ValueError, TypeError, RecursionError) as error:
        raise NotJsonError(str(error)) from error


def _look_for_signals() -> int:
    """Runs between the engine's steps, where Python takes up the signals that came in."""
    return 0


def _configure(engine: Engine, *, read_only: bool = False) -> None:
    @event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        connection.create_function("crc32", 1, crc32, deterministic=True)
        connection.set_progress_handler(_look_for_signals, _STEPS_BETWEEN_SIGNALS)
        cursor = connection.cursor()
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA temp_store = FILE")
        if not read_only:
            cursor.execute("PRAGMA journal_mode = WAL")
            cursor.execute("PRAGMA synchronous = FULL")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Connection) -> None:
        statement = connection.get_execution_options().get("begin", "BEGIN")
        if not statement:
            return  # Statements that the engine runs outside of any transaction.
        if statement == "BEGIN":
            connection.exec_driver_sql(statement)
        else:
            _begin_when_free(connection, statement)


def _begin_when_free(connection: Connection, statement: str) -> None:
    """Take the writer's lock, waiting in short steps: between two, Ctrl-C is heard."""
    driver: Any = connection.connection.driver_connection
    give_up = monotonic() + BUSY_TIMEOUT_MS / 1000
    driver.execute(f"PRAGMA busy_timeout = {min(_POLL_MS, BUSY_TIMEOUT_MS)}")
    try:
        while True:
            try:
                connection.exec_driver_sql(statement)
                return
            except DBAPIError as error:
                if "locked" not in str(error.orig) or monotonic() >= give_up:
                    raise
    finally:
        with suppress(sqlite3.ProgrammingError):  # An interrupted connection is closed by now.
            driver.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


@contextmanager
def write_transaction(connection: Connection, *, lasting: bool = True) -> Iterator[None]:
    """One immediate transaction: the writer's lock is taken at once, so it cannot fail half way.

    Unless `lasting`, the disk is not waited for: a power cut may take it back, whole.

    Raises:
        UnavailableError: the file was taken away meanwhile, so that nobody would see what is
            written; it is not.
    """
    if connection.get_execution_options().get("rehearsal"):
        with connection.begin_nested():
            yield
        return
    driver: Any = connection.connection.driver_connection
    driver.execute(f"PRAGMA synchronous = {'FULL' if lasting else 'NORMAL'}")
    previous = connection.get_execution_options().get("begin", "BEGIN")
    connection.execution_options(begin="BEGIN IMMEDIATE")
    try:
        with connection.begin():
            yield
            _require_same_file(connection)
        _require_same_file(connection)
    finally:
        connection.execution_options(begin=previous)


@contextmanager
def rehearsal(connection: Connection) -> Iterator[None]:
    """One transaction that is taken back at its end, with all that others inside it write."""
    transaction = connection.begin()
    connection.execution_options(rehearsal=True)
    try:
        yield
    finally:
        connection.execution_options(rehearsal=False)
        transaction.rollback()


def _require_same_file(connection: Connection) -> None:
    path, identity = connection.get_execution_options().get("file", (None, None))
    if path is not None and identity_of(path) != identity:
        raise gone(path)


@contextmanager
def meaningful_errors(path: Path) -> Iterator[None]:
    """Turn an engine's errors into ours, about the store at `path`."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        if str(getattr(error, "orig", error)) == "interrupted":
            raise KeyboardInterrupt from error
        raise _meaning(error, path) from error
    except UnicodeDecodeError as error:  # The engine quotes a damaged schema in its message.
        raise damaged(path, str(error)) from error


def means_damage(error: Exception, path: Path) -> bool:
    """Whether an error of reading says that what is stored is not what was written."""
    if isinstance(error, DBAPIError | sqlite3.Error):
        return isinstance(_meaning(error, path), DamagedError)
    return isinstance(error, NotJsonError | DamagedError)


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
    if "readonly" in text or "read-only" in text:
        return not_writable(path, text)
    if "unable to open" in text:
        return cannot_open(path, text)
    if "malformed" in text or "not a database" in text or "disk I/O" in text:
        return damaged(path, text)
    return DamagedError(
        "the store answered with an unexpected error",
        kind="store-error",
        subject=subject,
        found=f"{type(cause).__name__}: {text}",
        remedy="run `variorum verify`; if it finds nothing, please report this",
    )


def current_format(engine: Engine, path: Path) -> str | None:
    """The format of the store, or None where there is no table yet.

    Raises:
        DamagedError: it has tables, and no format that any version wrote.
    """
    with engine.connect() as connection:
        names = connection.exec_driver_sql(
            "SELECT name FROM sqlite_master WHERE name = 'alembic_version'"
        ).scalar()
        if names is None:
            return None
        rows = connection.exec_driver_sql("SELECT version_num FROM alembic_version").all()
    found = ", ".join(str(row[0]) for row in rows)
    if len(rows) != 1 or (found not in KNOWN_FORMATS and not _is_newer(found)):
        raise DamagedError(
            "the store's format is none that any version wrote",
            kind="store-damaged",
            subject=f"{path}, alembic_version.version_num",
            expected=f"one of {', '.join(KNOWN_FORMATS)}",
            found=found or "none",
            remedy=BACKUP,
        )
    return found


def _is_newer(found: str) -> bool:
    return len(found) == len(FORMAT) and found.isdecimal() and found > FORMAT


def bring_up_to_date(engine: Engine, path: Path, *, read_only: bool = False) -> bool:
    """Create or upgrade the store's tables to `FORMAT`; whether there was an older store.

    Raises:
        UnsupportedError: the store was written by a newer version.
        UnavailableError: it is older, and may not be written.
        DamagedError: its format is none that any version wrote.
    """
    found = current_format(engine, path)
    if found == FORMAT:
        return False
    require_known_format(found, path)
    if read_only:
        raise not_writable(path, f"a store of format {found} that must be brought to {FORMAT}")
    from alembic import command
    from alembic.config import Config

    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    # Alembic keeps the migration at work in globals of the process: one thread at a time.
    with _migrating, engine.connect() as connection, write_transaction(connection):
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, "head")
    return found is not None


def require_known_format(found: str | None, path: Path) -> None:
    """Refuse a store of a newer format than this version knows.

    Raises:
        UnsupportedError: `found` is newer than `FORMAT`.
    """
    if found is not None and _is_newer(found):
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
        UnavailableError: its folder may not be entered.
    """
    if not is_present(path):
        raise NotFoundError(
            f"there is no store at {path.parent}",
            kind="no-store",
            subject=str(path.parent),
            expected=f"a folder holding {FILE_NAME}",
            found="nothing",
            remedy="run `variorum sync` first, or name the store with --store",
        )
