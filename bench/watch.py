"""How long after a save a search finds what was written, while `watch` follows the folder."""

import argparse
import random
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

import variorum
from bench.documents import SOURCES, edit, write_corpus
from bench.study import SEED, Result, Study, Table
from variorum.embedding import embedder_from_spec
from variorum.records.protocols import Embedder

POLL_S = 0.01
SETTLE_MS = 300
GIVE_UP_S = 60.0
COLUMNS = (
    "model",
    "files saved at once",
    "times",
    "lag seen, median s",
    "lag seen, longest s",
    "lag reported, median s",
    "publishes",
)


@dataclass(slots=True)
class Lags:
    """Seconds from the save of a file until it was found, and as the watch reported them."""

    model: str
    at_once: int
    seen_s: list[float] = field(default_factory=list)
    reported_s: list[float] = field(default_factory=list)
    publishes: int = 0

    def row(self) -> tuple[object, ...]:
        return (
            self.model,
            self.at_once,
            len(self.seen_s) // self.at_once,
            round(median(self.seen_s), 3),
            round(max(self.seen_s), 3),
            round(median(self.reported_s), 3),
            self.publishes,
        )


class Following:
    """A watch in a thread of its own, and what it reported so far."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self.folder, self.embedder = folder, embedder
        self.stop = threading.Event()
        self.lags_s: list[float] = []
        self.publishes = 0
        self.thread = threading.Thread(target=self._follow)

    def __enter__(self) -> "Following":
        self.thread.start()
        time.sleep(1.5)  # Until the folder is looked at.
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join()

    def _follow(self) -> None:
        with opened(self.folder, self.embedder) as index:
            watching = index.watch(self.folder / "docs", settle_ms=SETTLE_MS, stop=self.stop)
            for one in watching:
                if one.error is not None:
                    raise one.error
                self.lags_s += one.lags_s
                self.publishes += 1


def opened(folder: Path, embedder: Embedder) -> variorum.Index:
    return variorum.open(folder, store=folder / ".variorum", embedder=embedder)


def measured(place: Path, model: str, documents: int, at_once: int, times: int) -> Lags:
    """Save files at random moments, and search for each one's own word until it is found."""
    embedder, generator = embedder_from_spec(model), random.Random(f"{SEED} {model} {at_once}")
    found = Lags(model, at_once)
    paths = write_corpus(place / "docs", documents)
    with opened(place, embedder) as index:
        index.sync(place / "docs")
        index.search("edit")
        with Following(place, embedder) as following:
            for number in range(times):
                time.sleep(generator.uniform(0.5, 1.0))
                chosen = generator.sample(paths, at_once)
                found.seen_s += _until_found(index, chosen, number)
        found.reported_s, found.publishes = following.lags_s, following.publishes
    return found


def _until_found(index: variorum.Index, paths: Sequence[Path], number: int) -> list[float]:
    saved: dict[str, float] = {}
    for place, path in enumerate(paths):
        word = f"lagmark{number}x{place}"
        edit(path, number)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n\n{word} stands here.\n")
        saved[word] = time.monotonic()
    lags = []
    for word, at in saved.items():
        while not any(word in hit.text for hit in index.search(word, 3, mode="lexical").hits):
            if time.monotonic() - at > GIVE_UP_S:
                raise RuntimeError(f"{word} is not found")
            time.sleep(POLL_S)
        lags.append(time.monotonic() - at)
    return lags


def run(arguments: argparse.Namespace) -> Result:
    result = Result(inputs=list(SOURCES))
    rows = []
    for model in arguments.models.split(","):
        for at_once in (1, 20):
            with tempfile.TemporaryDirectory() as place:
                lags = measured(Path(place), model, arguments.documents, at_once, arguments.times)
            rows.append(lags.row())
            result.figures[f"{model}, {at_once}"] = asdict(lags)
    title = f"{arguments.documents} documents; a burst settles for {SETTLE_MS} ms"
    result.tables.append(Table(title, COLUMNS, rows))
    return result


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--models", default="hashing,e5-small", help="specs, by commas")
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--times", type=int, default=20, help="saves, or bursts of saves")


STUDY = Study("watch", "from a saved file to a search that finds it", run, _arguments)
