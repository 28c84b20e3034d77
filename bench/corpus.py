"""A whole corpus: nothing changed, one edit, one query; and the same asked of Steadlith."""

import argparse
import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import variorum
from bench import peers
from bench.documents import SOURCES, edit, write_corpus
from bench.effort import measured_effort, rows_added, table_rows
from bench.study import Result, Study, Table, Target
from variorum.embedding.hashing import HashingEmbedder

QUERIES = tuple(
    f"how to configure the {english} {chinese}"
    for english, chinese in zip(
        ("request timeout", "database", "access token", "page cache", "network proxy", "server"),
        ("请求超时", "数据库", "访问令牌", "页面缓存", "网络代理", "服务器"),
        strict=True,
    )
)
EDITED = 7
DISTINCT_SHARE = 0.95


@dataclass(slots=True)
class Corpus:
    """So many documents in a folder, their index, and how often one of them was edited."""

    folder: Path
    paths: list[Path]
    index: "variorum.Index"
    edits: int = 0

    @property
    def docs(self) -> Path:
        return self.folder / "docs"

    def sync(self) -> None:
        self.index.sync(self.docs)

    def edit(self) -> None:
        self.edits += 1
        edit(self.paths[EDITED], self.edits)


def build(folder: Path, count: int) -> tuple[Corpus, float]:
    """Write and ingest a corpus; (the corpus, seconds of its first sync)."""
    paths = write_corpus(folder / "docs", count)
    index = variorum.open(folder, store=folder / ".variorum", embedder=HashingEmbedder())
    corpus = Corpus(folder, paths, index)
    started = perf_counter()
    corpus.sync()
    return corpus, perf_counter() - started


def chunk_counts(corpus: Corpus) -> tuple[int, int]:
    """(chunks, distinct inputs) of the store."""
    connection = sqlite3.connect(corpus.index.store.path)
    row = connection.execute("SELECT count(*), count(DISTINCT input_id) FROM chunk").fetchone()
    connection.close()
    return int(row[0]), int(row[1])


def read_all(docs: Path) -> None:
    """List, read and hash every file: the least that any look for changes must do."""
    for folder, _, names in os.walk(docs):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                hashlib.sha256(file.read()).hexdigest()


def alternate(runs: int, *works: Callable[[], object], warmed: bool = False) -> list[float]:
    """Median seconds of each piece of work, run in turn; `warmed`, each right after an untimed run.

    On a virtual machine the memory of what does not run for half a second may be taken away: the
    first query after it takes tens of milliseconds, whoever asks it.
    """
    times: list[list[float]] = [[] for _ in works]
    for _ in range(runs):
        for work, taken in zip(works, times, strict=True):
            if warmed:
                work()
            started = perf_counter()
            work()
            taken.append(perf_counter() - started)
    return [median(taken) for taken in times]


def run(arguments: argparse.Namespace) -> Result:
    result = Result(inputs=list(SOURCES))
    efforts = []
    with tempfile.TemporaryDirectory(dir=arguments.work) as place:
        for count in arguments.sizes:
            print(f"  building {count:,} documents", flush=True)
            corpus, first_s = build(Path(place) / str(count), count)
            # First of all, while the edited document is the same one at every size.
            efforts.append((count, *edit_effort(corpus)))
            _times(result, corpus, first_s, arguments)
            corpus.index.close()
    _efforts(result, efforts)
    return result


def _times(result: Result, corpus: Corpus, first_s: float, arguments: argparse.Namespace) -> None:
    count = len(corpus.paths)
    chunks, distinct = chunk_counts(corpus)
    if count <= arguments.peer_limit:
        share = distinct / chunks
        name, least = f"distinct inputs, {count:,} documents", f">= {DISTINCT_SHARE:.0%}"
        result.targets.append(Target(name, least, f"{share:.1%}", share >= DISTINCT_SHARE))
    corpus.sync()
    least_s, unchanged_s = alternate(arguments.runs, lambda: read_all(corpus.docs), corpus.sync)
    cold_s = _timed(lambda: corpus.index.search(QUERIES[0]))
    figures: dict[str, object] = {
        "documents": count,
        "chunks": chunks,
        "distinct_inputs": distinct,
        "first_sync_s": first_s,
        "read_and_hash_s": least_s,
        "unchanged_sync_s": unchanged_s,
        "cold_query_s": cold_s,
    }
    ratio = unchanged_s / least_s
    measured = f"{1e3 * unchanged_s:.0f} ms / {1e3 * least_s:.0f} ms = {ratio:.2f}"
    result.targets.append(
        Target(f"unchanged sync over reading the files, {count:,}", "<= 3", measured, ratio <= 3)
    )
    steadlith = None
    if peers.is_installed() and count <= arguments.peer_limit:
        steadlith = peers.Steadlith(corpus.folder)
        started = perf_counter()
        figures["steadlith_chunks"] = steadlith.index()
        figures["steadlith_first_index_s"] = perf_counter() - started
    _edits(result, figures, corpus, steadlith, arguments.runs)
    _queries(result, figures, corpus, steadlith, arguments.runs)
    result.figures[str(count)] = figures
    rows = list(figures.items())
    result.tables.append(Table(f"{count:,} documents", ("figure", "value"), rows))


