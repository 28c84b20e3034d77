"""Vectors: written as they are paid for, read back as one matrix."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, func, select

from variorum.records.errors import DamagedError
from variorum.records.protocols import Vectors
from variorum.store.engine import write_transaction
from variorum.store.schema import input_, vector
from variorum.store.seals import damaged_row, insert_rows, name_of, seal_of

Precision = Literal["float32", "float16"]

_OWNERS = select(input_.c.id, input_.c.key).where(
    input_.c.key.in_(bindparam("keys", expanding=True))
)


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
        inputs = [{"key": new.key, "model_id": model_id, "tokens": new.tokens} for new in vectors]
        insert_rows(connection, input_, inputs)
        found = connection.execute(_OWNERS, {"keys": [new.key for new in vectors]})
        owner = {key: identifier for identifier, key in found}
        rows = [
            {"input_id": owner[new.key], "data": pack(new.values, precision)} for new in vectors
        ]
        insert_rows(connection, vector, rows)


def find_vectors(
    connection: Connection, keys: Iterable[bytes], dimensions: int
) -> dict[bytes, NDArray[np.float32]]:
    """The stored vectors of those inputs that have one, by key."""
    query = (
        select(vector.c.input_id, vector.c.data, vector.c.seal)
        .join(input_, input_.c.id == vector.c.input_id)
        .where(input_.c.key == bindparam("key"))
    )
    found: dict[bytes, NDArray[np.float32]] = {}
    for key in set(keys):
        row = connection.execute(query, {"key": key}).first()
        if row is not None:
            found[key] = unpack(_whole(*row), dimensions)
    return found


def count_vectors(connection: Connection) -> dict[int, int]:
    """How many vectors the store has of each model, by its id. Linear in them."""
    query = (
        select(input_.c.model_id, func.count())
        .join(vector, vector.c.input_id == input_.c.id)
        .group_by(input_.c.model_id)
    )
    return {row.model_id: row[1] for row in connection.execute(query)}


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
            DamagedError: an input has no vector, or one that is not as it was written.
        """
        with self._lock:
            missing = np.unique(input_ids[~self._holds(input_ids)])
            if missing.size:
                self._load(connection, missing)
                self._loads += 1
            return VectorRows(np.searchsorted(self._ids, input_ids), self._matrix, self._loads)

    def _holds(self, input_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which inputs are here, in time that grows with them and not with what is here."""
        places = np.searchsorted(self._ids, input_ids)
        found = np.zeros(input_ids.size, np.bool_)
        inside = places < self._ids.size
        found[inside] = self._ids[places[inside]] == input_ids[inside]
        return found

    def matrix_of(self, loads: int) -> Vectors | None:
        """The matrix, where no vector was loaded since `loads`: rows of then are good in it."""
        with self._lock:
            return self._matrix if loads == self._loads else None

    def _load(self, connection: Connection, missing: NDArray[np.int64]) -> None:
        rows = read_vectors(connection, missing, self._dimensions)
        ids = np.concatenate([self._ids, missing])
        matrix = np.concatenate([self._matrix, rows]) if self._ids.size else rows
        if self._ids.size and ids[self._ids.size] < self._ids[-1]:
            order = np.argsort(ids, kind="stable")
            ids, matrix = ids[order], matrix[order]
        self._ids, self._matrix = ids, matrix


def read_vectors(
    connection: Connection, input_ids: NDArray[np.int64], dimensions: int
) -> NDArray[np.float32]:
    """The vectors of some inputs, ids ascending: float32[n, dimensions].

    Raises:
        DamagedError: an input has no vector, or one that is not as it was written.
    """
    rows = np.empty((input_ids.size, dimensions), np.float32)
    found = np.zeros(input_ids.size, np.bool_)
    for place, values in _read(connection, input_ids, dimensions):
        rows[place], found[place] = values, True
    if not found.all():
        raise DamagedError(
            "a published input has no vector",
            kind="vector-missing",
            subject=f"input {input_ids[np.argmin(found)]}",
            remedy="run `variorum verify`, then `variorum sync`",
        )
    return rows


def _read(
    connection: Connection, input_ids: NDArray[np.int64], dimensions: int
) -> Iterable[tuple[int, NDArray[np.float32]]]:
    """(place in `input_ids`, vector) of each that is there. `input_ids` are sorted."""
    places = {identifier: place for place, identifier in enumerate(input_ids.tolist())}
    query = (
        select(vector.c.input_id, vector.c.data, vector.c.seal)
        .where(vector.c.input_id.between(int(input_ids[0]), int(input_ids[-1])))
        .order_by(vector.c.input_id)
    )
    for identifier, data, seal in connection.execute(query):
        if identifier in places:
            yield places[identifier], unpack(_whole(identifier, data, seal), dimensions)


def _whole(input_id: int, data: bytes, seal: int) -> bytes:
    """The bytes of a vector's row, where they are those that were written."""
    if seal_of(vector, {"input_id": input_id, "data": data}) != seal:
        raise damaged_row(name_of(vector, (input_id,)))
    return data
