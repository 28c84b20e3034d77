"""Runs that are killed at a random moment, and what the store says afterwards."""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import variorum
from bench.documents import SOURCES, document, write_corpus
from bench.kill_looks import SlowEmbedder, answers, keys
from bench.kill_operations import RUNS, Killed, kill_runs, table_of
from bench.recording import RecordingEmbedder
from bench.statements import make_statements_once
from bench.study import SEED, Result, Study, Table, Target
from variorum.embedding.hashing import HashingEmbedder

DOCUMENTS = 40


@dataclass(frozen=True, slots=True)
class Outcome:
    """One kill: when, what the store had by then, and what the next sync had to do."""

    after_s: float
    finished: bool
    killed_in: str
    vectors_before: int
    vectors_at_kill: int
    answers_kept: bool
    completed: bool
    embedded_next: int
    repeated: int
    findings: int


def sync_once(folder: Path) -> None:
    """What the killed process runs."""
    print("ready", flush=True)
    variorum.open(folder, store=folder / ".variorum", embedder=SlowEmbedder()).sync(folder / "docs")


def one_kill(folder: Path, paths: Sequence[Path], number: int, after_s: float) -> Outcome:
    """Write half of the documents anew, kill their sync after `after_s`, look, and sync again."""
    embedder = RecordingEmbedder(HashingEmbedder())
    with variorum.open(folder, store=folder / ".variorum", embedder=embedder) as index:
        store = index.store.path
        before = keys(store)
        generation = index.log()[-1].number
        answered = answers(index)
    for path in random.Random(f"{SEED} {number}").sample(list(paths), len(paths) // 2):
        path.write_text(document(int(path.stem) + 1_000 * (number + 1)), encoding="utf-8")
    finished = _kill(folder, after_s)
    with variorum.open(folder, store=folder / ".variorum", embedder=embedder) as index:
        newest = index.log()[-1].number
        kept = answers(index, generation) == answered
        at_kill = keys(store)
        findings = len(index.verify())
        embedder.embedded.clear()
        index.sync(folder / "docs")
        after = keys(store)
        embedded = len(embedder.embedded)
        repeated = embedded - len(after - at_kill)
        embedder.embedded.clear()
        again = index.sync(folder / "docs")
        complete = not embedder.embedded and again.generation is None
    published = newest > generation
    stage = "after the publish" if published else "embedding" if at_kill > before else "planning"
    return Outcome(
        after_s=after_s,
        finished=finished,
        killed_in=stage,
        vectors_before=len(before),
        vectors_at_kill=len(at_kill),
        answers_kept=kept,
        completed=complete,
        embedded_next=embedded,
        repeated=repeated,
        findings=findings,
    )


def _kill(folder: Path, after_s: float) -> bool:
    """Start a sync of its own process, kill it; whether it had ended by itself."""
    command = [sys.executable, "-c", _CHILD, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    process.stdout.close()
    return process.wait() == 0


_CHILD = (
    "import sys; from pathlib import Path; from bench.kill import sync_once;"
    " sync_once(Path(sys.argv[1]))"
)


def run(arguments: argparse.Namespace) -> Result:
    result = Result(inputs=list(SOURCES))
    generator = random.Random(SEED)
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        paths = write_corpus(folder / "docs", DOCUMENTS)
        with variorum.open(folder, store=folder / ".variorum", embedder=HashingEmbedder()) as index:
            index.sync(folder / "docs")
        while sum(not one.finished for one in outcomes) < arguments.kills:
            after_s = generator.uniform(0.0, arguments.within_s)
            outcomes.append(one_kill(folder, paths, len(outcomes), after_s))
            print("  " + json.dumps(asdict(outcomes[-1])), flush=True)
        make_statements_once()
        others = [one for name in RUNS for one in kill_runs(folder / name, name, arguments.each)]
    _tables(result, outcomes)
    _table_of_others(result, others)
    return result


def _tables(result: Result, outcomes: Sequence[Outcome]) -> None:
    killed = [one for one in outcomes if not one.finished]
    stages = {one.killed_in for one in killed}
    rows = [
        _row(stage, [one for one in killed if one.killed_in == stage]) for stage in sorted(stages)
    ]
    columns = (
        "killed while",
        "kills",
        "last generation answers as before",
        "next sync complete",
        "vectors kept by then",
        "embedded by the next sync",
        "of those, embedded before",
        "problems found by verify",
    )
    result.tables.append(Table("kill -9 at a random moment of a sync", columns, rows))
    result.figures["outcomes"] = [asdict(one) for one in outcomes]
    good = sum(
        one.answers_kept and one.completed and not one.repeated and not one.findings
        for one in killed
    )
    result.targets.append(
        Target(
            "kills that left the last generation as it was and lost no recorded vector",
            "all",
            f"{good} of {len(killed)}, {len(outcomes) - len(killed)} syncs had ended by then",
            good == len(killed),
        )
    )


def _table_of_others(result: Result, others: Sequence[Killed]) -> None:
    result.tables.append(table_of(others))
    result.figures["others"] = [asdict(one) for one in others]
    killed = [one for one in others if not one.finished]
    good = sum(one.is_good for one in killed)
    result.targets.append(
        Target(
            "killed runs that had done all or nothing and could be run again",
            "all",
            f"{good} of {len(killed)}, {len(others) - len(killed)} runs had ended by then",
            good == len(killed),
        )
    )


def _row(stage: str, outcomes: Sequence[Outcome]) -> tuple[object, ...]:
    return (
        stage,
        len(outcomes),
        sum(one.answers_kept for one in outcomes),
        sum(one.completed for one in outcomes),
        sum(one.vectors_at_kill - one.vectors_before for one in outcomes),
        sum(one.embedded_next for one in outcomes),
        sum(one.repeated for one in outcomes),
        sum(one.findings for one in outcomes),
    )


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kills", type=int, default=50, help="syncs killed while they run")
    parser.add_argument(
        "--each", type=int, default=10, help="publishes, prunes, switches and restores, each"
    )
    parser.add_argument("--within-s", type=float, default=1.8, help="latest moment of a kill")


STUDY = Study(
    "kill", "kill -9 at random moments of syncs, prunes, switches and restores", run, _arguments
)
