"""A store that is put in the place of an open one: a call is of one of them, and spoils neither."""

import copy
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread

import pytest

import variorum
from dying import copy_of
from variorum.access.principals import acting_as
from variorum.embedding.hashing import HashingEmbedder
from variorum.records.errors import BusyError, DamagedError, UnavailableError, VariorumError
from variorum.records.protocols import Role, Vectors
from variorum.store.generations import generations
from variorum.store.store import Store
from variorum.store.store_file import StoreFile
from workbench import Bench, Recorder, document, rule, sql

ADA = acting_as("local", "user:ada")
READS: dict[str, Callable[[variorum.Index], object]] = {
    "log": lambda index: [one.created_at for one in index.log()],
    "diff": lambda index: index.diff(1, 2),
    "cost": lambda index: index.cost("document").as_fields(),
    "models": lambda index: [one.as_fields() for one in index.models()],
    "search": lambda index: [one.text for one in index.search("both", k=9).hits],
    "context": lambda index: index.context("both", budget=400).text,
    "policies": lambda index: [one.author for one in index.access.log()],
    "who": lambda index: index.access.who("docs:b.md").readers,
    "plan": lambda index: index.plan().documents,
    "verify": lambda index: index.verify(),
}
WRITES: dict[str, Callable[[variorum.Index], object]] = {
    "erase": lambda index: index.erase("docs:b.md"),
    "prune": lambda index: index.prune(keep=1),
    "restore": lambda index: index.restore(1),
    "sync": lambda index: index.sync(allow_shrink=True),
}


TABLES = """
[collections.default]
sources = ["docs"]
[collections.more]
sources = ["docs"]
"""
"""Both stores have them, under different numbers."""


class Pair:
    """Two stores of one configuration; the second takes the place of the first at some look."""

    def __init__(self, home: Path, dimensions: int = 64) -> None:
        self.mine = Bench(home / "mine", collections=TABLES)
        self.other = Bench(home / "other", collections=TABLES)
        self.other.embedder = Recorder(dimensions)
        self.away = home / "away"
        for bench, letters, collections in (
            (self.mine, "ab", ("default", "more")),
            (self.other, "ba", ("more", "default")),
        ):
            for text in ("first", bench.home.name):
                files = {f"{one}.md": document(text, f"both {one}") for one in letters}
                bench.write(files | {"both.md": document("both")})
                for collection in collections:
                    with bench.open(collection=collection) as index:
                        index.sync()
            bench.collections = ""
            bench.configure(bench.settings)
            bench.apply(rule(f"*:{letters[0]}.md", "user:ada"), author=bench.home.name)

    def copied(self, home: Path) -> "Pair":
        """The same two stores at another place."""
        pair = copy.copy(self)
        pair.mine, pair.other = (
            copy_of(bench, home / bench.home.name) for bench in (self.mine, self.other)
        )
        pair.away = home / "away"
        return pair

    def swap(self) -> None:
        self.mine.store.rename(self.away)
        self.other.store.rename(self.mine.store)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair(tmp_path_factory.mktemp("made"))


def swapping(pair: Pair, at: int, patch: pytest.MonkeyPatch) -> None:
    """From now on the stores change places at the `at`-th look at the file."""
    looks = 0
    real = StoreFile.engine

    def engine(self: StoreFile, *, create: bool = False) -> object:
        nonlocal looks
        looks += 1
        if looks == at and not pair.away.exists():
            pair.swap()
        return real(self, create=create)

    patch.setattr(StoreFile, "engine", engine)


def test_an_open_index_reads_the_store_that_took_the_place_of_its_own(tmp_path: Path) -> None:
    pair = Pair(tmp_path)

    def seen(index: variorum.Index) -> set[str]:
        return {str(hit.document) for hit in index.search("both", k=9).hits}

    with pair.mine.open() as index, pair.mine.open(principal=ADA) as hers:
        assert seen(hers) == {"docs:a.md"}
        pinned = hers._store.snapshot("local", "default")
        pair.swap()
        assert seen(hers) == {"docs:b.md"}
        assert "other" in index.search("other", mode="lexical").hits[0].text
        with pytest.raises(BusyError, match="replaced while it was read"):
            pinned.heading_paths([(1, 0)])
        assert index.sync().documents.changed == 2
        assert index.sync().generation is None
        assert index.verify() == []


def rows(store: Path, collection: str) -> list[tuple[object, ...]]:
    """What tells whether a call did something to a collection of a store."""
    of = "collection_id = (SELECT id FROM collection WHERE name = ?)"
    queries = (f"SELECT * FROM {one} WHERE {of}" for one in ("generation", "denied", "manifest"))
    return [row for query in queries for row in sql(store, query, collection)]


