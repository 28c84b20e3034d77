"""The store's door: one folder, one file of truth, many readers and writers."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, Engine, bindparam, event, func, select

from variorum.records.errors import ConflictError, NotFoundError, UnavailableError
from variorum.store import schema
from variorum.store.contents import ContentCache
from variorum.store.engine import (
    FILE_NAME,
    bring_up_to_date,
    current_format,
    empty_engine,
    meaningful_errors,
    open_engine,
    require_known_format,
    require_store,
)
from variorum.store.generations import GenerationRow, generations
from variorum.store.snapshot import Snapshot
from variorum.store.vectors import VectorCache

_POLICY_VERSION = (
    select(func.coalesce(func.max(schema.policy.c.version), 0))
    .where(schema.policy.c.collection_id == schema.collection.c.id)
    .scalar_subquery()
)
_HEAD = (
    select(schema.collection.c.id, schema.head.c.generation, _POLICY_VERSION.label("policy"))
    .outerjoin(schema.head, schema.head.c.collection_id == schema.collection.c.id)
    .where(
        schema.collection.c.tenant == bindparam("tenant"),
        schema.collection.c.name == bindparam("name"),
    )
)


class State(NamedTuple):
    """Where a collection stands: its id and newest generation (None before there is one), and the
    version of the policy in force (0 before there is one).
    """

    collection_id: int | None
    generation: int | None
    policy_version: int


class Store:
    """A store that may or may not exist yet. Readers share it between threads.

    Nothing is created before the first write: until then it reads as empty.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self._lock = threading.RLock()
        self._engine: Engine | None = None
        self._exists = False
        self._contents = ContentCache()
        self._vectors: dict[int, VectorCache] = {}
        self._snapshots: dict[tuple[int, int], Snapshot] = {}

    @property
    def exists(self) -> bool:
        """Whether there is a file to read."""
        return self._exists or self.path.is_file()

    def engine(self, *, create: bool = False) -> Engine:
        """The engine; with `create` its file is made and brought to the newest format.

        Raises:
            UnsupportedError: the store is of a newer format, or lies on a network file system.
            UnavailableError: its folder cannot be made.
        """
        with self._lock:
            wanted = create or self.path.is_file()
            if self._engine is not None and (self._exists or not wanted):
                return self._engine
            if wanted:
                self._make_folder()
                self._engine = self._open()
                self._exists = True
            else:
                self._engine = empty_engine()
            return self._engine

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UnavailableError(
                "the store's folder cannot be made",
                kind="store-not-writable",
                subject=str(self.folder),
                expected="a folder that this user may write",
                found=error.strerror or str(error),
                remedy="check the permissions, or name another folder with --store",
            ) from error

    def _open(self) -> Engine:
        with meaningful_errors(self.path):
            engine = open_engine(self.path)
            require_known_format(current_format(engine), self.path)
            bring_up_to_date(engine, self.path)
            return engine

    @contextmanager
    def connection(self, *, create: bool = False) -> Iterator[Connection]:
        """A connection, with the engine's errors turned into ours."""
        engine = self.engine(create=create)
        with meaningful_errors(self.path), engine.connect() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection inside one transaction."""
        with self.connection() as connection, connection.begin():
            yield connection

    def require(self) -> None:
        """Refuse to go on where there is no store.

        Raises:
            NotFoundError: nothing was ever synced here.
        """
        require_store(self.path)

    def head(self, tenant: str, name: str) -> tuple[int | None, int | None]:
        """(collection id, newest generation), each None where there is none yet."""
        found = self.state(tenant, name)
        return found.collection_id, found.generation

    def state(self, tenant: str, name: str) -> State:
        """What a collection stands at now."""
        with self.connection() as connection, connection.begin():
            found = connection.execute(_HEAD, {"tenant": tenant, "name": name}).first()
        return State(None, None, 0) if found is None else State(*found)

    def generations(self, collection_id: int) -> list[GenerationRow]:
        """Every published generation, oldest first."""
        with self.connection() as connection, connection.begin():
            return generations(connection, collection_id)

    def snapshot(self, tenant: str, name: str, as_of: int | None = None) -> Snapshot:
        """Pin a generation, the newest by default.

        Raises:
            NotFoundError: the collection was never published, or not that generation.
        """
        collection_id, newest = self.head(tenant, name)
        if collection_id is None or newest is None:
            raise NotFoundError(
                f"collection {name!r} has no generation yet",
                kind="no-generation",
                subject=name,
                expected="a published generation",
                found="none",
                remedy="run `variorum sync` first",
            )
        number = newest if as_of is None else as_of
        with self._lock:
            held = self._snapshots.get((collection_id, number))
        return held or self._pin(collection_id, name, number, newest)

    def _pin(self, collection_id: int, name: str, number: int, newest: int) -> Snapshot:
        with self.connection() as connection, connection.begin():
            rows = generations(connection, collection_id, number)
        if not rows:
            raise NotFoundError(
                f"collection {name!r} has no generation {number}",
                kind="no-such-generation",
                subject=str(number),
                expected=f"a kept generation, 1 to {newest}",
                found=str(number),
                remedy="list them with `variorum log`",
            )
        row = rows[0]
        with self._lock:
            vectors = self._vectors.setdefault(row.model_id, VectorCache(row.dimensions))
            snapshot = Snapshot(self.connection, collection_id, row, vectors, self._contents)
            if len(self._snapshots) >= 8:
                self._snapshots.pop(next(iter(self._snapshots)))
            return self._snapshots.setdefault((collection_id, number), snapshot)

    def sources(self, collection_id: int | None) -> Mapping[str, tuple[str, bool]]:
        """Root, and whether a restore holds it, of every source that a collection ever listed."""
        query = select(
            schema.source.c.name, schema.source.c.root, schema.source.c.held_by_restore
        ).where(schema.source.c.collection_id == collection_id)
        with self.connection() as connection, connection.begin():
            return {name: (root, held) for name, root, held in connection.execute(query)}

    def recipe_id(self, fingerprint: str) -> int:
        """The id of a registered recipe."""
        query = select(schema.recipe.c.id).where(schema.recipe.c.fingerprint == fingerprint)
        with self.connection() as connection, connection.begin():
            return int(connection.execute(query).scalar_one())

    def size_bytes(self) -> int:
        """Bytes on disk, write-ahead log included."""
        return sum(file.stat().st_size for file in self.folder.glob(f"{FILE_NAME}*"))

    def close(self) -> None:
        """Release every connection, and forget what was read: another store may stand here next."""
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
                self._engine = None
                self._exists = False
            self._contents = ContentCache()
            self._vectors.clear()
            self._snapshots.clear()


@contextmanager
def counted_statements(engine: Engine) -> Iterator[list[str]]:
    """Every SQL statement run inside the block, for tests that count work."""
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(engine, "before_cursor_execute", note)


def require_released(held: list[str]) -> None:
    """Refuse to sync sources that a restore holds.

    Raises:
        ConflictError: at least one of them is held.
    """
    if held:
        raise ConflictError(
            f"a restore holds {', '.join(held)}: syncing would undo it",
            kind="source-held",
            subject=", ".join(held),
            expected="a released source",
            found="held since `variorum restore`",
            remedy="run `variorum sync --release` when the source may speak again",
        )
