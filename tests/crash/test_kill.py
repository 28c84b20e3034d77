"""SIGKILL at random moments of a real process."""

import os
import random
import time
from pathlib import Path
from typing import TextIO

import pytest

from dying import Slow, copy_of, noting_vectors, run_and_kill
from workbench import Bench, document, key_of, section, vectors_stored

SECTIONS = 40
QUERY = section("Part3")


def prepared(home: Path) -> Bench:
    bench = Bench(home)
    bench.write({"old.md": document("Part3", "Gone"), "kept.md": document("Kept")})
    bench.sync()
    parts = [f"Part{n}" for n in range(SECTIONS)]
    bench.write({f"{n}.md": document(*parts[n : n + 4]) for n in range(0, SECTIONS, 4)})
    bench.remove("old.md")
    return bench


def work(bench: Bench, log: Path) -> None:
    """A sync with a slow embedder that keeps a log of what it recorded."""
    bench.embedder = Slow(0.004)
    with log.open("a") as file, noting_vectors(lambda key: _write_down(file, key)):
        bench.sync()


def _write_down(file: TextIO, key: bytes) -> None:
    file.write(f"{key.hex()}\n")
    file.flush()
    os.fsync(file.fileno())


def answer(bench: Bench) -> list[tuple[str, float]]:
    with bench.open() as index:
        return [(str(hit.citation), hit.score) for hit in index.search(QUERY, 5).hits]


def kill_and_check(base: Bench, home: Path, after_s: float, whole: Bench) -> bool:
    """One victim; whether it died before it published."""
    victim, log = copy_of(base, home), home.parent / f"{home.name}.log"
    log.touch()
    run_and_kill(lambda: work(victim, log), after_s)
    logged = {bytes.fromhex(line) for line in log.read_text().split() if len(line) == 64}
    recorded = vectors_stored(victim.store)
    assert logged <= set(recorded), "a finished vector is lost"
    stored = victim.stored()
    assert stored.plain() in (base.stored().plain(), whole.stored().plain())
    died = stored.generation == 1
    assert answer(victim) == answer(base if died else whole)
    report, asked = victim.sync()
    assert report.generation == (2 if died else None)
    assert not {key_of(victim.embedder, text) for text in asked} & set(recorded)
    assert len(asked) + len(recorded) == len(vectors_stored(whole.store))
    assert victim.stored().plain() == whole.stored().plain()
    with victim.open() as index:
        assert index.verify() == []
    return died


def kills(tmp_path: Path, count: int) -> None:
    base = prepared(tmp_path / "base")
    whole = copy_of(base, tmp_path / "whole")
    started = time.perf_counter()
    assert run_and_kill(lambda: work(whole, tmp_path / "whole.log"), 60) == 0
    length_s = time.perf_counter() - started
    moments = random.Random(1)
    died = [
        kill_and_check(base, tmp_path / f"victim-{n}", moments.uniform(0, length_s), whole)
        for n in range(count)
    ]
    assert any(died)
    assert answer(base) != answer(whole)


def test_a_killed_sync_loses_nothing_that_it_recorded(tmp_path: Path) -> None:
    """ATM-03."""
    kills(tmp_path, 10)


@pytest.mark.long
def test_a_sync_killed_at_many_moments_loses_nothing_that_it_recorded(tmp_path: Path) -> None:
    kills(tmp_path, 80)
