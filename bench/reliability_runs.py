"""Runs of a tool in processes of their own, and what each left to be seen."""

import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from bench.documents import document, edit
from bench.reliability_tools import LOG, POISON, SLOW_S, TOOLS, Tool, Visible
from bench.study import SEED

ADDED, REMOVED = "99999.txt", "00001.txt"
PACE_S = 0.03
"""How long the model takes over an input."""

PROCESSES = get_context("forkserver")


@dataclass(frozen=True, slots=True)
class Site:
    """A folder of documents, a tool's index over it, and the log of what it embedded."""

    tool: Tool
    folder: Path

    @property
    def docs(self) -> Path:
        return self.folder / "docs"

    @property
    def log(self) -> Path:
        return self.folder / "embedded"

    def save(self, name: str) -> None:
        """Set a copy aside."""
        aside = self.folder.parent / name
        shutil.rmtree(aside, ignore_errors=True)
        shutil.copytree(self.folder, aside)

    def reset(self, name: str) -> None:
        """Put a copy back where it was taken: tools remember absolute paths."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.folder.parent / name, self.folder)

    def start(self, work: str = "sync") -> "Running":
        ours, theirs = PROCESSES.Pipe(duplex=False)
        environment = {LOG: str(self.log), SLOW_S: str(PACE_S)}
        arguments = (self.tool.name, self.folder, work, environment, theirs)
        process = PROCESSES.Process(target=_work, args=arguments)
        process.start()
        theirs.close()
        return Running(process, ours)

    def sync(self) -> "Ended":
        done = self.start().ended()
        return Ended(done.code, done.said.replace(str(self.folder), "…"))

    def visible(self) -> Visible:
        running = self.start("visible")
        found: Visible = running.told()
        running.ended()
        return found

    def embedded(self) -> Counter[str]:
        """How often each text was embedded since the last time that the log was emptied."""
        return Counter(self.log.read_text().split()) if self.log.exists() else Counter()

    def forget(self) -> None:
        self.log.unlink(missing_ok=True)

    def kill_after(self, seconds: float) -> bool:
        """Kill a run so long after it began; whether it had ended by itself."""
        running = self.start()
        running.told()
        time.sleep(seconds)
        running.process.kill()
        running.process.join()
        return running.process.exitcode != -signal.SIGKILL


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that ended by itself: its exit code, and what it said of its error."""

    code: int
    said: str


@dataclass(frozen=True, slots=True)
class Running:
    """A run in a process of its own."""

    process: BaseProcess
    pipe: Connection

    def told(self) -> Any:
        """The next thing that it says: that it is ready, what is visible, or an error."""
        return self.pipe.recv()

    def ended(self) -> Ended:
        """Wait for its end."""
        said = ""
        with suppress(EOFError):
            while True:
                said = str(self.told())
        self.process.join()
        code = self.process.exitcode or 0
        return Ended(code, said[:200] if code else "")


def preload() -> None:
    """Import every tool once: each run is a fork of that."""
    modules = [module for tool in TOOLS.values() for module in tool.modules]
    PROCESSES.set_forkserver_preload(["bench.reliability_runs", *modules])


def _work(
    name: str, folder: Path, work: str, environment: dict[str, str], tell: Connection
) -> None:
    """What a run does."""
    os.environ.update(environment)
    try:
        if work == "visible":
            tell.send(TOOLS[name].visible(folder))
        else:
            TOOLS[name].sync(folder, lambda: tell.send("ready"))
    except SystemExit as ended:
        if ended.code:
            tell.send(str(ended.code))
            sys.exit(ended.code if isinstance(ended.code, int) else 1)
    except Exception as error:
        tell.send(f"{type(error).__name__}: {error}")
        sys.exit(1)


def prepared(tool: Tool, place: Path, documents: int) -> Site:
    """Documents as they were, synced."""
    site = Site(tool, place / "site")
    site.docs.mkdir(parents=True)
    for number in range(documents):
        path = site.docs / f"{number:05d}.txt"
        path.write_text(document(number, SEED), encoding="utf-8")
    done = site.sync()
    if done.code:
        raise RuntimeError(f"{tool.name}: {done.said}")
    site.forget()
    return site


def change(site: Site) -> None:
    """Half of the documents edited, one new, one gone."""
    paths = sorted(site.docs.iterdir())
    for path in random.Random(SEED).sample(paths, len(paths) // 2):
        edit(path, 1)
    (site.docs / ADDED).write_text(document(99_999, SEED), encoding="utf-8")
    (site.docs / REMOVED).unlink(missing_ok=True)


def poison(path: Path) -> None:
    """Put the word into a document that no call may hold."""
    text = path.read_text(encoding="utf-8")
    path.write_text(text + f"\n\nThis one is {POISON}.\n", encoding="utf-8")


def spoil(path: Path) -> None:
    """Write a document in an encoding that is not its own."""
    path.write_bytes("café à la carte, déjà vu\n".encode("latin-1") + path.read_bytes())


@dataclass(frozen=True, slots=True)
class Difference:
    """What is seen, document by document, against the state before and the state after."""

    as_before: int
    as_after: int
    unchanged: int
    nothing: int
    otherwise: int

    @property
    def is_one_state(self) -> bool:
        """Whether all that is seen is the state before, or all the one after."""
        return not (self.nothing or self.otherwise or (self.as_before and self.as_after))


def difference(seen: Visible, before: Visible, after: Visible) -> Difference:
    """How many documents are in which state; `nothing` is of neither, and not to be found."""
    counts: Counter[str] = Counter()
    for name in sorted({*before, *after, *seen}):
        counts[_state(name, seen, before, after)] += 1
    return Difference(
        counts["before"], counts["after"], counts["both"], counts["nothing"], counts["otherwise"]
    )


def _state(
    name: str,
    seen: Mapping[str, list[str]],
    before: Mapping[str, list[str]],
    after: Mapping[str, list[str]],
) -> str:
    found, old, new = (one.get(name) for one in (seen, before, after))
    if found == old == new:
        return "both"
    if found == new:
        return "after"
    if found == old:
        return "before"
    return "otherwise" if found else "nothing"
