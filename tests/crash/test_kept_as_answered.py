"""What the embedder has answered is kept, whatever ends the run: counted call by call."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dying import FORK, kill_when, run_and_kill
from variorum.embedding.batches import LOCAL_LIMITS
from variorum.records.errors import UnavailableError
from variorum.records.protocols import Role, Vectors
from workbench import Bench, Recorder, document, vectors_stored, words

CALLS = LOCAL_LIMITS.max_in_flight
BATCH = LOCAL_LIMITS.max_inputs
SEMANTIC = '[chunking]\nchunker = "semantic(max_tokens=80, min_tokens=10, window=2)"\n'
INPUTS = 12 * BATCH


class Logged(Recorder):
    """Notes each passage call in a file when it is answered, and dies in call `last`."""

    def __init__(self, log: Path, last: int = 0, seconds: float = 0.0) -> None:
        super().__init__()
        self.log, self.last, self.seconds = log, last, seconds
        self.lock = threading.Lock()

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        with self.lock:  # So that every call has a number of its own.
            vectors = super().embed(inputs, role)
            number = self.calls
        if role == "passage":
            if number == self.last:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(self.seconds * len(inputs))
            self.note(inputs)
        return vectors

    def note(self, inputs: Sequence[str]) -> None:
        with self.log.open("ab", buffering=0) as file:
            file.write("".join(f"{text!r}\n" for text in inputs).encode())


def answered(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def of_chunks(home: Path) -> Bench:
    bench = Bench(home)
    titles = [f"T{n}" for n in range(INPUTS)]
    bench.write({f"{n}.md": document(*titles[n : n + 48]) for n in range(0, INPUTS, 48)})
    return bench


def of_windows(home: Path) -> Bench:
    bench = Bench(home, SEMANTIC)
    bench.write({"one.txt": " ".join(words(f"t{n}").capitalize() for n in range(INPUTS))})
    return bench


def sync(bench: Bench, embedder: Recorder) -> None:
    with bench.open(embedder=embedder) as index:
        index.sync()


def kill_after(bench: Bench, log: Path, goal: int) -> None:
    kill_when(lambda: sync(bench, Logged(log, 0, 0.004)), lambda: len(answered(log)) >= goal)


PREPARED = pytest.mark.parametrize("prepared", [of_chunks, of_windows])


@PREPARED
@pytest.mark.parametrize("last", [2, 5, 9])
def test_killed_in_a_call_a_sync_repeats_no_call_answered_before_those_in_flight(
    tmp_path: Path, prepared: Callable[[Path], Bench], last: int
) -> None:
    bench, log = prepared(tmp_path), tmp_path / "log"
    assert run_and_kill(lambda: sync(bench, Logged(log, last, 0.001)), 60) == -signal.SIGKILL
    before = answered(log)
    recorded = len(vectors_stored(bench.store))
    # Of the calls in flight one was killed, and the others may have been answered.
    assert len(before) - recorded <= (CALLS - 1) * BATCH
    sync(bench, Logged(log))
    again = Counter(answered(log))
    repeated = {text for text in before if again[text] > 1} if prepared is of_chunks else set()
    assert repeated <= set(before[len(before) - (CALLS - 1) * BATCH :])


@PREPARED
def test_killed_at_any_moment_again_and_again_a_sync_comes_to_its_end(
    tmp_path: Path, prepared: Callable[[Path], Bench]
) -> None:
    """The calls in flight are all that a kill costs, also where each run lives for a few calls."""
    bench, log, kills = prepared(tmp_path), tmp_path / "log", 3
    for _ in range(kills):
        kill_after(bench, log, len(answered(log)) + 2 * BATCH + 5)
    assert len(answered(log)) - len(vectors_stored(bench.store)) <= kills * CALLS * BATCH
    sync(bench, Logged(log))
    total = len(vectors_stored(bench.store))
    assert len(answered(log)) - total <= kills * CALLS * BATCH
    sync(bench, Logged(tmp_path / "after"))
    assert not answered(tmp_path / "after")


@PREPARED
def test_a_failing_provider_costs_nothing_that_was_answered(
    tmp_path: Path, prepared: Callable[[Path], Bench]
) -> None:
    class Failing(Logged):
        def note(self, inputs: Sequence[str]) -> None:
            if self.calls >= 5:
                raise UnavailableError("away", kind="provider-away")
            super().note(inputs)

    bench, log = prepared(tmp_path), tmp_path / "log"
    with pytest.raises(UnavailableError):
        sync(bench, Failing(log))
    assert answered(log)
    assert len(vectors_stored(bench.store)) == len(answered(log))


@PREPARED
def test_an_interrupted_sync_ends_soon_and_keeps_all_that_was_answered(
    tmp_path: Path, prepared: Callable[[Path], Bench]
) -> None:
    bench, log = prepared(tmp_path), tmp_path / "log"
    process = FORK.Process(target=sync, args=(bench, Logged(log, 0, 0.004)))
    process.start()
    while len(answered(log)) < 2 * BATCH:
        time.sleep(0.005)
    os.kill(process.pid or 0, signal.SIGINT)
    process.join()
    assert process.exitcode
    assert len(answered(log)) < INPUTS // 2
    assert len(vectors_stored(bench.store)) == len(answered(log))