@pytest.mark.parametrize("read", READS)
def test_an_answer_is_of_one_store_whenever_another_takes_its_place(
    tmp_path: Path, made: Pair, read: str
) -> None:
    ask = READS[read]
    refused = 0
    for at in range(1, 60):
        pair = made.copied(tmp_path / str(at))
        with pair.mine.open() as mine, pair.mine.open(store=pair.other.store) as other:
            answers = [ask(mine), ask(other)]
        with pair.mine.open() as index, pytest.MonkeyPatch.context() as patch:
            index.search("both")
            swapping(pair, at, patch)
            try:
                assert ask(index) in answers, at
            except (BusyError, UnavailableError):
                refused += 1
            patch.undo()
            if not pair.away.exists():
                break  # The call is over by then.
            assert ask(index) == answers[1], at
    assert refused or read in ("verify", "models", "policies", "log")


@pytest.mark.parametrize("write", WRITES)
def test_a_write_is_done_in_one_store_or_in_none(tmp_path: Path, made: Pair, write: str) -> None:
    for at in range(1, 60):
        pair = made.copied(tmp_path / str(at))
        pair.mine.write({"a.md": document("newest", "both")})
        stores = (pair.mine.store, pair.other.store)
        before = [[rows(one, name) for one in stores] for name in ("default", "more")]
        with pair.mine.open() as index, pytest.MonkeyPatch.context() as patch:
            index.search("both")
            swapping(pair, at, patch)
            is_done = False
            with suppress(BusyError, UnavailableError):
                WRITES[write](index)
                is_done = True
            patch.undo()
            assert index.search("both").hits
            assert index.verify() == []
        if swapped := pair.away.exists():
            stores = (pair.away, pair.mine.store)
        after = [[rows(one, name) for one in stores] for name in ("default", "more")]
        assert after[1] == before[1], at
        changed = [one != old for one, old in zip(after[0], before[0], strict=True)]
        assert changed.count(True) == is_done, (at, changed)
        if not swapped:
            break  # The call is over by then.


def test_an_index_is_not_spoiled_by_a_store_of_other_dimensions(tmp_path: Path) -> None:
    for at in range(1, 10):
        pair = Pair(tmp_path / str(at), dimensions=32)
        with pair.mine.open() as index, pytest.MonkeyPatch.context() as patch:
            swapping(pair, at, patch)
            with suppress(VariorumError):
                index.search("both")
            patch.undo()
            with pair.mine.open(embedder=pair.other.embedder) as fresh:
                wanted = fresh if pair.away.exists() else index
                assert wanted.search("both").hits
            assert index.search("both", mode="lexical").hits


def test_what_is_pinned_as_another_store_takes_its_place_is_kept_for_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = Pair(tmp_path, dimensions=32)
    store = Store(pair.mine.store)

    def read(*given: object) -> object:
        rows = generations(*given)  # type: ignore[arg-type]
        if not pair.away.exists():
            pair.swap()
            another = Thread(target=store.opened)
            another.start()
            another.join()
        return rows

    monkeypatch.setattr("variorum.store.store.generations", read)
    with pytest.raises(BusyError, match="replaced"):
        store.snapshot("local", "default")
    assert not store._vectors
    assert store.snapshot("local", "default").generation.dimensions == 32
    store.close()


def test_closing_an_index_leaves_the_log_of_the_store_in_its_place_alone(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    log = pair.mine.store / "store.sqlite-wal"
    with pair.mine.open() as index:
        index.search("both")
        pair.swap()
        with closing(sqlite3.connect(pair.mine.store / "store.sqlite")) as other:
            other.execute("PRAGMA wal_autocheckpoint = 0")
            other.execute("CREATE TABLE extra (name)")
            other.commit()
            written = log.read_bytes()
            assert written
            index.close()
            assert log.read_bytes() == written


def test_a_sync_whose_rows_were_pruned_meanwhile_plans_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("one"), "b.md": document("two")})
    bench.sync()
    bench.write({"a.md": document("mine")})
    real = bench.embedder.inner.embed
    met: list[int] = []

    def embed(inputs: list[str], role: Role = "passage") -> Vectors:
        if role == "passage" and not met:
            met.append(1)
            bench.write({"a.md": document("theirs")})
            with variorum.open(bench.home, embedder=HashingEmbedder(64, 512)) as other:
                other.sync()
                other.prune(keep=1)
            bench.write({"a.md": document("mine")})
        return real(inputs, role)

    with bench.open() as index, pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench.embedder.inner, "embed", embed, raising=False)
        assert index.sync().generation == 3
        assert index.verify() == []


def test_a_principal_is_told_of_damage_as_the_owner_is(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    pair.mine.sql("DELETE FROM layout")
    for principal in (None, ADA):
        with pair.mine.open(principal=principal) as index, pytest.raises(DamagedError):
            index.search("first", as_of=1, k=9)
    with pair.mine.open() as index:
        assert index.repair().left
