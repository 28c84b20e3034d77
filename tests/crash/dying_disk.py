"""Walks through the deaths of one run: a process of its own, with `dying_disk.c` preloaded.

Each death is that of a forked child at one change of the store's files. Prints what was seen as
JSON; ends with an error at the first promise that was not kept.
"""

import argparse
import ctypes
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import variorum
from dying import copy_of, noting_vectors
from variorum.records.errors import NotFoundError
from workbench import Bench, Recorder, document, key_of, vectors_stored, words

WAYS = ("killed", "torn", "lost", "partly-lost")
KINDS = ("writes", "syncs", "cuts", "names")
DIED = 77
QUERY = words("two", 4)

disk = ctypes.CDLL(None)


def published(index: variorum.Index) -> object:
    return index.sync()


def pruned(index: variorum.Index) -> object:
    return index.prune(keep=1)


def switched(index: variorum.Index) -> object:
    return index.use_model(Recorder(96))


def restored(index: variorum.Index) -> object:
    return index.restore(1)


def erased(index: variorum.Index) -> object:
    with suppress(NotFoundError):  # It is gone from the rows, if not from the bytes.
        return index.erase("docs:private.md")


RUNS: dict[str, Callable[[variorum.Index], object]] = {
    "first": published,
    "publish": published,
    "prune": pruned,
    "switch": switched,
    "restore": restored,
    "erase": erased,
}
KEEPING = ("publish", "switch", "restore")
"""Runs after which the generation before answers as it did."""


def prepared(home: Path, run: str) -> Bench:
    """Three generations, and changes on the disk that a fourth would publish."""
    bench = Bench(home)
    bench.write({"a.md": document("One", "Two", "Three"), "private.md": document("Secret", "Two")})
    if run == "first":
        return bench
    bench.sync()
    bench.write({"a.md": document("One", "Two"), "d.md": document("Five")})
    bench.sync()
    bench.write({"private.md": document("Secret", "Nine"), "c.md": "c"})
    bench.sync()
    if run == "publish":
        bench.write({"a.md": document("Two", "Six", "Seven"), "e.md": document("Eight")})
        bench.remove("c.md")
    return bench


@dataclass(frozen=True)
class State:
    """What a store shows: its generation, what that holds, the oldest that is kept."""

    generation: int
    plain: object
    oldest: int

    @classmethod
    def of(cls, bench: Bench) -> "State":
        if not (bench.store / "store.sqlite").exists():
            return cls(0, {}, 0)
        stored = bench.stored()
        if not stored.generation:
            return cls(0, {}, 0)
        with bench.open() as index:
            oldest = min(row.number for row in index.log() if not row.is_pruned)
        return cls(stored.generation, stored.plain(), oldest)


def answers(bench: Bench, generation: int) -> object:
    with bench.open() as index:
        return index.search(QUERY, as_of=generation).as_fields()


@dataclass
class Walk:
    """Deaths of one kind of run; `seen` counts what they left."""

    run: str
    way: str
    home: Path
    seen: dict[str, int] = field(default_factory=lambda: {"before": 0, "after": 0, "told": 0})

    def __post_init__(self) -> None:
        self.base = prepared(self.home / "base", self.run)
        self.before = State.of(self.base)
        self.answered = answers(self.base, self.before.generation) if self.run in KEEPING else None
        whole = copy_of(self.base, self.home / "whole")
        self.changes = self.counted(whole)
        self.after = State.of(whole)
        self.vectors = vectors_stored(whole.store)

    def counted(self, bench: Bench) -> dict[str, int]:
        """Run to the end; how many changes of each kind that made."""
        receiver, sender = os.pipe()
        child = os.fork()
        if not child:
            self.work(bench, 0, lambda _: None)
            os.write(sender, json.dumps(self.counts()).encode())
            os._exit(0)
        os.close(sender)
        with os.fdopen(receiver) as counts:
            found: dict[str, int] = json.load(counts)
        os.waitpid(child, 0)
        return found

    def counts(self) -> dict[str, int]:
        return {kind: disk.dying_disk_counted(number) for number, kind in enumerate(KINDS)}

    def work(self, bench: Bench, at: int, note: Callable[[str], None]) -> None:
        """What the child does: the run, with word of each thing that it may rely on."""
        beside = self.home / "beside"
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        way = ctypes.c_int(WAYS.index(self.way))
        below = str(bench.store).encode()
        disk.dying_disk_begin(
            below, str(beside).encode(), ctypes.c_long(at), way, ctypes.c_ulong(at)
        )
        with noting_vectors(lambda key: note(key.hex())), bench.open() as index:
            RUNS[self.run](index)
            note("told")

    def die(self, bench: Bench, at: int) -> tuple[bool, list[str]]:
        """Whether the child died at change `at`, and what it had been told by then."""
        receiver, sender = os.pipe()
        child = os.fork()
        if not child:
            try:
                self.work(bench, at, lambda word: os.write(sender, f"{word}\n".encode()) and None)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.close(sender)
        with os.fdopen(receiver) as told:
            words_ = told.read().split()
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        assert code in (0, DIED), f"the run ended with {code}"
        return code == DIED, words_

    def step(self, at: int) -> bool:
        """One death and what it left; False where the run has fewer changes."""
        victim = copy_of(self.base, self.home / "victim")
        died, told = self.die(victim, at)
        if died:
            try:
                self.check(victim, told)
            except BaseException as error:
                error.add_note(f"{self.run} {self.way} at change {at}")
                raise
        shutil.rmtree(victim.home)
        return died

    def check(self, victim: Bench, told: list[str]) -> None:
        """All or nothing, nothing lost that was told, and nothing paid for again."""
        found = State.of(victim)
        is_after = found == self.after
        assert is_after or found == self.before
        if "told" in told:
            assert is_after, "the run had said that it was done"
            self.seen["told"] += 1
        self.seen["after" if is_after else "before"] += 1
        recorded = set()
        if (victim.store / "store.sqlite").exists():
            recorded = set(vectors_stored(victim.store))
        assert {bytes.fromhex(word) for word in told if word != "told"} <= recorded
        if self.answered is not None:
            assert answers(victim, self.before.generation) == self.answered
        if found.generation:
            self.verify(victim)
        if not is_after or self.run == "erase":
            self.complete(victim, recorded)
        self.verify(victim)
        if self.answered is not None:
            assert answers(victim, self.before.generation) == self.answered

    def complete(self, victim: Bench, recorded: set[bytes]) -> None:
        """Run it again, to its end."""
        embedder = Recorder(96) if self.run == "switch" else victim.embedder
        embedder.taken()
        with victim.open() as index:
            if self.run == "switch":
                index.use_model(embedder)
            else:
                RUNS[self.run](index)
        asked = {key_of(embedder, text) for text in embedder.taken()}
        assert not asked & recorded, "a vector was paid for twice"
        assert State.of(victim) == self.after
        assert vectors_stored(victim.store) == self.vectors
        if self.run == "erase":
            files = [file for file in victim.store.rglob("*") if file.is_file()]
            assert all(b"private.md" not in file.read_bytes() for file in files)

    def verify(self, victim: Bench) -> None:
        with victim.open() as index:
            assert index.verify() == []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", choices=RUNS)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("home", type=Path)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--stride", type=int, default=1)
    arguments = parser.parse_args()
    walk = Walk(arguments.run, arguments.way, arguments.home)
    at, deaths = arguments.first, 0
    while walk.step(at):
        at, deaths = at + arguments.stride, deaths + 1
    print(json.dumps({"changes": walk.changes, "deaths": deaths, "seen": walk.seen}))


if __name__ == "__main__":
    main()
