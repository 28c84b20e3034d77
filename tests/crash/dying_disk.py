"""Walks through the deaths of one run: a process of its own, with `dying_disk.c` preloaded.

Each death is that of a forked child at one change of the store's files. Prints what was seen as
JSON; ends with an error at the first promise that was not kept.
"""

import argparse
import ctypes
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench.statements import make_statements_once

import variorum
from dying import copy_of, noting_vectors
from variorum.records.errors import NotFoundError
from workbench import Bench, Recorder, document, key_of, vectors_stored, words

WAYS = ("killed", "torn", "lost", "partly-lost")
KINDS = ("writes", "syncs", "cuts", "names")
DIED = 77
QUERY = words("two", 4)
_LEASE = 'INSERT INTO "lease"'

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
    def of(cls, bench: Bench, index: variorum.Index) -> "State":
        stored = bench.stored() if (bench.store / "store.sqlite").exists() else None
        if stored is None or not stored.generation:
            return cls(0, {}, 0)
        oldest = min(row.number for row in index.log() if not row.is_pruned)
        return cls(stored.generation, stored.plain(), oldest)


def answers(index: variorum.Index, generation: int) -> object:
    return index.search(QUERY, as_of=generation).as_fields()


def rows_of(file: Path) -> str:
    """A hash of all that a store holds, as the engine itself finds it sound; "" for none.

    Who is at an input is left out: a name drawn by lot.
    """
    if not file.exists():
        return ""
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        lines = [line for line in connection.iterdump() if not line.startswith(_LEASE)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass
class Walk:
    """Deaths of one kind of run; `seen` counts what they left."""

    run: str
    way: str
    home: Path
    synced_at: list[int] = field(default_factory=list)
    met: dict[str, tuple[bool, set[bytes]]] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=lambda: {"before": 0, "after": 0, "told": 0})

    def __post_init__(self) -> None:
        self.base = prepared(self.home / "base", self.run)
        with self.base.open() as index:
            self.before = State.of(self.base, index)
            is_kept = self.run in KEEPING
            self.answered = answers(index, self.before.generation) if is_kept else None
        whole = copy_of(self.base, self.home / "whole")
        self.changes = self.counted(whole)
        with whole.open() as index:
            self.after = State.of(whole, index)
        self.vectors = vectors_stored(whole.store)

    def counted(self, bench: Bench) -> dict[str, int]:
        """Run to the end; how many changes of each kind that made."""
        receiver, sender = os.pipe()
        child = os.fork()
        if not child:
            self.work(bench, 0, lambda _: None)
            os.write(sender, json.dumps([self.counts(), self.syncs()]).encode())
            os._exit(0)
        os.close(sender)
        with os.fdopen(receiver) as counts:
            found, self.synced_at = json.load(counts)
        os.waitpid(child, 0)
        return dict(found)

    def counts(self) -> dict[str, int]:
        return {kind: disk.dying_disk_counted(number) for number, kind in enumerate(KINDS)}

    def syncs(self) -> list[int]:
        return [disk.dying_disk_synced_at(number) for number in range(self.counts()["syncs"])]

    def places(self, first: int, stride: int) -> list[int]:
        """The changes to die at. All that is not synced is lost alike until the next sync."""
        every = range(first, sum(self.changes.values()) + 1, stride)
        if self.way != "lost" or not self.changes["writes"]:
            return list(every)
        return [*self.synced_at, sum(self.changes.values())][(first - 1) % stride :: stride]

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
        """All or nothing, nothing lost that was told, and nothing paid for again.

        What was met before, row for row, is not looked at and completed again.
        """
        rows = rows_of(victim.store / "store.sqlite")
        if rows not in self.met:
            self.met[rows] = self.looked_at(victim)
        is_after, recorded = self.met[rows]
        assert is_after or "told" not in told, "the run had said that it was done"
        assert {bytes.fromhex(word) for word in told if word != "told"} <= recorded
        self.seen["told"] += "told" in told
        self.seen["after" if is_after else "before"] += 1

    def looked_at(self, victim: Bench) -> tuple[bool, set[bytes]]:
        """Whether the run was done and the keys that have a vector; the run is completed."""
        with victim.open() as index:
            found, recorded = State.of(victim, index), set[bytes]()
            is_after = found == self.after
            assert is_after or found == self.before
            if (victim.store / "store.sqlite").exists():
                recorded = set(vectors_stored(victim.store))
            self.check_readers(index)
            assert not found.generation or index.verify() == []
            if not is_after or self.run == "erase":
                self.complete(victim, index, recorded)
                self.check_readers(index)
                assert index.verify() == []
        return is_after, recorded

    def check_readers(self, index: variorum.Index) -> None:
        """The generation from before answers as it did."""
        if self.answered is not None:
            assert answers(index, self.before.generation) == self.answered

    def complete(self, victim: Bench, index: variorum.Index, recorded: set[bytes]) -> None:
        """Run it again, to its end."""
        embedder = Recorder(96) if self.run == "switch" else victim.embedder
        embedder.taken()
        if self.run == "switch":
            index.use_model(embedder)
        else:
            RUNS[self.run](index)
        asked = {key_of(embedder, text) for text in embedder.taken()}
        assert not asked & recorded, "a vector was paid for twice"
        assert State.of(victim, index) == self.after
        assert vectors_stored(victim.store) == self.vectors
        if self.run == "erase":
            files = [file for file in victim.store.rglob("*") if file.is_file()]
            assert all(b"private.md" not in file.read_bytes() for file in files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", choices=RUNS)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("home", type=Path)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--stride", type=int, default=1)
    arguments = parser.parse_args()
    make_statements_once()
    walk = Walk(arguments.run, arguments.way, arguments.home)
    deaths = sum([walk.step(at) for at in walk.places(arguments.first, arguments.stride)])
    print(
        json.dumps(
            {"changes": walk.changes, "deaths": deaths, "seen": walk.seen, "states": len(walk.met)}
        )
    )


if __name__ == "__main__":
    main()
