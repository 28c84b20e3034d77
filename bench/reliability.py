"""The same faults in four indexes: what each shows, loses and pays for twice."""

import argparse
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bench.documents import SOURCES
from bench.reliability_runs import (
    Difference,
    Ended,
    Site,
    change,
    difference,
    poison,
    preload,
    prepared,
    spoil,
)
from bench.reliability_tools import TOOLS, Tool, Visible
from bench.study import SEED, Result, Study, Table, Target

AT_FAULT = "00005.txt"


@dataclass(slots=True)
class States:
    """A site and its states: `base` before the changes, `changed` with them still to be synced."""

    site: Site
    before: Visible
    after: Visible
    needed: int
    length_s: float

    @classmethod
    def of(cls, tool: Tool, place: Path, documents: int) -> "States":
        site = prepared(tool, place, documents)
        before = site.visible()
        site.save("base")
        change(site)
        site.save("changed")
        running = site.start()
        running.told()
        started = time.perf_counter()
        assert not running.ended().code
        length_s = time.perf_counter() - started
        return cls(site, before, site.visible(), site.embedded().total(), length_s)


@dataclass(slots=True)
class Kills:
    """What `count` kills left: one state or a mixture, and what the next sync had to do."""

    count: int = 0
    ended: int = 0
    as_before: int = 0
    as_after: int = 0
    mixtures: int = 0
    documents_missing: int = 0
    documents_wrong: int = 0
    completed: int = 0
    embedded_twice: int = 0
    needed: int = 0

    def add(self, seen: Difference, final: Difference, twice: int) -> None:
        self.count += 1
        self.as_before += seen.is_one_state and not seen.as_after
        self.as_after += seen.is_one_state and bool(seen.as_after)
        self.mixtures += not seen.is_one_state
        self.documents_missing += seen.nothing
        self.documents_wrong += seen.otherwise
        self.completed += final.is_one_state and not final.as_before
        self.embedded_twice += twice

    def __str__(self) -> str:
        return (
            f"{self.as_before} as before, {self.as_after} as after, {self.mixtures} mixtures"
            f" ({self.documents_missing} documents not found, {self.documents_wrong} in no state);"
            f" next sync complete {self.completed} of {self.count};"
            f" {self.embedded_twice} inputs embedded twice"
        )


def killed(states: States, kills: int) -> Kills:
    """Kill a sync at random moments of it, look, and sync again."""
    site, found = states.site, Kills(needed=states.needed)
    moments = random.Random(SEED)
    while found.count < kills:
        site.reset("changed")
        site.forget()
        if site.kill_after(moments.uniform(0, states.length_s)):
            found.ended += 1
            continue
        first = site.embedded()
        seen = difference(site.visible(), states.before, states.after)
        site.sync()
        twice = (site.embedded() - first).keys() & first.keys()
        final = difference(site.visible(), states.before, states.after)
        found.add(seen, final, len(twice))
        print("  " + json.dumps(asdict(seen)), flush=True)
    return found


@dataclass(slots=True)
class OneAtFault:
    """What one document at fault did to the others, and to its own last good revision."""

    code: int
    said: str
    others_new: int
    others_old: int
    others_lost: int
    own: str
    embedded: int
    embedded_again: int

    def __str__(self) -> str:
        changed = self.others_new + self.others_old + self.others_lost
        return (
            f"{self.others_new} of {changed} other changes visible, {self.others_lost} lost;"
            f" the document itself: {self.own}; exit {self.code};"
            f" embedded {self.embedded}, by a second run {self.embedded_again}"
        )


def one_at_fault(states: States, break_: Callable[[Path], None]) -> OneAtFault:
    """Sync the changes with one document at fault, twice."""
    site = states.site
    site.reset("changed")
    site.forget()
    break_(site.docs / AT_FAULT)
    done = site.sync()
    embedded = site.embedded().total()
    visible = site.visible()
    own = _own(visible.pop(AT_FAULT, None), states)
    others = difference(visible, _without(states.before), _without(states.after))
    site.forget()
    site.sync()
    lost = others.nothing + others.otherwise
    return OneAtFault(
        done.code,
        done.said,
        others.as_after,
        others.as_before,
        lost,
        own,
        embedded,
        site.embedded().total(),
    )


def _without(seen: Visible) -> Visible:
    return {name: texts for name, texts in seen.items() if name != AT_FAULT}


def _own(found: Sequence[str] | None, states: States) -> str:
    if found is None:
        return "gone"
    good = (states.before.get(AT_FAULT), states.after.get(AT_FAULT))
    return "last good revision" if found in good else "another text"


