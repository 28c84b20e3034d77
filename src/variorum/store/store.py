"""The store's door: one folder, one file of truth, many readers and writers."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import tzinfo
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, Engine, event, select

from variorum.records.errors import ConflictError, DamagedError, NotFoundError
from variorum.records.reports import Held
from variorum.store import schema
from variorum.store.ann import Ann
from variorum.store.ann_opening import OpenAnns
from variorum.store.compacting import bytes_of
from variorum.store.contents import ContentCache
from variorum.store.damage import file_damage, first_damage
from variorum.store.denials import Denials, read_denials
from variorum.store.engine import require_store
from variorum.store.file import replaced
from variorum.store.generations import GenerationRow, generations, newest_rules
from variorum.store.heads import State, missing_generation, state_of
from variorum.store.known import Known
from variorum.store.manifests import ManifestRow
from variorum.store.removals import kept, last_erasure, newest_removal, pruned
from variorum.store.seals import require_sound, unsound
from variorum.store.snapshot import Snapshot
from variorum.store.standing import read_held
from variorum.store.store_file import StoreFile
from variorum.store.terms import LengthCache
from variorum.store.vectors import VectorCache


class Store(StoreFile):
    """A store that may or may not exist yet. Readers share it between threads.

    Approximate indexes are used where there are any, unless `with_ann` is false.
    """

    def __init__(
        self,
        folder: Path,
        catch_up: Callable[[Connection], None] = lambda connection: None,
        *,
        with_ann: bool = True,
    ) -> None:
        super().__init__(folder, catch_up)
        self._contents = ContentCache()
        self._vectors: dict[int, VectorCache] = {}
        self._lengths = LengthCache()
        self._anns = OpenAnns(folder, self.reading) if with_ann else None
        self._snapshots: dict[tuple[int, int, int], Snapshot] = {}
        self._rows: dict[int, Mapping[int, ManifestRow]] = {}
        self._zones: dict[int, tzinfo] = {}
        self._removal = 0

    def require(self) -> None:
        """Refuse to go on where there is no store.

        Raises:
            NotFoundError: nothing was ever synced here.
        """
        require_store(self.path)

    def head(self, tenant: str, name: str) -> tuple[int | None, int | None]:
        """(collection id, newest generation), each None where there is none yet.

        Raises:
            DamagedError: the collection's head does not stand at its newest generation.
        """
        found = self.state(tenant, name)
        return found.collection_id, found.generation

    def state(self, tenant: str, name: str) -> State:
        """Where a collection stands now.

        Raises:
            DamagedError: the collection's head does not stand at its newest generation.
        """
        opening = self.opened()
        with self.reading(opening) as connection:
            return state_of(connection, tenant, name)._replace(opening=opening)

    def generations(self, collection_id: int) -> list[GenerationRow]:
        """Every published generation, oldest first.

        Raises:
            DamagedError: one is missing, or not as it was written.
        """
        with self.connection() as connection, connection.begin():
            oldest = kept(connection, collection_id).oldest
            rows = generations(connection, collection_id)
        rows = [replace(row, is_pruned=row.number < oldest) for row in rows]
        for number, row in enumerate(rows, start=1):
            if row.number != number:
                raise missing_generation(collection_id, number)
        return rows

    def snapshot(
        self, tenant: str, name: str, as_of: int | None = None, *, opening: int | None = None
    ) -> Snapshot:
        """Pin a generation, the newest by default, of the store as it is open now.

        Raises:
            BusyError: the store of that `opening` is another one by now.
            NotFoundError: the collection was never published, or not that generation, or it was
                pruned.
            DamagedError: that generation is missing, or not as it was written.
        """
        opening = opening or self.opened()
        self._forget_what_was_removed()
        with self.reading(opening) as connection:
            collection_id, newest, *_ = state_of(connection, tenant, name)
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
            held = self._snapshots.get((opening, collection_id, number))
        return held or self._pin(opening, collection_id, name, number, newest)

    def _pin(
        self, opening: int, collection_id: int, name: str, number: int, newest: int
    ) -> Snapshot:
        with self.reading(opening) as connection:
            oldest = kept(connection, collection_id).oldest
            erasure = last_erasure(connection, collection_id)
            rows = generations(connection, collection_id, number) if 1 <= number <= newest else []
        if 1 <= number < oldest:
            raise pruned(number, oldest)
        if not rows and 1 <= number <= newest:
            raise missing_generation(collection_id, number)
        if not rows:
            raise NotFoundError(
                f"collection {name!r} has no generation {number}",
                kind="no-such-generation",
                subject=str(number),
                expected=f"a kept generation, {oldest} to {newest}",
                found=str(number),
                remedy="list them with `variorum log`",
            )
        row = rows[0]
        with self._lock:
            if opening != self._openings:
                raise replaced(self.path)
            vectors = self._vectors.setdefault(row.model_id, VectorCache(row.dimensions))
            snapshot = Snapshot(
                partial(self.connection, opening=opening),
                collection_id,
                row,
                vectors,
                self._contents,
                self._lengths,
                erasure,
                self._newest_known(collection_id),
                partial(self.ann, collection_id, row),
            )
            if len(self._snapshots) >= 8:
                self._snapshots.pop(next(iter(self._snapshots)))
            return self._snapshots.setdefault((opening, collection_id, number), snapshot)

    def _newest_known(self, collection_id: int) -> Known | None:
        """What the snapshot pinned last of those that read their documents holds."""
        for snapshot in reversed(self._snapshots.values()):
            if snapshot.collection_id == collection_id and snapshot.has_documents:
                return snapshot.known()
        return None

    def known_rows(
        self, connection: Connection, collection_id: int | None
    ) -> Mapping[int, ManifestRow]:
        """The newest documents of a collection as a sync read them last, by manifest row."""
        with self._lock:
            is_current = connection.engine is self._engine
            return self._rows.get(collection_id or 0, {}) if is_current else {}

    def remember_rows(
        self, connection: Connection, collection_id: int | None, rows: Mapping[int, ManifestRow]
    ) -> None:
        """Keep the newest documents of a collection in memory, for the next sync."""
        with self._lock:
            if connection.engine is self._engine:
                self._rows[collection_id or 0] = rows

    def read_dates_in(self, collection_id: int | None, zone: tzinfo) -> None:
        """Read the rows of a collection anew where their dates are now of another time zone."""
        with self._lock:
            if self._zones.get(collection_id or 0) != zone:
                for key in [one for one in self._snapshots if one[1] == collection_id]:
                    del self._snapshots[key]
                self._rows.pop(collection_id or 0, None)
                self._zones[collection_id or 0] = zone

    def ann(self, collection_id: int, row: GenerationRow) -> Ann | None:
        """The approximate index for a generation; None where there is none that fits."""
        return self._anns.of(collection_id, row) if self._anns else None

    def newest_removal(self) -> int:
        """The number of the last prune, erasure or collection of garbage; 0 before the first."""
        with self.connection() as connection, connection.begin():
            return newest_removal(connection)

    def _forget_what_was_removed(self) -> None:
        """Read anew where rows were taken out: their ids may be given to others."""
        newest = self.newest_removal()
        with self._lock:
            if newest != self._removal:
                self._forget()
            self._removal = newest

    def denials(self, collection_id: int | None) -> Denials:
        """The documents that a collection must not take up again."""
        with self.connection() as connection, connection.begin():
            return read_denials(connection, collection_id)

    def held(self, collection_id: int | None) -> list[Held]:
        """Every document that the last listing of its source held."""
        if collection_id is None:
            return []
        with self.connection() as connection, connection.begin():
            return read_held(connection, collection_id)

    def rules(self, collection_id: int | None) -> Mapping[str, str]:
        """By what rules each source was listed last, as the newest sync wrote it down."""
        if collection_id is None:
            return {}
        with self.connection() as connection, connection.begin():
            return newest_rules(connection, collection_id)

    def sources(self, collection_id: int | None) -> Mapping[str, tuple[str, bool]]:
        """Root, and whether a restore holds it, of every source that a collection ever listed."""
        query = select(
            schema.source.c.name, schema.source.c.root, schema.source.c.held_by_restore
        ).where(schema.source.c.collection_id == collection_id, ~schema.source.c.dropped)
        query = query.add_columns(*unsound(schema.source))
        with self.connection() as connection, connection.begin():
            rows = [require_sound(row, 1) for row in connection.execute(query)]
        return {name: (root, held) for name, root, held in rows}

    def recipe_id(self, fingerprint: str) -> int:
        """The id of a registered recipe."""
        query = select(schema.recipe.c.id).where(schema.recipe.c.fingerprint == fingerprint)
        with self.connection() as connection, connection.begin():
            return int(connection.execute(query).scalar_one())

    def damage(self) -> DamagedError | None:
        """The first thing that is not as it was written, if there is one. Linear in the store."""
        try:
            with self.connection() as connection:
                return file_damage(connection, self.path) or first_damage(connection)
        except DamagedError as error:
            return error

    def size_bytes(self) -> int:
        """Bytes on disk, write-ahead log included."""
        return bytes_of(self.folder)

    def _forget(self) -> None:
        self._contents = ContentCache()
        self._lengths = LengthCache()
        self._vectors.clear()
        self._snapshots.clear()
        self._rows.clear()
        self._zones.clear()
        if self._anns:
            self._anns.clear()


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
