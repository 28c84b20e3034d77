"""Prunes, model switches and restores that are killed at a random moment."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import variorum
from bench.documents import edit, write_corpus
from bench.kill_looks import SlowEmbedder, answers, keys
from bench.recording import RecordingEmbedder
from bench.study import SEED, Table
from variorum.embedding.hashing import HashingEmbedder

DOCUMENTS = 24
GENERATIONS = 3
OTHER_DIMENSIONS = 96
COLUMNS = (
    "run",
    "killed",
    "kills",
    "last generation answers as before",
    "run again, complete",
    "vectors kept by then",
    "embedded by the second run",
    "of those, embedded before",
    "problems found by verify",
)

Run = Callable[[variorum.Index, HashingEmbedder], object]


def prune(index: variorum.Index, _other: HashingEmbedder) -> object:
    return index.prune(keep=1)


def switch(index: variorum.Index, other: HashingEmbedder) -> object:
    return index.use_model(other)


def restore(index: variorum.Index, _other: HashingEmbedder) -> object:
    return index.restore(1)


RUNS: dict[str, Run] = {"prune": prune, "switch": switch, "restore": restore}


@dataclass(frozen=True, slots=True)
class Killed:
    """One kill: when, what the store had by then, and what a second run had to do."""

    run: str
    after_s: float
    finished: bool
    was_done: bool
    vectors_before: int
    vectors_at_kill: int
    answers_kept: bool
    completed: bool
    embedded_next: int
    repeated: int
    findings: int

    @property
    def is_good(self) -> bool:
        return self.answers_kept and self.completed and not self.repeated and not self.findings


@dataclass(frozen=True, slots=True)
class Seen:
    """What a reader sees: the newest generation's number and answers, and the oldest kept."""

    newest: int
    oldest: int
    answered: list[list[str]]

    @classmethod
    def of(cls, folder: Path) -> "Seen":
        with opened(folder) as index:
            rows = index.log()
            kept = min(row.number for row in rows if not row.is_pruned)
            return cls(rows[-1].number, kept, answers(index))


def opened(folder: Path) -> variorum.Index:
    return variorum.open(folder, store=folder / ".variorum", embedder=HashingEmbedder())


def run_once(name: str, folder: Path) -> None:
    """What the killed process runs."""
    with opened(folder) as index:
        index.log()
        print("ready", flush=True)
        RUNS[name](index, SlowEmbedder(OTHER_DIMENSIONS))


def prepare(folder: Path) -> None:
    """A store of some generations, half of the documents edited from each to the next."""
    paths = write_corpus(folder / "docs", DOCUMENTS)
    with opened(folder) as index:
        for number in range(GENERATIONS):
            for path in paths[number % 2 :: 2] if number else ():
                edit(path, number)
            index.sync(folder / "docs")


def kill_runs(place: Path, name: str, count: int) -> Iterator[Killed]:
    """Kill so many runs of one kind before they end, each on a fresh copy of one store."""
    base, whole, victim = place / "base", place / "whole", place / "victim"
    for folder in (base, whole):
        shutil.rmtree(folder, ignore_errors=True)
    prepare(base)
    shutil.copytree(base, whole)
    process = _process(name, whole)
    started = time.perf_counter()
    process.wait()
    length_s = time.perf_counter() - started
    generator = random.Random(f"{SEED} {name}")
    killed = 0
    while killed < count:
        shutil.rmtree(victim, ignore_errors=True)
        shutil.copytree(base, victim)
        one = _one(name, generator.uniform(0, length_s), victim, Seen.of(base), Seen.of(whole))
        killed += not one.finished
        print("  " + json.dumps(asdict(one)), flush=True)
        yield one


def _one(name: str, after_s: float, victim: Path, before: Seen, after: Seen) -> Killed:
    store = victim / ".variorum" / "store.sqlite"
    held = keys(store)
    finished = _kill(name, victim, after_s)
    seen, at_kill = Seen.of(victim), keys(store)
    was_done = seen == after
    with opened(victim) as index:
        kept = answers(index, before.newest) == before.answered
        findings = len(index.verify())
        again = RecordingEmbedder(HashingEmbedder(OTHER_DIMENSIONS))
        if not was_done:
            RUNS[name](index, again)
        findings += len(index.verify())
    completed = Seen.of(victim) == after
    embedded, new = len(again.embedded), keys(store) - at_kill
    return Killed(
        run=name,
        after_s=after_s,
        finished=finished,
        was_done=was_done,
        vectors_before=len(held),
        vectors_at_kill=len(at_kill),
        answers_kept=kept and (was_done or seen == before),
        completed=completed,
        embedded_next=embedded,
        repeated=embedded - len(new),
        findings=findings,
    )


def _kill(name: str, folder: Path, after_s: float) -> bool:
    """Start a run in a process of its own, kill it; whether it had ended by itself."""
    process = _process(name, folder)
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    return process.wait() == 0


def _process(name: str, folder: Path) -> subprocess.Popen[bytes]:
    """A run in a process of its own, which is about to begin."""
    code = (
        "import sys; from pathlib import Path; from bench.kill_operations import run_once;"
        " run_once(sys.argv[1], Path(sys.argv[2]))"
    )
    command = [sys.executable, "-c", code, name, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    return process


def table_of(outcomes: Sequence[Killed]) -> Table:
    killed = [one for one in outcomes if not one.finished]
    groups = {(one.run, one.was_done) for one in killed}
    rows = [
        _row(group, [one for one in killed if (one.run, one.was_done) == group])
        for group in sorted(groups)
    ]
    return Table("kill -9 at a random moment of other runs", COLUMNS, rows)


def _row(group: tuple[str, bool], outcomes: Sequence[Killed]) -> tuple[object, ...]:
    name, was_done = group
    return (
        name,
        "after its transaction" if was_done else "before",
        len(outcomes),
        sum(one.answers_kept for one in outcomes),
        sum(one.completed for one in outcomes),
        sum(max(0, one.vectors_at_kill - one.vectors_before) for one in outcomes),
        sum(one.embedded_next for one in outcomes),
        sum(one.repeated for one in outcomes),
        sum(one.findings for one in outcomes),
    )
