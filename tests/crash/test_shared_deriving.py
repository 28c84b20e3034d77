"""Two writers at once run a function over each text once, whichever of them dies."""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dying import FORK
from variorum.sync import sharing
from workbench import Bench, document

DOCUMENTS = 24
TEXTS = 2 * DOCUMENTS
SECONDS = 0.02


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A store with every vector and no output of what two collections want."""
    monkeypatch.setattr(sharing, "CLAIM_INPUTS", 8)
    tables = "".join(f'[collections.{name}]\nsources = ["docs"]\n' for name in "pq")
    bench = Bench(tmp_path, collections=tables)
    bench.write({f"{n}.md": document(f"A{n}", f"B{n}") for n in range(DOCUMENTS)})
    for name in "pq":
        with bench.open(collection=name) as index:
            index.sync()
    return bench


def slowly(log: Path) -> Callable[[str], str]:
    """A slow function that notes what it was run over in a file, since its process may die."""

    def summary(text: str) -> str:
        with log.open("a") as file:
            file.write(f"{text!r}\n")
        time.sleep(SECONDS)
        return text[:8]

    return summary


def sync(bench: Bench, collection: str, log: Path, gate: Any = None) -> None:
    if gate is not None:
        gate.wait()
    with bench.open(collection=collection, derive={"summary@1": slowly(log)}) as index:
        report = index.sync()
        assert report.derived.run + report.derived.reuse == TEXTS
        assert report.derived.run == len(lines(log))


def started(bench: Bench, collection: str, log: Path, gate: Any = None) -> Any:
    process = FORK.Process(target=sync, args=(bench, collection, log, gate))
    process.start()
    return process


def lines(*logs: Path) -> list[str]:
    return [line for log in logs if log.exists() for line in log.read_text().splitlines()]


def check_outputs(bench: Bench, *collections: str) -> None:
    for name in collections:
        with bench.open(collection=name) as index:
            assert all(hit.derived for hit in index.search("one", 500).hits)
            assert index.verify() == []


def test_two_syncs_of_one_text_run_the_function_once(bench: Bench, tmp_path: Path) -> None:
    logs = [tmp_path / "p.log", tmp_path / "q.log"]
    gate = FORK.Barrier(2)
    processes = [started(bench, name, log, gate) for name, log in zip("pq", logs, strict=True)]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    run = Counter(lines(*logs))
    assert (len(run), max(run.values())) == (TEXTS, 1)
    assert all(lines(log) for log in logs), "one of them did all of the work"
    check_outputs(bench, "p", "q")


def test_what_a_killed_sync_had_claimed_is_done_by_the_other(bench: Bench, tmp_path: Path) -> None:
    first, second = tmp_path / "p.log", tmp_path / "q.log"
    dies = started(bench, "p", first)
    while len(lines(first)) < 5:
        time.sleep(SECONDS)
    goes_on = started(bench, "q", second)
    os.kill(dies.pid, signal.SIGKILL)
    dies.join()
    goes_on.join(60)
    assert (dies.exitcode, goes_on.exitcode) == (-signal.SIGKILL, 0)
    run = Counter(lines(first, second))
    assert len(run) == TEXTS
    assert sum(run.values()) <= TEXTS + 1, "more than the call that was broken off was made again"
    check_outputs(bench, "q")
