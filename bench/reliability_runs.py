"""Runs of a tool in processes of their own, and what each left to be seen."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.documents import document, edit
from bench.reliability_tools import LOG, POISON, SLOW_S, Tool, Visible
from bench.study import SEED

DOCUMENTS = 24
ADDED, REMOVED = "00100.txt", "00001.txt"
PACE_S = 0.03
"""How long the model takes over an input."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that ended by itself: its exit code, and the last line that it wrote of an error."""

    code: int
    said: str


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

    def start(self, work: str = "sync") -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "bench.reliability_tools"]
        return subprocess.Popen(
            [*command, self.tool.name, str(self.folder), work],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, LOG: str(self.log), SLOW_S: str(PACE_S)},
        )

    def sync(self) -> Ended:
        return ended(self.start())

    def visible(self) -> Visible:
        process = self.start("visible")
        out, error = process.communicate()
        if process.returncode:
            raise RuntimeError(error)
        found: Visible = json.loads(out.splitlines()[-1])
        return found

    def embedded(self) -> Counter[str]:
        """How often each text was embedded since the last time that the log was emptied."""
        return Counter(self.log.read_text().split()) if self.log.exists() else Counter()

    def forget(self) -> None:
        self.log.unlink(missing_ok=True)

    def kill_after(self, seconds: float) -> bool:
        """Kill a run so long after it began; whether it had ended by itself."""
        process = self.start()
        wait_until_ready(process)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return process.returncode >= 0


def ended(process: subprocess.Popen[str]) -> Ended:
    _, error = process.communicate()
    lines = [line for line in error.splitlines() if line.strip()]
    return Ended(
        process.returncode, lines[-1].strip()[:160] if process.returncode and lines else ""
    )


def wait_until_ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == "ready":
            return


def prepared(tool: Tool, place: Path) -> Site:
    """Documents as they were, synced."""
    site = Site(tool, place / "site")
    site.docs.mkdir(parents=True)
    for number in range(DOCUMENTS):
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
    (site.docs / ADDED).write_text(document(100, SEED), encoding="utf-8")
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
