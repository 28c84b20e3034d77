"""Publishes, prunes, model switches and restores that are killed at a random moment."""

import json
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import variorum
from bench.documents import document, edit, write_corpus
from bench.kill_looks import SlowEmbedder, answers, keys
from bench.recording import RecordingEmbedder
from bench.study import SEED, Table
from variorum.embedding.hashing import HashingEmbedder
from variorum.records.protocols import Embedder

DOCUMENTS = 12
GENERATIONS = 3
DIMENSIONS, OTHER_DIMENSIONS = 64, 96
STORE = Path(".variorum") / "store.sqlite"
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

FORK = get_context("fork")

Model = Callable[[int], Embedder]
"""An embedder of so many dimensions."""


def publish(folder: Path, model: Model) -> None:
    with opened(folder, model(DIMENSIONS)) as index:
        index.sync(folder / "docs")


def prune(folder: Path, _model: Model) -> None:
    with opened(folder) as index:
        index.prune(keep=1)


def switch(folder: Path, model: Model) -> None:
    with opened(folder) as index:
        index.use_model(model(OTHER_DIMENSIONS))


def restore(folder: Path, _model: Model) -> None:
    with opened(folder) as index:
        index.restore(1)


RUNS: dict[str, Callable[[Path, Model], None]] = {
    "publish": publish,
    "prune": prune,
    "switch": switch,
    "restore": restore,
}


@dataclass(frozen=True, slots=True)
class Killed:
    """One kill: when, what the store had by then, and what a second run had to do."""

    run: str
    after_s: float
    finished: bool
    vectors_before: int
    was_done: bool = False
    vectors_at_kill: int = 0
    answers_kept: bool = False
    completed: bool = False
    embedded_next: int = 0
    repeated: int = 0
    findings: int = 0

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
    def of(cls, index: variorum.Index) -> "Seen":
        rows = index.log()
        kept = min(row.number for row in rows if not row.is_pruned)
        return cls(rows[-1].number, kept, answers(index))


def opened(folder: Path, embedder: Embedder | None = None) -> variorum.Index:
    model = embedder or HashingEmbedder(DIMENSIONS)
    return variorum.open(folder, store=folder / ".variorum", embedder=model)


def prepare(folder: Path, name: str) -> None:
    """A store of some generations, half of the documents edited from each to the next."""
    paths = write_corpus(folder / "docs", DOCUMENTS)
    with opened(folder) as index:
        for number in range(GENERATIONS):
            index.sync(folder / "docs")
            if number < GENERATIONS - 1:
                for path in paths[number % 2 :: 2]:
                    edit(path, number)
    if name == "publish":
        for number, path in enumerate(paths[::2]):
            path.write_text(document(1_000 + number), encoding="utf-8")


def kill_runs(place: Path, name: str, count: int) -> Iterator[Killed]:
    """Kill so many runs of one kind before they end, each on a fresh copy of one store."""
    site, base = place / "site", place / "base"
    prepare(site, name)
    with opened(site) as index:
        before, held = Seen.of(index), keys(site / STORE)
    shutil.copytree(site, base)
    length_s = _length_s(name, site)
    with opened(site) as index:
        after = Seen.of(index)
    generator = random.Random(f"{SEED} {name}")
    killed = 0
    while killed < count:
        shutil.rmtree(site)
        shutil.copytree(base, site)
        after_s = generator.uniform(0, length_s)
        finished = _kill(name, site, after_s)
        one = _looked_at(Killed(name, after_s, finished, len(held)), site, before, after)
        killed += not one.finished
        print("  " + json.dumps(asdict(one)), flush=True)
        yield one


def _looked_at(one: Killed, site: Path, before: Seen, after: Seen) -> Killed:
    """What the killed run left, and what it takes to complete it."""
    at_kill, models = keys(site / STORE), list[RecordingEmbedder]()
    with opened(site) as index:
        seen = Seen.of(index)
        is_kept = answers(index, before.newest) == before.answered
        findings = len(index.verify())
        if seen != after:
            RUNS[one.run](site, lambda dimensions: _recording(models, dimensions))
            findings += len(index.verify())
        completed = Seen.of(index) == after
    embedded = sum(len(model.embedded) for model in models)
    return replace(
        one,
        was_done=seen == after,
        vectors_at_kill=len(at_kill),
        answers_kept=is_kept and seen in (before, after),
        completed=completed,
        embedded_next=embedded,
        repeated=embedded - len(keys(site / STORE) - at_kill),
        findings=findings,
    )


def _recording(models: list[RecordingEmbedder], dimensions: int) -> RecordingEmbedder:
    models.append(RecordingEmbedder(HashingEmbedder(dimensions)))
    return models[-1]


def _length_s(name: str, site: Path) -> float:
    """How long a run takes that nobody kills."""
    process = _started(name, site)
    started = time.perf_counter()
    process.join()
    return time.perf_counter() - started


def _kill(name: str, site: Path, after_s: float) -> bool:
    """Kill a run so long after it began; whether it had ended by itself."""
    process = _started(name, site)
    time.sleep(after_s)
    process.kill()
    process.join()
    return process.exitcode != -signal.SIGKILL


def _started(name: str, site: Path) -> BaseProcess:
    """A run in a process of its own, which is about to begin."""
    ours, theirs = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_run, args=(name, site, theirs))
    process.start()
    ours.recv()
    return process


def _run(name: str, site: Path, tell: Connection) -> None:
    tell.send("ready")
    RUNS[name](site, SlowEmbedder)


def table_of(outcomes: Sequence[Killed]) -> Table:
    killed = [one for one in outcomes if not one.finished]
    groups = {(one.run, one.was_done) for one in killed}
    rows = [
        _row(group, [one for one in killed if (one.run, one.was_done) == group])
        for group in sorted(groups)
    ]
    return Table("kill -9 at a random moment of each kind of run", COLUMNS, rows)


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
