"""A full disk, a file that is not a store, a store that may not be written."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dying import FORK, full_disk
from variorum.records.errors import (
    DamagedError,
    NotFoundError,
    UnavailableError,
    UnsupportedError,
    VariorumError,
)
from workbench import Bench, document, key_of, vectors_stored


def prepared(home: Path) -> Bench:
    bench = Bench(home)
    bench.write({"old.md": document("Old", "Older")})
    bench.sync()
    titles = [f"T{n}" for n in range(120)]
    bench.write({f"{n}.md": document(*titles[n : n + 8]) for n in range(0, len(titles), 8)})
    return bench


@pytest.mark.parametrize("spare_pages", [0, 2, 6, 12, 14])
def test_a_full_disk_keeps_the_last_generation_and_what_was_paid_for(
    tmp_path: Path, spare_pages: int
) -> None:
    bench = prepared(tmp_path)
    before = bench.stored()
    with full_disk(spare_pages), bench.open() as index, pytest.raises(UnavailableError) as fault:
        index.sync()
    assert fault.value.kind == "no-space"
    assert bench.stored() == before
    assert bench.found("old", k=1) == ["docs:old.md"]
    recorded = vectors_stored(bench.store)
    report, asked = bench.sync()
    assert report.generation == 2
    assert not {key_of(bench.embedder, text) for text in asked} & set(recorded)
    assert len(vectors_stored(bench.store)) == 122
    with bench.open() as index:
        assert index.verify() == []


def test_a_store_of_a_newer_format_is_refused_untouched(tmp_path: Path) -> None:
    bench = prepared(tmp_path)
    bench.sql("UPDATE alembic_version SET version_num = '9999'")
    before = bench.stored()
    with bench.open() as index:
        for call in (index.sync, index.plan, index.log, index.verify, index.status):
            with pytest.raises(UnsupportedError) as refused:
                call()
            assert refused.value.kind == "store-newer"
            assert "9999" in refused.value.found
    assert bench.stored() == before


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    content = b"not a database at all, but rather long" * 40
    bench = Bench(tmp_path)
    bench.write({"a.md": "text"})
    bench.store.mkdir()
    (bench.store / "store.sqlite").write_bytes(content)
    with bench.open() as index:
        for call in (index.sync, index.log, lambda: index.search("text")):
            with pytest.raises(DamagedError) as fault:
                call()
            assert fault.value.kind == "store-damaged"
            assert "store.sqlite" in fault.value.subject
    assert (bench.store / "store.sqlite").read_bytes() == content


def test_damage_in_the_middle_of_the_file_is_told_in_our_words(tmp_path: Path) -> None:
    bench = prepared(tmp_path)
    bench.sync()
    file = bench.store / "store.sqlite"
    size = file.stat().st_size
    for wal in bench.store.glob("*-wal"):
        wal.unlink()
    with file.open("r+b") as handle:
        for page in range(8, size // 4096):
            handle.seek(page * 4096)
            handle.write(b"\xa5" * 4096)
    with bench.open() as index:
        calls: list[Callable[[], object]] = [
            lambda: index.search("old"),
            index.sync,
            index.status,
            lambda: index.diff(1, 2),
        ]
        for call in calls:
            with pytest.raises(DamagedError):
                call()
        with suppress(DamagedError):
            assert index.verify()


@pytest.mark.parametrize("table", ["chunk", "vector", "layout", "document"])
def test_a_store_that_lacks_a_table_is_told_in_our_words(tmp_path: Path, table: str) -> None:
    bench = prepared(tmp_path)
    bench.sql(f"DROP TABLE {table}")
    with bench.open() as index, pytest.raises(DamagedError) as fault:
        index.search("old")
    assert fault.value.kind == "store-error"


def test_a_damaged_revision_is_told_in_our_words(tmp_path: Path) -> None:
    bench = prepared(tmp_path)
    bench.sql("UPDATE revision SET content = x'0102'")
    with bench.open() as index:
        with pytest.raises(DamagedError) as fault:
            index.search("old")
        assert (fault.value.kind, fault.value.subject) == ("row-damaged", "revision id=1")
        assert {finding.kind for finding in index.verify()} == {"row", "revision"}


def test_what_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.open() as index:
        for call in (
            lambda: index.search("x"),
            index.status,
            index.verify,
            lambda: index.restore(1),
        ):
            with pytest.raises(NotFoundError) as fault:
                call()
            assert fault.value.kind == "no-store"
        assert index.log() == []
    assert not bench.store.exists()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="variorum-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def kind_as_ordinary_user(work: Callable[[], object]) -> str:
    """Run `work` as a user without rights over files; the kind of the error that it raises."""
    queue = FORK.Queue()

    def run() -> None:
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        try:
            work()
            queue.put("no error")
        except VariorumError as error:
            queue.put(error.kind)
        except BaseException as error:
            queue.put(repr(error))

    process = FORK.Process(target=run)
    process.start()
    kind = queue.get(timeout=60)
    process.join()
    return str(kind)


def sync_of(bench: Bench) -> Callable[[], object]:
    return lambda: bench.open().sync()


def test_a_folder_that_may_not_be_written_is_told_so(open_folder: Path) -> None:
    bench = Bench(open_folder)
    bench.write({"a.md": document("One")})
    bench.home.chmod(0o555)
    assert kind_as_ordinary_user(sync_of(bench)) == "store-not-writable"
    bench.home.chmod(0o755)
    bench.sync()
    before = bench.stored()
    bench.write({"a.md": document("Two")})
    for path in bench.store.iterdir():
        path.chmod(0o444)
    bench.store.chmod(0o555)
    assert kind_as_ordinary_user(sync_of(bench)) == "store-not-writable"
    bench.store.chmod(0o755)
    assert bench.stored() == before
