"""Two writers at once pay for each input once, whichever of them dies."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from dying import FORK, Slow
from variorum.records.protocols import Role, Vectors
from variorum.records.reports import Report
from variorum.store.staging import Staging
from variorum.sync import execution, sharing
from workbench import Bench, Recorder, document, sql, vectors_stored, words

SECONDS = 0.04
SEMANTIC = '[chunking]\nchunker = "semantic(max_tokens=80, min_tokens=10, window=2)"\n'
DOCUMENTS = 60
INPUTS = 2 * DOCUMENTS


class Logged(Slow):
    """Slow, and notes what it was asked for in a file, since its process may die."""

    def __init__(self, log: Path) -> None:
        super().__init__(SECONDS)
        self.log = log

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        if role == "passage":
            with self.log.open("a") as file:
                file.writelines(f"{text!r}\n" for text in inputs)
        return super().embed(inputs, role)


def tables(count: int) -> str:
    return "".join(f'[collections.{name}]\nsources = ["docs"]\n' for name in "pqr"[:count])


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A store with nothing of the inputs that three collections want."""
    monkeypatch.setattr(sharing, "CLAIM_INPUTS", 8)
    bench = Bench(tmp_path, collections=tables(3))
    bench.write({"0.md": "Nothing."})
    with bench.open(collection="p") as index:
        index.sync()
    bench.write({f"{n}.md": document(f"A{n}", f"B{n}") for n in range(DOCUMENTS)})
    return bench


def sync(bench: Bench, collection: str, log: Path) -> None:
    with bench.open(collection=collection, embedder=Logged(log)) as index:
        index.sync()


def started(bench: Bench, collection: str, log: Path):  # type: ignore[no-untyped-def]
    process = FORK.Process(target=sync, args=(bench, collection, log))
    process.start()
    return process


def asked(*logs: Path) -> Counter[str]:
    return Counter(line for log in logs if log.exists() for line in log.read_text().splitlines())


def is_clean(bench: Bench) -> bool:
    leases = sql(bench.store, "SELECT * FROM lease")
    return not leases and not list(bench.store.glob("*.lock"))


@pytest.mark.parametrize("collections", ["pp", "pq", "pqr"])
def test_writers_at_once_send_each_input_once_between_them(
    bench: Bench, tmp_path: Path, collections: str
) -> None:
    logs = [tmp_path / f"log{n}" for n in range(len(collections))]
    running = [started(bench, *pair) for pair in zip(collections, logs, strict=True)]
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0] * len(running)
    counts = asked(*logs)
    assert len(counts) == INPUTS
    assert set(counts.values()) == {1}
    for collection in set(collections):
        assert len(bench.stored(collection).documents) == DOCUMENTS
    assert is_clean(bench)


def test_each_of_two_writers_counts_what_it_sent(bench: Bench, tmp_path: Path) -> None:
    logs = [tmp_path / "p", tmp_path / "q"]
    running = [started(bench, name, log) for name, log in zip("pq", logs, strict=True)]
    for process in running:
        process.join()
    sent = [sum(asked(log).values()) for log in logs]
    assert all(sent)
    for name, own in zip("pq", sent, strict=True):
        reports = bench.sql(
            "SELECT report FROM generation JOIN collection c ON c.id = collection_id"
            " WHERE c.name = ? ORDER BY number DESC LIMIT 1",
            name,
        )
        report = json.loads(str(reports[0][0]))
        assert report["inputs"]["embed"] == own
        assert report["inputs"]["reuse"] == INPUTS - own
        assert report["tokens"]["embed"] < report["tokens"]["total"]
        counted = bench.sql(
            "SELECT sum(embedded_inputs) FROM cost JOIN collection c ON c.id = collection_id"
            " WHERE c.name = ? AND generation = (SELECT max(generation) FROM cost x"
            " WHERE x.collection_id = c.id)",
            name,
        )
        assert counted == [(own,)]
    with bench.open(collection="p") as index:
        assert index.verify() == []


