"""The store's file as it is open: its engine, its connections, and whether it is still the same."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine

from variorum.records.errors import DamagedError
from variorum.store.creating import create_store, make_folder
from variorum.store.damage import first_damage
from variorum.store.engine import (
    NotJsonError,
    bring_up_to_date,
    current_format,
    empty_engine,
    meaningful_errors,
    open_engine,
)
from variorum.store.file import (
    FILE_NAME,
    Identity,
    Stillness,
    changed_meanwhile,
    damaged,
    is_present,
    is_writable,
    log_bytes,
    not_writable,
    present,
    replaced,
    require_whole,
    stillness_of,
)


class StoreFile:
    """A file that may not exist yet, opened when it is first asked for and again where another one
    took its place. Threads share it.

    Nothing is created before the first write: until then it reads as empty. `catch_up` is called
    where a store of an older format was brought up to date.
    """

    def __init__(self, folder: Path, catch_up: Callable[[Connection], None]) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self._catch_up = catch_up
        self._lock = threading.RLock()
        self._engine: Engine | None = None
        self._exists = False
        self._identity: Identity | None = None
        self._read_only = False
        self._still: Stillness | None = None
        self._openings = 0
        self._call = threading.local()

    @property
    def exists(self) -> bool:
        """Whether there is a file to read."""
        return self._exists or is_present(self.path)

    def engine(self, *, create: bool = False) -> Engine:
        """The engine; with `create` its file is made where there is none, and may be written.

        Raises:
            UnsupportedError: the store is of a newer format, or lies on a network file system.
            UnavailableError: its folder cannot be made, or it may not be read or, with `create`,
                written.
            DamagedError: the file is not what was written.
        """
        with self._lock:
            found = present(self.path)
            wanted = create or found is not None
            if self._engine is None or (wanted and not self._exists) or self._has_moved_on(found):
                self._release()
                self._engine = self._open(create=create) if wanted else empty_engine()
                self._identity = found or present(self.path)
                self._exists = wanted
                self._openings += 1
            if create and self._read_only:
                raise not_writable(self.path, "a store that this user may only read")
            return self._engine

    def opened(self) -> int:
        """Open the file that is there now, and say how often one was opened: what was read in an
        earlier opening may be another store's.
        """
        with self._lock:
            self.engine()
            return self._openings

    def _has_moved_on(self, found: Identity | None) -> bool:
        """Whether another file took the place of the open one, or somebody wrote to a file that is
        read without a lock.
        """
        if found is not None and found != self._identity:
            return True
        return self._still is not None and stillness_of(self.path) != self._still

    def _open(self, *, create: bool) -> Engine:
        with meaningful_errors(self.path):
            if create and not is_present(self.path):
                make_folder(self.folder)
                create_store(self.path)
            require_whole(self.path)
            self._read_only = not is_writable(self.path)
            # Without a log, and without the right to make one, nothing can be locked.
            is_still = self._read_only and not log_bytes(self.path)
            self._still = stillness_of(self.path) if is_still else None
            engine = open_engine(self.path, read_only=self._read_only, still=is_still)
            if current_format(engine, self.path) is None:
                raise damaged(self.path, "a database without a table of ours")
            if bring_up_to_date(engine, self.path, read_only=self._read_only):
                with engine.connect() as connection:
                    self._catch_up(connection)
            return engine

    @contextmanager
    def connection(
        self, *, create: bool = False, opening: int | None = None
    ) -> Iterator[Connection]:
        """A connection, with the engine's errors turned into ours.

        Raises:
            BusyError: the store of that `opening` is another one by now.
        """
        with self._lock:
            engine = self.engine(create=create)
            self._require_opening(opening)
            still = self._still
        with meaningful_errors(self.path), engine.connect() as connection:
            try:
                yield connection
            except NotJsonError as error:
                raise self._located(connection, error) from error
        if still is not None and stillness_of(self.path) != still:
            raise changed_meanwhile(self.path)

    def _require_opening(self, opening: int | None) -> None:
        begun = getattr(self._call, "opening", None)
        if opening not in (None, self._openings) or begun not in (None, 0, self._openings):
            raise replaced(self.path)
        if begun is not None and self._exists:
            self._call.opening = self._openings

    @contextmanager
    def one_opening(self) -> Iterator[None]:
        """Within it, what this thread reads and writes is of one opening of one store.

        Raises:
            BusyError: another store took its place meanwhile.
        """
        if getattr(self._call, "opening", None) is not None:
            yield  # Within a call that is one already.
            return
        self._call.opening = 0
        try:
            yield
        finally:
            self._call.opening = None

    def _located(self, connection: Connection, error: Exception) -> DamagedError:
        connection.rollback()
        return first_damage(connection) or damaged(self.path, str(error))

    @contextmanager
    def reading(self, opening: int | None = None) -> Iterator[Connection]:
        """A connection inside one transaction."""
        with self.connection(opening=opening) as connection, connection.begin():
            yield connection

    def close(self) -> None:
        """Release every connection, and forget what was read: another store may stand here next."""
        with self._lock:
            self._release()

    def _release(self) -> None:
        if self._engine is not None:
            self._engine.dispose()
        self._engine, self._exists, self._identity = None, False, None
        self._read_only, self._still = False, None
        self._forget()

    def _forget(self) -> None:
        """Forget what was read of the file: the next one may be another store's."""
