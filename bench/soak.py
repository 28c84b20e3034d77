"""A writer that edits, two readers that search, a pruner, and a policy that comes and goes.

Each is a process of its own on one store, until the time is up. Every answer is held against what
the writer had written down of that generation before it published it.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import variorum
from bench.documents import SOURCES, document
from bench.study import SEED, Result, Study, Table, Target
from variorum.embedding.hashing import HashingEmbedder
from variorum.records.errors import BusyError, ConflictError, NotFoundError

DOCUMENTS = 24
TOPICS = 4
KEPT = 4
STATES_KEPT = 60
SAMPLES = 100
"""Most of a process that a record has."""

POLICY = """
[[rules]]
documents = ["docs:open-*"]
readers = ["group:staff"]
"""
SWING = """
[[rules]]
documents = ["docs:swing-*"]
readers = ["group:staff"]
"""
KINDS = ("open", "swing", "secret")
WARM_SHARE = 0.4
"""Of the time, after which a process has seen all that it will hold in memory."""

GROWTH_BYTES = 24 << 20
GROWTH_SHARE = 0.15
MORE_FILES = 4

State = Mapping[str, str]
"""The text of each document, by path."""


@dataclass(slots=True)
class Watched:
    """What one process did, what went wrong, and what it held over time."""

    role: str
    done: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)
    held: list[tuple[float, int, int]] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    def sample(self) -> None:
        """Note seconds, resident bytes and open files, twice a second at most."""
        now = time.monotonic() - self.started
        if not self.held or now - self.held[-1][0] >= 0.5:
            self.held.append((round(now, 2), _resident_bytes(), len(os.listdir("/proc/self/fd"))))

    def growth(self) -> tuple[int, int, int]:
        """(resident bytes when warm, bytes more at the end, open files more at the end)."""
        warm_at = WARM_SHARE * self.held[-1][0]
        warm = [one for one in self.held if one[0] <= warm_at] or self.held[:1]
        last = self.held[-max(1, len(self.held) // 10) :]
        bytes_warm = max(one[1] for one in warm)
        more = sorted(one[1] for one in last)[len(last) // 2] - bytes_warm
        files = sorted(one[2] for one in last)[len(last) // 2] - max(one[2] for one in warm)
        return bytes_warm, more, files

    @property
    def grows(self) -> bool:
        bytes_warm, more, files = self.growth()
        return more > GROWTH_BYTES + GROWTH_SHARE * bytes_warm or files > MORE_FILES


def _resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Place:
    """The folder that the processes share."""

    folder: Path

    @property
    def docs(self) -> Path:
        return self.folder / "docs"

    @property
    def journal(self) -> Path:
        return self.folder / "journal"

    def open(self) -> variorum.Index:
        return variorum.open(self.folder, embedder=HashingEmbedder(64))

    def state_file(self, generation: int) -> Path:
        return self.folder / "states" / f"{generation}.json"

    def state(self, generation: int) -> State:
        found: State = json.loads(self.state_file(generation).read_text())
        return found

    def write_state(self, generation: int, state: State) -> None:
        """Write down what a generation is to hold, whole or not at all."""
        unfinished = self.folder / "unfinished.json"
        unfinished.write_text(json.dumps(state))
        unfinished.replace(self.state_file(generation))

    def states(self) -> Iterator[State]:
        """Every state that is still written down."""
        for file in list((self.folder / "states").iterdir()):
            with suppress(FileNotFoundError):
                yield json.loads(file.read_text())


def path_of(number: int) -> str:
    return f"{KINDS[number % len(KINDS)]}-{number:03}.md"


def text_of(number: int, version: int) -> str:
    """A real text with two words of its own: one of this version, one of its topic."""
    body = document(number + DOCUMENTS * (version % 7), SEED)
    own = f"versionmark{number}x{version}"
    return f"{body}\n\n## Marks\n\nThe words {own} and topicmark{number % TOPICS} stand here.\n"


def write(place: Place, watched: Watched, until: float) -> None:
    """Edit some documents, write down what comes of it, publish it; again and again."""
    generator = random.Random(SEED)
    versions = dict.fromkeys(range(DOCUMENTS), 0)
    state = {path_of(number): text_of(number, 0) for number in versions}
    with place.open() as index:
        generation = index.log()[-1].number
        while time.monotonic() < until:
            for number in generator.sample(range(DOCUMENTS), generator.randint(1, 3)):
                versions[number] += 1
                path = path_of(number)
                if path in state and generator.random() < 0.15 and len(state) > DOCUMENTS // 2:
                    del state[path]
                    (place.docs / path).unlink()
                else:
                    state[path] = text_of(number, versions[number])
                    (place.docs / path).write_text(state[path], encoding="utf-8")
            generation += 1
            place.write_state(generation, state)
            place.state_file(generation - STATES_KEPT).unlink(missing_ok=True)
            report = _published(index, watched)
            if report.generation != generation:
                watched.wrong.append(f"published {report.generation} instead of {generation}")
                generation = report.generation or generation - 1
            watched.done += 1
            watched.sample()


def _published(index: variorum.Index, watched: Watched) -> variorum.Report:
    while True:
        try:
            return index.sync(allow_shrink=True)
        except (ConflictError, BusyError):
            watched.refused += 1


@dataclass(frozen=True, slots=True)
class Question:
    """A word to ask for, in the newest generation or in an older one."""

    word: str
    as_of: int | None


def read(place: Place, watched: Watched, until: float, principal: str | None) -> None:
    """Ask for marked words, and hold every answer against the state of its generation."""
    generator = random.Random(f"{SEED} {principal}")
    with place.open() as owners:
        index = owners.for_principal(principal) if principal else owners
        newest = owners.search("topicmark0").generation
        while time.monotonic() < until:
            question = _question(generator, place, newest)
            asked_at = time.monotonic()
            try:
                answer = index.search(
                    question.word, 100, as_of=question.as_of, mode=generator.choice(MODES)
                )
            except NotFoundError:
                watched.refused += 1
                now = owners.search("topicmark0").generation
                if question.as_of is None or question.as_of > now - KEPT:
                    watched.wrong.append(f"generation {question.as_of} is gone at {now}")
                continue
            newest = max(newest, answer.generation)
            wrong = _fault(place, answer, question, asked_at, principal)
            watched.wrong += [wrong] if wrong else []
            watched.done += 1
            watched.sample()


MODES = ("lexical", "hybrid")


def _question(generator: random.Random, place: Place, newest: int) -> Question:
    if generator.random() < 0.5:
        word = f"topicmark{generator.randrange(TOPICS)}"
    else:
        texts = list(place.state(newest).values())
        word = generator.choice(texts).split("The words ")[-1].split(" ")[0]
    back = generator.randrange(KEPT)
    as_of = newest - back if generator.random() < 0.3 and newest - back >= 1 else None
    return Question(word, as_of)


def _fault(
    place: Place,
    answer: variorum.Answer,
    question: Question,
    asked_at: float,
    principal: str | None,
) -> str | None:
    """What is wrong with an answer, if anything is."""
    state = place.state(answer.generation)
    if question.as_of not in (None, answer.generation):
        return f"asked for {question.as_of}, answered from {answer.generation}"
    for hit in answer.hits:
        path = hit.document.path.decode()
        if hit.text != state.get(path, "")[hit.start : hit.end]:
            return f"{hit.citation} is no passage of generation {answer.generation}"
    found = {one.document.path.decode() for one in answer.hits if question.word in one.text}
    expected = {path for path, text in state.items() if question.word in text}
    shown = {one.document.path.decode() for one in answer.hits}
    if principal is None:
        return None if found == expected else f"{question}: {found ^ expected}"
    opens, swings = ({one for one in expected if one.startswith(kind)} for kind in KINDS[:2])
    if any(one.startswith("secret") for one in shown):
        return f"{question}: a secret was shown"
    lasting = swings & _never_deleted(place)
    if not opens <= found <= opens | swings or found & lasting not in (set(), lasting):
        return f"{question}: {sorted(found)} of {sorted(opens | swings)}"
    return _wrong_rights(place, shown, asked_at)


def _never_deleted(place: Place) -> set[str]:
    """The documents of every state that is still written down.

    One that is deleted keeps the rights it had or stricter ones, whatever the policy says since,
    and once it is back it keeps those until a policy is applied again.
    """
    return set.intersection(*map(set, place.states()))


def _wrong_rights(place: Place, shown: set[str], asked_at: float) -> str | None:
    """Whether a document was shown while the policy, all the time of the question, denied it."""
    if not any(one.startswith("swing") for one in shown):
        return None
    answered_at = time.monotonic()
    lines = [json.loads(line) for line in place.journal.read_text().splitlines()]
    for line, following in zip(lines, [*lines[1:], {"begun": answered_at}], strict=True):
        if not line["open"] and line["done"] < asked_at and answered_at <= following["begun"]:
            return "a document was shown that the policy denied"
    return None


def prune(place: Place, watched: Watched, until: float) -> None:
    """Take out old generations, and change who may read what."""
    with place.open() as index, place.journal.open("a") as journal:
        while time.monotonic() < until:
            is_open = watched.done % 2 == 0
            begun = time.monotonic()
            (place.folder / "variorum-policy.toml").write_text(POLICY + (SWING if is_open else ""))
            with suppress(BusyError):
                index.access.apply(author="soak")
                line = {"open": is_open, "begun": begun, "done": time.monotonic()}
                journal.write(json.dumps(line) + "\n")
                journal.flush()
            try:
                index.prune(keep=KEPT)
                watched.done += 1
            except (BusyError, ConflictError):
                watched.refused += 1
            watched.sample()
            time.sleep(0.2)


def _staff(place: Place, watched: Watched, until: float) -> None:
    read(place, watched, until, "user:ann,group:staff")


def _owner(place: Place, watched: Watched, until: float) -> None:
    read(place, watched, until, None)


ROLES: dict[str, Callable[[Place, Watched, float], None]] = {
    "writer": write,
    "reader, owner": _owner,
    "reader, staff": _staff,
    "pruner": prune,
}


def prepare(place: Place) -> None:
    place.docs.mkdir(parents=True)
    (place.folder / "states").mkdir()
    place.journal.touch()
    settings = '[chunking]\nchunker = "anchored(max_tokens=120, min_tokens=20)"\n'
    (place.folder / "variorum.toml").write_text(settings + '[sources.docs]\nroot = "docs"\n')
    (place.folder / "variorum-policy.toml").write_text(POLICY)
    state = {path_of(number): text_of(number, 0) for number in range(DOCUMENTS)}
    for path, text in state.items():
        (place.docs / path).write_text(text, encoding="utf-8")
    place.write_state(1, state)
    with place.open() as index:
        index.sync()
        index.access.apply(author="soak")


def soak(folder: Path, seconds: float) -> list[Watched]:
    """Run every role at once for so long; what each did."""
    place = Place(folder)
    prepare(place)
    processes = [_start(role, folder, seconds) for role in ROLES]
    found = []
    for role, process in zip(ROLES, processes, strict=True):
        out, error = process.communicate(timeout=seconds + 120)
        if process.returncode:
            raise RuntimeError(f"{role}: {error}")
        found.append(Watched(**json.loads(out)))
    with place.open() as index:
        problems = index.verify()
    if problems:
        raise RuntimeError(f"verify: {problems}")
    return found


def _start(role: str, folder: Path, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.soak", role, str(folder), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(arguments: argparse.Namespace) -> Result:
    folder = Path(tempfile.mkdtemp(prefix="variorum-soak-"))
    try:
        return result_of(soak(folder / "site", arguments.seconds))
    finally:
        shutil.rmtree(folder)


def result_of(found: Sequence[Watched]) -> Result:
    result = Result(inputs=list(SOURCES))
    columns = ("process", "done", "refused", "wrong", "MB when warm", "MB more", "files more")
    rows = []
    for one in found:
        warm, more, files = one.growth()
        rows.append(
            (
                one.role,
                one.done,
                one.refused,
                len(one.wrong),
                round(warm / 1e6, 1),
                round(more / 1e6, 1),
                files,
            )
        )
    result.tables.append(Table("side by side on one store", columns, rows))
    result.figures["processes"] = [_thinned(asdict(one)) for one in found]
    wrong, growing = sum(len(one.wrong) for one in found), sum(one.grows for one in found)
    done = sum(one.done for one in found if one.role.startswith("reader"))
    result.targets += [
        Target("wrong answers", "none", f"{wrong} of {done}", not wrong),
        Target("processes that grow", "none", str(growing), not growing),
    ]
    return result


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=120.0, help="3600 for an hour")


def _thinned(process: dict[str, Any]) -> dict[str, Any]:
    """A process with a hundred samples at the most of what it held."""
    held = process["held"]
    return {**process, "held": held[:: max(1, -(-len(held) // SAMPLES))]}


STUDY = Study("soak", "a writer, two readers, a pruner and a changing policy", run, _arguments)


def main() -> None:
    role, folder, seconds = sys.argv[1:]
    watched = Watched(role)
    ROLES[role](Place(Path(folder)), watched, time.monotonic() + float(seconds))
    print(json.dumps(asdict(watched)))


if __name__ == "__main__":
    main()
