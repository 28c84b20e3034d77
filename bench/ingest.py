"""A first ingest with the real model: time in the model, memory, bytes on disk, 16-bit vectors."""

import argparse
import gzip
import json
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import variorum
from bench.documents import write_corpus
from bench.study import SEED, SHARED, Result, Study, Table, Target
from variorum.embedding import embedder_from_spec
from variorum.embedding.e5 import embedder as e5
from variorum.embedding.hashing import HashingEmbedder
from variorum.records.protocols import Embedder, ModelIdentity, Role, Tokenizer, Vectors

XQUAD = {name: SHARED / "retrieval" / "xquad" / f"xquad.{name}.json.gz" for name in ("en", "zh")}
PAIRS = SHARED / "revisions" / "pairs.jsonl.gz"
THREADS = 2
GIGABYTE = 1 << 30


def articles(language: str) -> list[Mapping[str, Any]]:
    with gzip.open(XQUAD[language], "rt", encoding="utf-8") as file:
        found: list[Mapping[str, Any]] = json.load(file)["data"]
    return found


def write_pages(folder: Path) -> int:
    """Write the newer page of every revision pair, English and Chinese; bytes written."""
    folder.mkdir(parents=True)
    written = 0
    with gzip.open(PAIRS, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            pair = json.loads(line)
            page = folder / f"{number:03d}{Path(pair['path']).suffix or '.txt'}"
            written += page.write_bytes(pair["new_text"].encode())
    return written


def write_articles(folder: Path) -> None:
    """Write XQuAD's articles, English and Chinese in turn."""
    folder.mkdir(parents=True)
    for number, pair in enumerate(zip(articles("en"), articles("zh"), strict=True)):
        for language, article in zip(("en", "zh"), pair, strict=True):
            paragraphs = [paragraph["context"] for paragraph in article["paragraphs"]]
            text = f"# {article['title']}\n\n" + "\n\n".join(paragraphs) + "\n"
            (folder / f"{number:02d}.{language}.md").write_text(text, encoding="utf-8")


class _TimedSession:
    """An ONNX session, and when each thread was inside `run`."""

    def __init__(self, session: Any, spans: dict[int, list[tuple[float, float]]]) -> None:
        self._session = session
        self._spans = spans

    def run(self, *arguments: Any) -> Any:
        started = perf_counter()
        try:
            return self._session.run(*arguments)
        finally:
            self._spans[threading.get_ident()].append((started, perf_counter()))


def model_share(folder: str) -> Mapping[str, object]:
    """First sync of `folder`/docs with the real model: how long its threads were in the model."""
    spans: dict[int, list[tuple[float, float]]] = defaultdict(list)
    opened = e5._open_session
    opened_s: list[float] = []

    def timed(place: Path) -> _TimedSession:
        started = perf_counter()
        session = _TimedSession(opened(place), spans)
        opened_s.append(perf_counter() - started)
        return session

    e5._open_session = timed
    index = variorum.open(
        folder, store=Path(folder) / ".variorum", embedder=e5.E5Embedder(threads=THREADS)
    )
    started = perf_counter()
    index.embedder.count(["word"])
    loaded_s = perf_counter() - started
    report = index.sync(Path(folder) / "docs")
    wall_s = perf_counter() - started
    first = min(start for one in spans.values() for start, _ in one)
    busy_s = sum(end - start for one in spans.values() for start, end in one)
    return {
        "wall_s": wall_s,
        "embed_s": report.embed_s,
        "open_model_s": sum(opened_s),
        "before_first_run_s": first - started,
        "threads": len(spans),
        "busy_s": busy_s,
        "busy_share": busy_s / (THREADS * wall_s),
        "load_tokenizer_s": loaded_s,
        "busy_share_once_loaded": busy_s / (THREADS * (wall_s - loaded_s - sum(opened_s))),
        "busy_share_while_embedding": busy_s / (THREADS * report.embed_s),
        "some_share": _covered(spans) / wall_s,
        "inputs": report.inputs.embed,
        "tokens": report.tokens.embed,
        "tokens_per_s": report.tokens.embed / wall_s,
        "peak_rss_bytes": _peak_rss_bytes(),
    }


def _covered(spans: Mapping[int, Sequence[tuple[float, float]]]) -> float:
    """Seconds in which at least one thread was in the model."""
    covered, reached = 0.0, 0.0
    for start, end in sorted(span for one in spans.values() for span in one):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return covered


def converted() -> int:
    """Convert the model where that was never done; tokens of a word."""
    return embedder_from_spec("e5-small").count(["word"])[0]


def memory(folder: str) -> Mapping[str, object]:
    """Peak memory of a first sync of `folder`/docs with the hashing embedder."""
    index = variorum.open(folder, store=Path(folder) / ".variorum", embedder=HashingEmbedder())
    before = _peak_rss_bytes()
    report = index.sync(Path(folder) / "docs")
    return {
        "documents": report.documents.added,
        "inputs": report.inputs.embed,
        "rss_before_bytes": before,
        "peak_rss_bytes": _peak_rss_bytes(),
        "store_bytes": index.store.size_bytes(),
    }


def _peak_rss_bytes() -> int:
    """The process's own peak: `ru_maxrss` would begin at what its parent held."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class RememberingEmbedder:
    """Another embedder that is asked for each input only once."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[tuple[Role, str], Any] = {}

    @property
    def tokenizer(self) -> Tokenizer:
        return self._inner.tokenizer

    @property
    def max_tokens(self) -> int:
        return self._inner.max_tokens

    @property
    def identity(self) -> ModelIdentity:
        return self._inner.identity

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        return self._inner.count(inputs, role)

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        missing = [text for text in inputs if (role, text) not in self._known]
        if missing:
            for text, row in zip(missing, self._inner.embed(missing, role), strict=True):
                self._known[role, text] = row
        return np.stack([self._known[role, text] for text in inputs])


def precision(folder: str, questions: str) -> Mapping[str, object]:
    """The same documents with 32-bit and 16-bit vectors: bytes on disk, and the same answers."""
    embedder = RememberingEmbedder(embedder_from_spec("e5-small"))
    indexes = {}
    sizes = {}
    for name in ("float32", "float16"):
        config = Path(folder) / f"{name}.toml"
        config.write_text(
            f'[store]\npath = "{name}"\nvectors = "{name}"\n'
            '[sources.docs]\nkind = "folder"\nroot = "docs"\n'
        )
        indexes[name] = variorum.open(folder, config=config, embedder=embedder)
        indexes[name].sync()
        sizes[name] = store_bytes(indexes[name].store.path)
    asked = sample_questions(int(questions))
    recalls, first = [], []
    for question in asked:
        exact, rounded = (
            [str(hit.citation) for hit in indexes[name].search(question).hits]
            for name in ("float32", "float16")
        )
        recalls.append(len(set(exact) & set(rounded)) / len(exact))
        first.append(exact[0] == rounded[0])
    return {
        "questions": len(asked),
        "recall_at_10": float(np.mean(recalls)),
        "same_first": float(np.mean(first)),
        "sizes": sizes,
    }


def sample_questions(count: int) -> list[str]:
    """As many English as Chinese questions of XQuAD, by the seed."""
    chosen = []
    for language in ("en", "zh"):
        every = [
            answered["question"]
            for article in articles(language)
            for paragraph in article["paragraphs"]
            for answered in paragraph["qas"]
        ]
        chosen += random.Random(SEED).sample(every, count // 2)
    return chosen


def store_bytes(store: Path) -> Mapping[str, int]:
    """Bytes of the compacted store, and of its vectors and compressed texts in it."""
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    one = lambda query: int(connection.execute(query).fetchone()[0])  # noqa: E731
    sizes = {
        "chunks": one("SELECT count(*) FROM chunk"),
        "vectors": one("SELECT sum(length(data)) FROM vector"),
        "texts": one("SELECT sum(length(content)) FROM revision"),
        "all": one("PRAGMA page_count") * one("PRAGMA page_size"),
    }
    connection.close()
    return sizes


def in_fresh_process(name: str, *arguments: object) -> Any:
    """Run one of the functions above in a process of its own."""
    code = f"import json, bench.ingest as b, sys; print(json.dumps(b.{name}(*sys.argv[1:])))"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(finished.stdout.splitlines()[-1])


def run(arguments: argparse.Namespace) -> Result:
    result = Result(inputs=[PAIRS, *XQUAD.values()])
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _model(result, folder / "model")
        _memory(result, folder, arguments.sizes)
        _precision(result, folder / "precision", arguments.questions)
    return result


def _model(result: Result, folder: Path) -> None:
    written = write_pages(folder / "docs")
    # A first run converts the model where that was never done; this is not part of an ingest.
    in_fresh_process("converted")
    print(f"  ingesting {written:,} bytes with e5-small", flush=True)
    found = in_fresh_process("model_share", folder)
    result.figures["model"] = found
    result.tables.append(Table("First ingest with e5-small", ("figure", "value"), [*found.items()]))
    share, embedding_share = found["busy_share"], found["busy_share_while_embedding"]
    loaded = found["busy_share_once_loaded"]
    measured = (
        f"{100 * share:.1f} %; {100 * loaded:.1f} % once the model is loaded,"
        f" {100 * embedding_share:.1f} % of embedding"
    )
    peak = found["peak_rss_bytes"] / GIGABYTE
    result.targets += [
        Target("time of two threads spent in the model", ">= 90 %", measured, share >= 0.9),
        Target("peak memory with the model", "< 1.5 GB", f"{peak:.2f} GB", peak < 1.5),
    ]


def _memory(result: Result, folder: Path, sizes: Sequence[int]) -> None:
    rows = []
    for count in sizes:
        place = folder / f"memory-{count}"
        write_corpus(place / "docs", count)
        print(f"  ingesting {count:,} documents, hashing", flush=True)
        rows.append(in_fresh_process("memory", place))
    result.figures["memory"] = rows
    megabytes = [[row["documents"], row["inputs"], row["peak_rss_bytes"] / 2**20] for row in rows]
    columns = ("documents", "inputs", "peak memory, MB")
    result.tables.append(Table("Memory of a first ingest, hashing embedder", columns, megabytes))
    grown_mb = megabytes[-1][2] - megabytes[0][2]
    added = rows[-1]["documents"] - rows[0]["documents"]
    kilobytes = grown_mb * 1024 / added
    measured = f"{grown_mb:.0f} MB for {added:,} more documents, {kilobytes:.1f} KB each"
    result.targets.append(Target("memory grows by", "< 10 KB a document", measured, kilobytes < 10))


def _precision(result: Result, folder: Path, questions: int) -> None:
    write_articles(folder / "docs")
    print(f"  asking {questions} questions of 32-bit and 16-bit vectors", flush=True)
    found = in_fresh_process("precision", folder, questions)
    result.figures["precision"] = found
    rows = []
    for name, size in found["sizes"].items():
        chunks, whole = size["chunks"], size["all"]
        rest = whole - size["vectors"] - size["texts"]
        parts = [100 * part / whole for part in (size["vectors"], size["texts"], rest)]
        rows.append((name, chunks, whole / chunks / 1.024, *[f"{part:.0f} %" for part in parts]))
    columns = ("vectors", "chunks", "KB per 1,000 chunks", "vectors", "texts", "rows and indexes")
    result.tables.append(Table("Size of a store, 384 dimensions", columns, rows))
    same = 100 * found["same_first"]
    measured = f"{found['recall_at_10']:.4f}; {same:.1f} % with the same first hit"
    result.targets.append(
        Target("recall@10 of 16-bit vectors against 32-bit", "reported", measured, None)
    )


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", default=[800, 3_200, 9_600])
    parser.add_argument("--questions", type=int, default=500)


STUDY = Study("ingest", "a first ingest: time in the model, memory, bytes, 16-bit", run, _arguments)
