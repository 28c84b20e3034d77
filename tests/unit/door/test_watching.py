"""Following a folder: a burst is one publish, its lag is measured, and nothing is lost."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest

import variorum
from variorum.door.watching import RETRY_S, Watched, watched
from variorum.records.changes import Changes
from variorum.records.errors import BusyError, InputError, NotFoundError
from variorum.records.reports import DocumentCounts, InputCounts, Report, TokenCounts
from variorum.sources.following import Burst
from workbench import Bench, Recorder, document, words

PATIENCE_S = 60.0


class Following:
    """A watch in a thread of its own; what it yields, one at a time."""

    def __init__(self, bench: Bench) -> None:
        self.stop = threading.Event()
        self.found: Queue[Watched] = Queue()
        self.thread = threading.Thread(target=self.run, args=(bench,))
        self.thread.start()

    def run(self, bench: Bench) -> None:
        with variorum.open(bench.home, embedder=Recorder()) as index:
            for one in index.watch(settle_ms=100, longest_ms=2000, stop=self.stop):
                self.found.put(one)

    def next(self) -> Watched:
        return self.found.get(timeout=PATIENCE_S)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.write({"a.md": document("One"), "deep/b.md": document("Two"), "c.md": document("Three")})
    return bench


@pytest.fixture
def following(bench: Bench) -> Iterator[Following]:
    following = Following(bench)
    yield following
    following.stop.set()
    following.thread.join()


def test_edits_become_visible_and_their_lag_is_that_from_edit_to_publish(
    bench: Bench, following: Following
) -> None:
    first = following.next()
    assert first.report is not None
    assert (first.report.generation, first.report.documents.added) == (1, 3)
    before = time.time()
    bench.write({"a.md": document("Edited")})
    one = following.next()
    after = time.time()
    assert one.report is not None
    assert one.report.documents.changed == 1
    assert [how.scope for how in one.report.compared] == ["changes"]
    assert bench.found(words("edited", 4))[0] == "docs:a.md"
    (lag,) = one.lags_s
    assert 0 < lag <= after - before


def test_a_burst_is_one_publish(bench: Bench, following: Following) -> None:
    following.next()
    for number in range(30):
        bench.write({f"n{number}.md": document(f"New{number}")})
    bench.remove("c.md")
    os.rename(bench.root / "a.md", bench.root / "renamed.md")
    one = following.next()
    assert one.report is not None
    assert one.report.generation == 2
    assert (one.report.documents.added, one.report.documents.removed) == (31, 2)
    assert len(one.lags_s) >= 33


def test_a_new_folder_and_one_that_goes_are_followed(bench: Bench, following: Following) -> None:
    following.next()
    bench.write({"fresh/deeper/x.md": document("Fresh")})
    for path in ("deep/b.md",):
        bench.remove(path)
    (bench.root / "deep").rmdir()
    wanted = {"docs:a.md", "docs:c.md", "docs:fresh/deeper/x.md"}
    until = time.monotonic() + PATIENCE_S
    while set(bench.stored().documents) != wanted and time.monotonic() < until:
        time.sleep(0.05)
    assert set(bench.stored().documents) == wanted


def test_what_changes_no_document_publishes_nothing(bench: Bench, following: Following) -> None:
    following.next()
    bench.write({"notes.bin": b"\x89PNG", ".a.md.swp": "x"})
    (bench.root / "a.md").touch()
    bench.write({"a.md": document("Later")})
    one = following.next()
    assert one.report is not None
    assert (one.report.generation, one.report.documents.changed) == (2, 1)


def report(generation: int | None) -> Report:
    return Report(
        "main", None, generation, DocumentCounts(), InputCounts(), TokenCounts(), None, None
    )


def test_edits_whose_sync_failed_are_tried_again_and_told_once() -> None:
    now = [100.0]
    asked: list[Changes | None] = []
    busy = BusyError("busy", kind="store-busy", expected="a lock", remedy="wait")
    answers = [report(1), busy, busy, report(2)]

    def sync(changes: Changes | None) -> Report:
        asked.append(changes)
        answer = answers.pop(0)
        if isinstance(answer, BusyError):
            raise answer
        return answer

    def bursts() -> Iterator[Burst]:
        yield Burst({})
        now[0] = 110.0
        yield Burst({b"/a": 109.0})
        yield Burst({})  # Too soon to try again.
        now[0] += RETRY_S
        yield Burst({})
        now[0] += 1
        yield Burst({b"/b": now[0] - 0.5})
        yield Burst({})

    found = list(watched(bursts(), sync, lambda: now[0]))
    assert [one.error for one in found] == [None, busy, None]
    assert found[2].lags_s == (now[0] - 109.0, 0.5)
    named = [None if one is None else [m.path for m in one.mentions] for one in asked]
    assert named == [None, [b"/a"], [b"/a"], [b"/a", b"/b"]]
    assert answers == []


def test_a_first_sync_that_cannot_go_well_is_raised() -> None:
    def sync(_: Changes | None) -> Report:
        raise InputError("no", kind="no-source", expected="one", remedy="name it")

    with pytest.raises(InputError):
        list(watched([Burst({})], sync, time.time))


def test_only_folders_are_followed(tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_text('{"id": "n", "text": "hm"}\n')
    with variorum.open(tmp_path, embedder=Recorder()) as index:
        with pytest.raises(InputError) as refused:
            next(index.watch(tmp_path / "n.jsonl"))
        assert refused.value.kind == "nothing-to-follow"
        with pytest.raises(NotFoundError):
            next(index.watch(tmp_path / "nowhere"))
        for settle_ms in (0, 10**30):
            with pytest.raises(InputError):
                next(index.watch(tmp_path, settle_ms=settle_ms, longest_ms=10**30))


def test_a_store_inside_the_folder_does_not_wake_the_watch(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("hm")
    stop, found = threading.Event(), []

    def run() -> None:
        with variorum.open(tmp_path, embedder=Recorder()) as index:
            for one in index.watch(tmp_path, settle_ms=50, stop=stop):
                found.append(one)

    thread = threading.Thread(target=run)
    thread.start()
    until = time.monotonic() + PATIENCE_S
    while not found and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1.0)
    stop.set()
    thread.join()
    assert [one.report and one.report.generation for one in found] == [1]
