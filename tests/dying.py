"""Ways to die: at the n-th write to the store, by SIGKILL, or of a full disk."""

import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, event

from variorum.records.protocols import Role, Vectors
from variorum.store.vectors import NewVector, Precision, record_vectors
from variorum.sync import execution
from workbench import Bench, Recorder

_WRITES = (
    "BEGIN IMMEDIATE",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "VACUUM",
    "PRAGMA wal_checkpoint",
)

FORK = get_context("fork")


def moments(writes: int, *, every: bool) -> list[int]:
    """Which writes to die at: each, or each of the last ones (the publish) and every fifth before.

    The first ones make the tables, which other tests die at too.
    """
    first = 1 if every else max(1, writes - 16)
    return sorted({*range(1, writes + 1, 5), *range(first, writes + 1)})


class Died(BaseException):
    """The process is gone: nothing may catch it."""


class Mortal:
    """Dies at write number `last_write`, counted from 1, and stays dead. 0: never dies."""

    def __init__(self, last_write: int = 0) -> None:
        self.last_write = last_write
        self.writes = 0

    def __enter__(self) -> "Mortal":
        event.listen(Engine, "before_cursor_execute", self._statement)
        event.listen(Engine, "commit", self._commit)
        return self

    def __exit__(self, *_: object) -> None:
        event.remove(Engine, "before_cursor_execute", self._statement)
        event.remove(Engine, "commit", self._commit)

    def _statement(self, _connection: object, _cursor: object, statement: str, *_: object) -> None:
        if self._dead:
            raise Died
        is_staged = "staged_" in statement.split("SELECT", maxsplit=1)[0]
        if statement.lstrip().startswith(_WRITES) and not is_staged:
            self._write()

    def _commit(self, connection: object) -> None:
        if self._dead:
            raise Died
        options = connection.get_execution_options()  # type: ignore[attr-defined]
        if options.get("begin") == "BEGIN IMMEDIATE":
            self._write()

    @property
    def _dead(self) -> bool:
        return bool(self.last_write) and self.writes >= self.last_write

    def _write(self) -> None:
        self.writes += 1
        if self._dead:
            raise Died


class Slow(Recorder):
    """A recorder that takes its time over every input."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        if role == "passage":
            time.sleep(self.seconds * len(inputs))
        return super().embed(inputs, role)


def copy_of(bench: Bench, home: Path) -> Bench:
    """The same folder and store somewhere else."""
    shutil.copytree(bench.home, home)
    return Bench(home, bench.settings, collections=bench.collections)


def run_and_kill(work: Callable[[], object], after_s: float) -> int:
    """Run `work` in a process of its own and kill it with SIGKILL; its exit code, -9 if killed."""
    process = FORK.Process(target=work)
    process.start()
    process.join(after_s)
    if process.is_alive() and process.pid:
        os.kill(process.pid, signal.SIGKILL)
    process.join()
    return int(process.exitcode or 0)


def kill_when(work: Callable[[], object], ready: Callable[[], bool]) -> None:
    """Run `work` in a process of its own, and kill it with SIGKILL as soon as `ready` says so."""
    process = FORK.Process(target=work)
    process.start()
    while process.is_alive() and not ready():
        time.sleep(0.01)
    if process.pid:
        os.kill(process.pid, signal.SIGKILL)
    process.join()


@contextmanager
def noting_vectors(note: Callable[[bytes], None]) -> Iterator[None]:
    """Call `note` with the key of every vector of a sync once its transaction is over."""

    def record(
        connection: Connection, model: int, vectors: Sequence[NewVector], precision: Precision
    ) -> None:
        record_vectors(connection, model, vectors, precision)
        for vector in vectors:
            note(vector.key)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execution, "record_vectors", record)
        yield


@contextmanager
def full_disk(spare_pages: int) -> Iterator[None]:
    """Every connection made inside may grow the store by `spare_pages` pages and no more."""

    def limit(connection: sqlite3.Connection, _record: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + spare_pages}")

    event.listen(Engine, "connect", limit)
    try:
        yield
    finally:
        event.remove(Engine, "connect", limit)
