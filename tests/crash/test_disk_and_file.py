"""A full disk, a file that is not a store, a store that may not be written."""

import os
import shutil
import signal
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

import variorum
from dying import FORK, full_disk
from variorum.records.errors import (
    BusyError,
    DamagedError,
    NotFoundError,
    UnavailableError,
    UnsupportedError,
    VariorumError,
)
from variorum.store.engine import write_transaction
from variorum.store.store import Store
from variorum.sync import execution
from variorum.sync.target import no_progress
from workbench import Bench, document, key_of, sql, vectors_stored


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
        findings = index.verify()
        assert {finding.kind for finding in findings} == {"row", "revision"}


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


def as_ordinary_user(work: Callable[[], object]) -> None:
    assert kind_as_ordinary_user(work) == "no error"


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


def reads_of(bench: Bench) -> list[Callable[[], object]]:
    """Every reading call, each on an index of its own."""
    with bench.open() as index:
        citation = index.search("old", k=1).hits[0].citation
    calls: list[Callable[[variorum.Index], object]] = [
        lambda index: [hit.text for hit in index.search("old").hits],
        lambda index: index.show(citation).text,
        lambda index: [row.number for row in index.log()],
        lambda index: index.diff(1, 2).as_fields(),
        lambda index: index.status().documents,
        lambda index: index.verify(),
        lambda index: index.plan().report.documents.added,
    ]

    def on_its_own(call: Callable[[variorum.Index], object]) -> object:
        with bench.open() as index:
            return call(index)

    return [lambda call=call: on_its_own(call) for call in calls]  # type: ignore[misc]


def published_twice(home: Path) -> Bench:
    bench = prepared(home)
    bench.sync()
    return bench


def make_read_only(bench: Bench) -> None:
    for path in bench.store.iterdir():
        path.chmod(0o444)
    bench.store.chmod(0o555)


def test_a_store_that_may_only_be_read_answers_all_questions(open_folder: Path) -> None:
    bench = published_twice(open_folder)
    answers = [read() for read in reads_of(bench)]
    reads = reads_of(bench)
    make_read_only(bench)
    files = sorted(bench.store.iterdir())

    def all_the_same() -> None:
        if [read() for read in reads] != answers:
            raise AssertionError([read() for read in reads])

    as_ordinary_user(all_the_same)
    assert kind_as_ordinary_user(sync_of(bench)) == "store-not-writable"
    assert kind_as_ordinary_user(lambda: bench.open().restore(1)) == "store-not-writable"
    assert sorted(bench.store.iterdir()) == files
    bench.store.chmod(0o755)


def test_a_store_that_may_only_be_read_is_read_beside_its_writer(open_folder: Path) -> None:
    bench = published_twice(open_folder)
    with bench.open() as writer:
        bench.write({"new.md": document("New")})
        writer.sync()
        for path in bench.store.iterdir():
            path.chmod(0o444)
        bench.store.chmod(0o555)

        def newest() -> None:
            if bench.open().status().generation != 3:
                raise AssertionError

        as_ordinary_user(newest)
        bench.store.chmod(0o755)


def test_a_still_store_that_somebody_writes_is_opened_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = published_twice(tmp_path)
    may_write = False
    monkeypatch.setattr("variorum.store.store_file.is_writable", lambda _: may_write)
    reader = Store(bench.store)
    assert reader.head("local", "default")[1] == 2

    def publish(title: str) -> None:
        nonlocal may_write
        may_write = True
        bench.write({f"{title}.md": document(title)})
        bench.sync()
        may_write = False

    publish("New")
    assert reader.head("local", "default")[1] == 3
    reading = reader.connection()
    reading.__enter__()
    publish("Newer")
    with pytest.raises(BusyError) as fault:
        reading.__exit__(None, None, None)
    assert fault.value.kind == "store-changed"
    reader.close()


def test_a_copy_with_changes_in_its_log_says_so_where_it_may_not_be_written(
    open_folder: Path,
) -> None:
    bench = published_twice(open_folder)
    with bench.open() as writer:
        bench.write({"new.md": document("New")})
        writer.sync()
        copy = open_folder / "copy"
        copy.mkdir()
        for name in ("store.sqlite", "store.sqlite-wal"):
            shutil.copy(bench.store / name, copy / name)
    (copy / "store.sqlite").chmod(0o444)
    copy.chmod(0o555)
    work = lambda: variorum.open(bench.home, store=copy).status()  # noqa: E731
    assert kind_as_ordinary_user(work) == "store-log-left"
    copy.chmod(0o755)
    (copy / "store.sqlite").chmod(0o644)
    with bench.open(store=copy) as index:
        assert index.status().generation == 3