@dataclass(slots=True)
class Emptied:
    """What an empty folder left to be found, and what its coming back cost."""

    code: int
    said: str
    left: int
    of: int
    embedded_again: int

    def __str__(self) -> str:
        return (
            f"{self.left} of {self.of} documents still found; exit {self.code};"
            f" embedded {self.embedded_again} inputs again when the files were back"
        )


def emptied(states: States) -> Emptied:
    """Sync a folder whose files are all away, as where a disk is not mounted; then with them."""
    site = states.site
    site.reset("base")
    site.forget()
    aside = site.folder.parent / "aside"
    shutil.rmtree(aside, ignore_errors=True)
    site.docs.rename(aside)
    site.docs.mkdir()
    done = site.sync()
    left = len(site.visible())
    site.docs.rmdir()
    aside.rename(site.docs)
    site.forget()
    site.sync()
    return Emptied(done.code, done.said, left, len(states.before), site.embedded().total())


@dataclass(slots=True)
class Writers:
    """What two syncs at once came to."""

    codes: list[int]
    said: list[str]
    final: Difference
    embedded: int
    needed: int

    def __str__(self) -> str:
        complete = "complete" if self.final.is_one_state and not self.final.as_before else "wrong"
        wrong = self.final.nothing + self.final.otherwise + self.final.as_before
        return (
            f"{complete}{f' in {wrong} documents' if complete == 'wrong' else ''};"
            f" exits {self.codes}; embedded {self.embedded} of {self.needed} needed"
        )


def two_writers(states: States) -> Writers:
    """Start two syncs of the same changes at the same time."""
    site = states.site
    site.reset("changed")
    site.forget()
    both = [site.start(), site.start()]
    ends: list[Ended] = [running.ended() for running in both]
    final = difference(site.visible(), states.before, states.after)
    return Writers(
        [one.code for one in ends],
        [one.said for one in ends],
        final,
        site.embedded().total(),
        states.needed,
    )


@dataclass(slots=True)
class Found:
    """What every fault did to one tool."""

    tool: Tool
    needed: int
    kills: Kills
    refused: OneAtFault
    unreadable: OneAtFault
    emptied: Emptied
    writers: Writers
    versions: Mapping[str, str] = field(default_factory=dict)


ROWS = (
    ("killed while it syncs", "kills"),
    ("the model refuses one input", "refused"),
    ("one file is not UTF-8", "unreadable"),
    ("the source folder is empty", "emptied"),
    ("two syncs at once", "writers"),
)


def tried(tool: Tool, kills: int, documents: int) -> Found:
    versions = {name: version(name) for name in tool.packages}
    with tempfile.TemporaryDirectory() as place:
        states = States.of(tool, Path(place), documents)
        return Found(
            tool,
            states.needed,
            killed(states, kills),
            one_at_fault(states, poison),
            one_at_fault(states, spoil),
            emptied(states),
            two_writers(states),
            versions,
        )


def run(arguments: argparse.Namespace) -> Result:
    preload()
    found = []
    for tool in TOOLS.values():
        print(f"  {tool.name}", flush=True)
        try:
            found.append(tried(tool, arguments.kills, arguments.documents))
        except PackageNotFoundError as missing:
            print(f"  not installed: {missing}")
    return result_of(found)


def result_of(found: Sequence[Found]) -> Result:
    result = Result(inputs=list(SOURCES))
    rows = [(fault, *[str(getattr(one, name)) for one in found]) for fault, name in ROWS]
    columns = ("fault", *[one.tool.name for one in found])
    result.tables.append(Table("the same faults", columns, rows))
    for one in found:
        parts = {name: asdict(getattr(one, name)) for _, name in ROWS}
        result.figures[one.tool.name] = {"versions": one.versions, "needed": one.needed, **parts}
    ours = found[0]
    good = (
        not ours.kills.mixtures
        and ours.kills.completed == ours.kills.count
        and not ours.refused.others_old + ours.refused.others_lost
        and ours.refused.own == ours.unreadable.own == "last good revision"
        and ours.emptied.left == ours.emptied.of
        and ours.writers.final.is_one_state
        and ours.writers.embedded == ours.writers.needed
    )
    result.targets.append(Target("Variorum loses nothing by any of them", "all", str(good), good))
    return result


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--documents", type=int, default=24, help="of which half are edited")
    parser.add_argument("--kills", type=int, default=20, help="syncs of each tool that are killed")


STUDY = Study("reliability", "the same faults in four indexes", run, _arguments)
