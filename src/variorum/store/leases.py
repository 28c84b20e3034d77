"""Leases: the inputs that a writer is embedding now, or the texts that it runs a function over, so
that another does not pay for them too.

A lease lasts as long as its holder's process: the holder keeps a lock on a file of its own, which
the system takes away when the process ends, however it ends. No clock is asked, so none can be
wrong, and no process id, so none can be used twice.
"""

import fcntl
import os
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    LargeBinary,
    Select,
    bindparam,
    delete,
    func,
    literal,
    select,
)

from variorum.store.batches import batches
from variorum.store.engine import write_transaction
from variorum.store.file import FILE_NAME, gone
from variorum.store.schema import input_, lease, output, vector
from variorum.store.seals import insert_rows
from variorum.store.staged import staged_input, staged_output

_KEYS = bindparam("keys", expanding=True, type_=LargeBinary)


@dataclass(frozen=True, slots=True)
class Work:
    """What a writer claims: which of `keys` are `done`, and how much of the plan each holder is
    still at.
    """

    done: Select[tuple[bytes]]
    in_work: Select[Any]


_WITHOUT_VECTOR = (
    ~select(literal(1))
    .select_from(input_.join(vector, vector.c.input_id == input_.c.id))
    .where(input_.c.key == lease.c.key)
    .exists()
)
_WITHOUT_OUTPUT = ~select(literal(1)).where(output.c.key == lease.c.key).exists()
_HELD = select(lease.c.holder, func.count()).group_by(lease.c.holder)
# What is in work walks the leases, of which there are few, and looks each up in the plan.
VECTORS = Work(
    select(input_.c.key)
    .join(vector, vector.c.input_id == input_.c.id)
    .where(input_.c.key.in_(_KEYS)),
    _HELD.join(staged_input, staged_input.c.key == lease.c.key).where(
        staged_input.c.text.is_not(None), staged_input.c.sent == 0, _WITHOUT_VECTOR
    ),
)
OUTPUTS = Work(
    select(output.c.key).where(output.c.key.in_(_KEYS)),
    _HELD.join(staged_output, staged_output.c.key == lease.c.key).where(
        staged_output.c.text.is_not(None), _WITHOUT_OUTPUT
    ),
)
_LEASED = select(lease.c.key, lease.c.holder).where(lease.c.key.in_(_KEYS))
_FREE = delete(lease).where(lease.c.key.in_(_KEYS))
_AMONG = _HELD.where(lease.c.key.in_(_KEYS), _WITHOUT_VECTOR)

_callers: ContextVar[frozenset[str]] = ContextVar("_callers", default=frozenset())
"""The holders whose work this call is a part of: to wait for one of them would be for ever."""


class Leases:
    """The leases of one run on one connection. Use it inside `leases`, from one thread."""

    def __init__(self, connection: Connection, folder: Path, holder: str) -> None:
        self._connection = connection
        self._folder = folder
        self._holder = holder
        self._seized: set[str] = set(_callers.get())

    def claim(self, keys: Sequence[bytes], work: Work = VECTORS) -> tuple[set[bytes], set[bytes]]:
        """(claimed, elsewhere): what this run is to do, what another is at. The rest is done.

        In one transaction, so that of two writers one has each input.
        """
        wanted = {"keys": list(keys)}
        with write_transaction(self._connection, lasting=False):
            done = set(self._connection.execute(work.done, wanted).scalars())
            leased = {row.key: row.holder for row in self._connection.execute(_LEASED, wanted)}
            alive = {holder for holder in set(leased.values()) if self._is_waited_for(holder)}
            elsewhere = {key for key, holder in leased.items() if holder in alive} - done
            claimed = set(keys) - done - elsewhere
            if claimed:
                self._connection.execute(_FREE, {"keys": list(claimed)})
                rows = [{"key": key, "holder": self._holder} for key in claimed]
                insert_rows(self._connection, lease, rows)
        return claimed, elsewhere

    def elsewhere(self, work: Work = VECTORS) -> dict[str, int]:
        """How many inputs or outputs of the plan each other living writer still has in work."""
        with self._connection.begin():
            found = [(row[0], row[1]) for row in self._connection.execute(work.in_work)]
        return {holder: count for holder, count in found if self._is_waited_for(holder)}

    def elsewhere_among(self, keys: Sequence[bytes]) -> dict[str, int]:
        """The same of the given inputs."""
        found: Counter[str] = Counter()
        with self._connection.begin():
            for some in batches(keys):
                for holder, count in self._connection.execute(_AMONG, {"keys": some}):
                    found[holder] += count
        return {holder: count for holder, count in found.items() if self._is_waited_for(holder)}

    def seize(self, holders: Iterable[str]) -> None:
        """From now on take these for dead: they are not coming forward."""
        self._seized.update(holders)

    def release(self) -> None:
        """Give up every lease of this run, and those that dead writers left."""
        with write_transaction(self._connection, lasting=False):
            found = self._connection.execute(select(lease.c.holder).distinct()).scalars()
            ended = [holder for holder in found if not self._is_alive(holder)]
            self._connection.execute(delete(lease).where(lease.c.holder.in_(ended)))

    def _is_waited_for(self, holder: str) -> bool:
        return holder not in self._seized and self._is_alive(holder)

    def _is_alive(self, holder: str) -> bool:
        if holder == self._holder:
            return False
        try:
            descriptor = os.open(_lock_file(self._folder, holder), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            _lock_file(self._folder, holder).unlink(missing_ok=True)
            return False
        finally:
            os.close(descriptor)


@contextmanager
def leases(connection: Connection, folder: Path) -> Iterator[Leases]:
    """A living holder of leases; they end with the block, or with the process.

    Raises:
        UnavailableError: the store's folder was taken away.
    """
    holder = secrets.token_hex(8)
    # Threads that the embedder is called in inherit this, so that a run within one of its calls
    # knows whom it must not wait for.
    callers = _callers.get()
    file = _lock_file(folder, holder)
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError as error:
        raise gone(folder / FILE_NAME) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        mine = Leases(connection, folder, holder)
        _callers.set(callers | {holder})
        try:
            yield mine
        except Exception:
            with suppress(Exception):  # The leases end with the file: the rows are only in the way.
                mine.release()
            raise
        mine.release()
    finally:
        _callers.set(callers)
        file.unlink(missing_ok=True)
        os.close(descriptor)


def _lock_file(folder: Path, holder: str) -> Path:
    return folder / f"writer-{holder}.lock"