def test_a_writer_whose_terms_came_second_publishes_what_it_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, collections=tables(2))
    bench.write({f"{n}.md": document(f"A{n}") for n in range(3)})
    staged = execution.stage_new_terms
    others: list[Report] = []

    def overtaken(staging: Staging) -> None:
        staged(staging)
        if not others:
            monkeypatch.setattr(execution, "stage_new_terms", staged)
            with bench.open(collection="q") as index:
                others.append(index.sync())

    monkeypatch.setattr(execution, "stage_new_terms", overtaken)
    with bench.open(collection="p") as index:
        report = index.sync()
        assert index.verify() == []
    assert (report.inputs.embed, others[0].inputs.embed) == (3, 0)
    with bench.open(collection="q") as index:
        found = index.search("A1", mode="lexical").hits
    assert found[0].document.path == b"1.md"


def test_writers_at_once_send_each_window_once_between_them(tmp_path: Path) -> None:
    bench = Bench(tmp_path, SEMANTIC)
    for n in range(3):
        sentences = (words(f"t{n}x{m}").capitalize() for m in range(30))
        bench.write({f"{n}.txt": " ".join(sentences)})
    windows = bench.plan().windows
    bench.embedder = Recorder()
    logs = [tmp_path / f"log{n}" for n in range(3)]
    reports = FORK.Queue()

    def run(log: Path) -> None:
        with bench.open(embedder=Logged(log)) as index:
            reports.put(index.sync().windows)

    running = [FORK.Process(target=run, args=(log,)) for log in logs]
    for process in running:
        process.start()
    found = [reports.get(timeout=60) for _ in running]
    for process in running:
        process.join()
    assert sum(one.embed for one in found) == windows.embed
    assert sum(one.tokens for one in found) == windows.tokens
    assert sum(asked(*logs).values()) == len(vectors_stored(bench.store))
    assert is_clean(bench)


def test_a_writer_that_is_killed_leaves_its_inputs_to_the_other(
    bench: Bench, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    killed = started(bench, "p", first)
    while len(asked(first)) < 5:
        time.sleep(0.005)
    other = started(bench, "q", second)
    while not asked(second) and other.is_alive():
        time.sleep(0.005)
    assert killed.is_alive()
    os.kill(killed.pid, signal.SIGKILL)
    killed.join()
    other.join()
    assert other.exitcode == 0
    assert len(bench.stored("q").documents) == DOCUMENTS
    paid_twice = sum(asked(first, second).values()) - INPUTS
    assert len(vectors_stored(bench.store)) == INPUTS + 1
    # What was with the killed one's model, and what it answered and was not yet stored.
    assert paid_twice <= 4 * 16
    assert max(asked(second).values()) == 1
    sync(bench, "p", tmp_path / "again")
    assert not asked(tmp_path / "again")
    assert is_clean(bench)


def test_a_writer_whose_model_hangs_is_not_waited_for_for_ever(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, go = tmp_path / "first", tmp_path / "second", tmp_path / "go"

    class Hanging(Logged):
        def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
            vectors = super().embed(inputs, role)
            while not go.exists():
                time.sleep(0.01)
            return vectors

    def sync_hanging() -> None:
        with bench.open(collection="p", embedder=Hanging(first)) as index:
            index.sync()

    hanging = FORK.Process(target=sync_hanging)
    hanging.start()
    while not asked(first):
        time.sleep(0.005)
    monkeypatch.setattr(sharing, "PATIENCE_S", 0.5)
    sync(bench, "q", second)
    assert hanging.is_alive()
    assert len(bench.stored("q").documents) == DOCUMENTS
    go.touch()
    hanging.join()
    assert hanging.exitcode == 0
    assert len(bench.stored("p").documents) == DOCUMENTS
    assert len(vectors_stored(bench.store)) == INPUTS + 1
    # Paid for twice: the batches of the one that hung, and what it had claimed beyond.
    assert sum(asked(first, second).values()) - INPUTS <= 3 * 16 + sharing.CLAIM_INPUTS
    assert is_clean(bench)


def test_a_clock_that_goes_backwards_changes_nothing(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leases ask no clock that can be set."""
    log = tmp_path / "log"
    running = started(bench, "p", log)
    while not asked(log):
        time.sleep(0.005)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    sync(bench, "q", tmp_path / "other")
    running.join()
    assert set(asked(log, tmp_path / "other").values()) == {1}