@pytest.mark.parametrize("unreadable", ["folder", "file"])
def test_a_store_that_may_not_be_read_is_not_called_damaged(
    open_folder: Path, unreadable: str
) -> None:
    bench = published_twice(open_folder)
    reads = reads_of(bench)
    (bench.store if unreadable == "folder" else bench.store / "store.sqlite").chmod(0)
    for read in [*reads, sync_of(bench)]:
        assert kind_as_ordinary_user(read) == "store-not-readable"
    bench.store.chmod(0o755)


@pytest.mark.parametrize("size", [0, 50, 4096, -4096])
def test_a_file_that_was_cut_off_is_damaged_for_every_command(tmp_path: Path, size: int) -> None:
    bench = published_twice(tmp_path)
    reads = reads_of(bench)
    file = bench.store / "store.sqlite"
    os.truncate(file, size if size >= 0 else file.stat().st_size + size)
    for read in [*reads, sync_of(bench)]:
        with pytest.raises(DamagedError) as fault:
            read()
        assert fault.value.kind == "store-damaged"
    with bench.open() as index:
        [check] = [check for check in index.doctor() if check.name == "store"]
    assert check.state == "wrong"
    assert "damaged" in check.found


@pytest.mark.parametrize("version", ["0000", "", "x", "99999"])
def test_a_format_that_no_version_wrote_is_damaged(tmp_path: Path, version: str) -> None:
    bench = published_twice(tmp_path)
    reads = reads_of(bench)
    bench.sql("UPDATE alembic_version SET version_num = ?", version)
    for read in [*reads, sync_of(bench)]:
        with pytest.raises(DamagedError) as fault:
            read()
        assert "alembic_version" in fault.value.subject


@pytest.mark.parametrize("way", ["deleted", "renamed", "replaced"])
@pytest.mark.parametrize("moment", ["embedding", "publish"])
def test_a_store_taken_away_in_the_middle_of_a_sync_publishes_nothing(
    tmp_path: Path, way: str, moment: str
) -> None:
    bench = prepared(tmp_path / "home")
    away = tmp_path / "away"

    def take_away(*_: object) -> None:
        if away.exists():
            return
        shutil.copytree(bench.store, away)
        if way == "deleted":
            shutil.rmtree(bench.store)
        else:
            shutil.rmtree(away)
            bench.store.rename(away)
        if way == "replaced":
            shutil.copytree(away, bench.store)

    with bench.open() as index, pytest.MonkeyPatch.context() as patch:
        if moment == "publish":
            real = execution.publish
            patch.setattr(execution, "publish", lambda *given: (take_away(), real(*given))[1])
            progress = no_progress
        else:
            progress = lambda stage, *_: take_away() if stage == "embed" else None  # noqa: E731
        with pytest.raises(UnavailableError) as fault:
            index.sync(progress=progress)
    assert fault.value.kind == "store-gone"
    assert sql(away, "SELECT generation FROM head") == [(1,)]
    if way == "replaced":
        assert bench.stored().generation == 1


def interrupted_after(bench: Bench, statement: str, seconds: float) -> float:
    """Run a statement, interrupt it, and say how long it took to hear that."""
    store = Store(bench.store)
    asked = 0.0

    def interrupt() -> None:
        nonlocal asked
        asked = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    with store.connection() as connection:
        pass
    timer = threading.Timer(seconds, interrupt)
    timer.start()
    with (
        pytest.raises(KeyboardInterrupt),
        store.connection() as connection,
        write_transaction(connection),
    ):
        connection.exec_driver_sql(statement)
    store.close()
    return time.monotonic() - asked


def test_an_interrupt_is_heard_in_the_middle_of_a_long_statement(tmp_path: Path) -> None:
    bench = published_twice(tmp_path)
    before = bench.stored()
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " UPDATE head SET generation = (SELECT count(*) FROM n)"
    )
    assert interrupted_after(bench, endless, 0.3) < 1
    assert bench.stored() == before
    with bench.open() as index:
        assert index.verify() == []


def test_an_interrupt_is_heard_while_another_process_holds_the_lock(tmp_path: Path) -> None:
    bench = published_twice(tmp_path)
    with closing(sqlite3.connect(bench.store / "store.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert interrupted_after(bench, "SELECT 1", 0.3) < 1
