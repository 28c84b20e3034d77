"""Vectors: written as they are paid for, read back as one matrix."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, select

from variorum.records.errors import DamagedError
from variorum.records.protocols import Vectors
from variorum.store.conflict import insert_ignoring
from variorum.store.engine import write_transaction
from variorum.store.schema import input_, vector

Precision = Literal["float32", "float16"]


@dataclass(frozen=True, slots=True)
class NewVector:
    """A finished vector: the key and token count of its input, and float32[dimensions]."""

    key: bytes
    tokens: int
    values: NDArray[np.float32]


def record_vectors(
    connection: Connection, model_id: int, vectors: Sequence[NewVector], precision: Precision
) -> None:
    """Keep finished vectors in one short transaction (invariant 6); ones already there stay."""
    with write_transaction(connection):
        connection.execute(
            insert_ignoring(connection, input_),
            [{"key": new.key, "model_id": model_id, "tokens": new.tokens} for new in vectors],
        )
        owner = select(input_.c.id).where(input_.c.key == bindparam("key")).scalar_subquery()
        connection.execute(
            insert_ignoring(connection, vector).values(input_id=owner, data=bindparam("data")),
            [{"key": new.key, "data": pack(new.values, precision)} for new in vectors],
        )


def find_vectors(
    connection: Connection, keys: Iterable[bytes], dimensions: int
) -> dict[bytes, NDArray[np.float32]]:
    """The stored vectors of those inputs that have one, by key."""
    query = (
        select(vector.c.data)
        .join(input_, input_.c.id == vector.c.input_id)
        .where(input_.c.key == bindparam("key"))
    )
    found: dict[bytes, NDArray[np.float32]] = {}
    for key in set(keys):
        data = connection.execute(query, {"key": key}).scalar()
        if data is not None:
            found[key] = unpack(data, dimensions)
    return found


def pack(values: NDArray[np.float32], precision: Precision) -> bytes:
    """The stored bytes of one vector: little-endian floats of the given precision."""
    kind = "<f2" if precision == "float16" else "<f4"
    return values.astype(kind).tobytes()


def unpack(data: bytes, dimensions: int) -> NDArray[np.float32]:
    """A stored vector as float32[dimensions]; its length tells the precision.

    Raises:
        DamagedError: the length fits neither precision.
    """
    if len(data) == 4 * dimensions:
        return np.frombuffer(data, "<f4")
    if len(data) == 2 * dimensions:
        return np.frombuffer(data, "<f2").astype(np.float32)
    raise DamagedError(
        "a stored vector has the wrong length",
        kind="vector-damaged",
        expected=f"{4 * dimensions} or {2 * dimensions} bytes",
        found=f"{len(data)} bytes",
        remedy="run `variorum verify` to locate it",
    )


class VectorRows(NamedTuple):
    """The row of each input in a matrix of every loaded vector, and the loads until then.

    `rows` is intp[n], `matrix` float32[m, dimensions].
    """

    rows: NDArray[np.intp]
    matrix: Vectors
    loads: int


class VectorCache:
    """Vectors of one model in memory, loaded when first asked for. Safe for many threads.

    A derived copy: the store stays the truth (invariant 9).
    """

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._lock = threading.Lock()
        self._loads = 0
        self._ids = np.empty(0, np.int64)
        self._matrix = np.empty((0, dimensions), np.float32)

    def rows(self, connection: Connection, input_ids: NDArray[np.int64]) -> VectorRows:
        """Where the vector of each input stands; loads those not yet here.

        Raises:
            DamagedError: an input has no vector.
        """
        with self._lock:
            missing = np.setdiff1d(input_ids, self._ids)
            if missing.size:
                self._load(connection, missing)
                self._loads += 1
            return VectorRows(np.searchsorted(self._ids, input_ids), self._matrix, self._loads)

    def matrix_of(self, loads: int) -> Vectors | None:
        """The matrix, where no vector was loaded since `loads`: rows of then are good in it."""
        with self._lock:
            return self._matrix if loads == self._loads else None

    def _load(self, connection: Connection, missing: NDArray[np.int64]) -> None:
        rows = np.empty((missing.size, self._dimensions), np.float32)
        found = np.zeros(missing.size, np.bool_)
        for place, values in _read(connection, missing, self._dimensions):
            rows[place], found[place] = values, True
        if not found.all():
            absent = missing[np.argmin(found)]
            raise DamagedError(
                "a published input has no vector",
                kind="vector-missing",
                subject=f"input {absent}",
                remedy="run `variorum verify`, then `variorum sync`",
            )
        ids = np.concatenate([self._ids, missing])
        matrix = np.concatenate([self._matrix, rows]) if self._ids.size else rows
        if self._ids.size and ids[self._ids.size] < self._ids[-1]:
            order = np.argsort(ids, kind="stable")
            ids, matrix = ids[order], matrix[order]
        self._ids, self._matrix = ids, matrix


def _read(
    connection: Connection, input_ids: NDArray[np.int64], dimensions: int
) -> Iterable[tuple[int, NDArray[np.float32]]]:
    """(place in `input_ids`, vector) of each that is there. `input_ids` are sorted."""
    places = {identifier: place for place, identifier in enumerate(input_ids.tolist())}
    query = (
        select(vector.c.input_id, vector.c.data)
        .where(vector.c.input_id.between(int(input_ids[0]), int(input_ids[-1])))
        .order_by(vector.c.input_id)
    )
    for identifier, data in connection.execute(query):
        if identifier in places:
            yield places[identifier], unpack(data, dimensions)