def _timed(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def _edits(
    result: Result,
    figures: dict[str, object],
    corpus: Corpus,
    steadlith: peers.Steadlith | None,
    runs: int,
) -> None:
    """The same edited documents for both; writing the edit is not timed."""
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(runs if steadlith is None else min(runs, 7)):
        corpus.edit()
        ours.append(_timed(corpus.sync))
        if steadlith is not None:
            theirs.append(_timed(steadlith.index))
    figures["edit_sync_s"] = median(ours)
    if theirs:
        figures["steadlith_edit_s"] = median(theirs)
        _target(result, "one-document edit", 30, median(ours), median(theirs), len(corpus.paths))


def _queries(
    result: Result,
    figures: dict[str, object],
    corpus: Corpus,
    steadlith: peers.Steadlith | None,
    runs: int,
) -> None:
    figures["query_after_edit_s"] = _timed(lambda: corpus.index.search(QUERIES[0]))
    works: list[Callable[[], object]] = [lambda: [corpus.index.search(one) for one in QUERIES]]
    if steadlith is not None:
        works.append(lambda: [steadlith.query(one) for one in QUERIES])
    taken = [seconds / len(QUERIES) for seconds in alternate(runs, *works, warmed=True)]
    figures["warm_query_s"] = taken[0]
    if steadlith is not None:
        figures["steadlith_query_s"] = taken[1]
        _target(result, "warm query", 10, taken[0], taken[1], len(corpus.paths))


def _target(
    result: Result, what: str, times: int, ours_s: float, theirs_s: float, count: int
) -> None:
    ratio = theirs_s / ours_s
    measured = f"{1e3 * ours_s:.0f} ms against {1e3 * theirs_s:.0f} ms: {ratio:.0f} times"
    name = f"{what}, {count:,} documents, faster than Steadlith's"
    result.targets.append(Target(name, f">= {times} times", measured, ratio >= times))


def edit_effort(corpus: Corpus) -> tuple[dict[str, int], int, int]:
    """(rows added by table, statements, machine steps without the manifest scan) of one edit."""
    corpus.edits = 1_000
    corpus.edit()
    store = corpus.index.store
    before = table_rows(store.path)
    with measured_effort(store.engine()) as effort:
        corpus.sync()
    added = rows_added(before, table_rows(store.path))
    return added, len(effort.statements), effort.steps_without_scan()


def _efforts(result: Result, efforts: Sequence[tuple[int, dict[str, int], int, int]]) -> None:
    rows = [
        (count, sum(added.values()), statements, steps)
        for count, added, statements, steps in efforts
    ]
    columns = ("documents", "rows written", "statements", "machine steps, scan apart")
    result.tables.append(Table("What a one-document edit asks of the store", columns, rows))
    result.figures["edit_effort"] = [
        {"documents": count, "rows": added, "statements": statements, "steps": steps}
        for count, added, statements, steps in efforts
    ]
    if len(rows) > 1:
        same = len({row[1:3] for row in rows}) == 1
        measured = "; ".join(f"{row[0]:,}: {row[1]} rows, {row[2]} statements" for row in rows)
        result.targets.append(Target("an edit's rows and statements", "equal", measured, same))


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_600, 16_000])
    parser.add_argument("--runs", type=int, default=15, help="repetitions of each measurement")
    parser.add_argument("--peer-limit", type=int, default=1_600, help="largest size for Steadlith")
    parser.add_argument("--work", default=None, help="folder for the corpora")


STUDY = Study("corpus", "1,600 and 16,000 documents: no change, an edit, a query", run, _arguments)
