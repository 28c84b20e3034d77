"""One store between threads, processes and indexes that outlive each other."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import variorum
from variorum.store.vectors import VectorCache
from workbench import Bench, Recorder, document, vectors_stored, words


def test_an_index_that_saw_no_store_reads_the_one_that_another_made(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One")})
    with bench.open() as early:
        early.plan()
        assert early.log() == []
        bench.sync()
        assert [row.number for row in early.log()] == [1]
        assert len(early.search("one").hits) == 1
        assert early.plan().report.changes_nothing


def test_a_closed_index_reads_what_the_store_holds_when_it_is_used_again(tmp_path: Path) -> None:
    bench, other = Bench(tmp_path / "a"), Bench(tmp_path / "b")
    bench.write({"a.md": document("One")})
    bench.sync()
    other.write({"b.md": document("Two")})
    other.sync()
    index = bench.open()
    assert [str(hit.document) for hit in index.search("one").hits] == ["docs:a.md"]
    index.close()
    shutil.rmtree(bench.store)
    shutil.copytree(other.store, bench.store)
    assert [str(hit.document) for hit in index.search("two").hits] == ["docs:b.md"]
    index.close()


def test_a_matrix_and_its_rows_stay_a_pair_whatever_is_loaded_after(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document(*[f"T{n}" for n in range(8)])})
    bench.sync()
    wanted = {int(i): key for i, key in bench.sql("SELECT id, key FROM input")}  # type: ignore[call-overload]
    stored = vectors_stored(bench.store)
    high, low = np.array([6, 8]), np.array([1, 3])
    with bench.open() as index, index.store.connection() as connection, connection.begin():
        cache = VectorCache(64)
        found = cache.rows(connection, high)
        cache.rows(connection, low)
    matrix, rows = found.matrix, found.rows
    for place, identifier in enumerate(high):
        assert matrix[rows[place]].tobytes() == stored[wanted[int(identifier)]]


def run_together(works: list[Callable[[], None]]) -> list[BaseException]:
    errors: list[BaseException] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_threads_that_search_different_generations_get_the_answers_of_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for turn in range(6):
        bench.write({f"{n}.md": document(f"A{turn}x{n}", f"B{turn}") for n in range(4)})
        bench.sync()
    numbers = range(1, 7)
    query = words("b3", 4)
    with bench.open() as alone:
        expected = {n: alone.search(query, as_of=n).as_fields() for n in numbers}
    with bench.open() as shared:

        def search(number: int) -> None:
            for _ in range(3):
                assert shared.search(query, as_of=number).as_fields() == expected[number]

        works = [lambda n=n: search(n) for n in [*numbers, *numbers]]  # type: ignore[misc]
        assert run_together(works) == []


def test_searches_go_on_while_a_sync_publishes(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One", "Two")})
    bench.sync()
    with bench.open(embedder=Recorder()) as reader, bench.open() as writer:
        seen: set[tuple[int, tuple[str, ...]]] = set()
        stop = threading.Event()

        def read() -> None:
            while not stop.is_set():
                answer = reader.search("one", 3)
                names = tuple(sorted(str(hit.document) for hit in answer.hits))
                seen.add((answer.generation, names))

        def write() -> None:
            try:
                for turn in range(4):
                    bench.write({f"n{turn}.md": document(f"One{turn}")})
                    writer.sync()
            finally:
                stop.set()

        assert run_together([read, read, write]) == []
    with bench.open() as index:
        for generation, names in seen:
            hits = index.search("one", 3, as_of=generation).hits
            assert names == tuple(sorted(str(hit.document) for hit in hits))


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_vectors_are_stored_in_the_configured_precision(tmp_path: Path, precision: str) -> None:
    settings = f'[store]\nvectors = "{precision}"\n'
    bench = Bench(tmp_path, settings)
    bench.write({"a.md": document("One", "Two"), "b.md": document("Three")})
    bench.sync()
    size = {"float32": 4, "float16": 2}[precision] * 64
    assert {len(data) for data in vectors_stored(bench.store).values()} == {size}
    with bench.open() as index:
        assert index.verify() == []
        best = index.search(document("Three"), 1, mode="dense").hits[0]
    assert (str(best.document), round(best.score, 2)) == ("docs:b.md", 1.0)


def test_precisions_live_side_by_side_and_nothing_is_embedded_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path, '[store]\nvectors = "float32"\n')
    bench.write({"a.md": document("One")})
    bench.sync()
    bench.configure('[store]\nvectors = "float16"\n')
    bench.write({"b.md": document("Two")})
    report, asked = bench.sync()
    assert (report.documents.unchanged, len(asked)) == (1, 1)
    assert sorted(map(len, vectors_stored(bench.store).values())) == [128, 256]
    assert sorted(bench.found("words")) == ["docs:a.md", "docs:b.md"]
    with bench.open() as index:
        assert index.verify() == []


def test_collections_of_a_tenant_share_vectors_and_tenants_share_nothing(tmp_path: Path) -> None:
    tables = """
        [collections.first]
        sources = ["docs"]
        [collections.second]
        sources = ["docs"]
        [collections.foreign]
        tenant = "elsewhere"
        sources = ["docs"]
    """
    bench = Bench(tmp_path, collections=tables)
    bench.write({"a.md": document("One", "Two")})
    asked: dict[str, int] = {}
    for name in ("first", "second", "foreign"):
        bench.embedder.taken()
        with bench.open(collection=name) as index:
            report = index.sync()
        asked[name] = len(bench.embedder.taken())
        assert (report.generation, report.documents.added) == (1, 1)
    assert asked == {"first": 2, "second": 0, "foreign": 2}
    assert bench.sql("SELECT count(*) FROM revision") == [(2,)]


def test_a_store_can_be_named_apart_from_its_folder(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "home")
    bench.write({"a.md": document("One")})
    with variorum.open(bench.home, store=tmp_path / "far", embedder=bench.embedder) as index:
        index.sync()
    assert (tmp_path / "far" / "store.sqlite").is_file()
    assert not bench.store.exists()
