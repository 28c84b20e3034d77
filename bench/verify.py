"""What it costs to check a store, against embedding its inputs again; and what the check finds."""

import argparse
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

import variorum
from bench.context import Corpus
from bench.study import SHARED, Result, Study, Table, Target
from variorum.embedding import embedder_from_spec
from variorum.embedding.jobs import embed_in_order
from variorum.lab.questions import load_questions
from variorum.records.protocols import Embedder, Role, Vectors

LANGUAGES = {"en": "chunking_evaluation", "zh": "drcd/DRCD_dev.json.gz"}
REPEATS = 3
MOST_SHARE = 0.02
SMALL = 12
"""Documents of the store that is damaged in every way."""

DAMAGE = {
    "a revision's bytes are cut": "UPDATE revision SET content = substr(content, 1, 40)"
    " WHERE id = 1",
    "a revision has another name": "UPDATE revision SET sha256 = 'x' || sha256 WHERE id = 1",
    "a chunk begins elsewhere": "UPDATE chunk SET start = start + 3 WHERE ordinal = 1",
    "a chunk has another prefix": "UPDATE chunk SET prefix = 'x' WHERE rowid = 2",
    "a chunk has other headings": "UPDATE chunk SET heading_path = '[\"x\"]' WHERE rowid = 2",
    "a chunk is gone": "DELETE FROM chunk WHERE layout_id = 1 AND ordinal = 0",
    "an input has another key": "UPDATE input SET key = x'00' WHERE id = 2",
    "an input has another count": "UPDATE input SET tokens = tokens + 1 WHERE id = 2",
    "a vector's byte is another": "UPDATE vector SET data = CAST(x'01' || substr(data, 2) AS BLOB)"
    " WHERE input_id = 2",
    "a vector is gone": "DELETE FROM vector WHERE input_id = 2",
    "a list of terms is cut": "UPDATE posting SET data = x'00' WHERE term ="
    " (SELECT min(term) FROM posting)",
    "a text has other terms": "UPDATE indexed SET length = length + 1 WHERE input_id = 2",
    "sections lie elsewhere": "UPDATE layout SET outline = '[]' WHERE id = 1",
    "a document has another name": "UPDATE document SET path = CAST('x' AS BLOB) WHERE id = 1",
    "a document has other metadata": "UPDATE manifest SET metadata = '{\"x\": 1}' WHERE id = 1",
    "a document's row is gone": "DELETE FROM manifest WHERE id = 1",
    "a generation reports another": "UPDATE generation SET report = '{}' WHERE number = 1",
    "the head stands elsewhere": "UPDATE head SET generation = 9",
}
Done = TypeVar("Done")


class _Remembering:
    """An embedder that remembers the passages that it was asked for."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.passages: list[str] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def embed(self, inputs: list[str], role: Role = "passage") -> Vectors:
        if role == "passage":
            self.passages.extend(inputs)
        return self._inner.embed(inputs, role)


def _timed(work: Callable[[], Done]) -> tuple[float, Done]:
    """CPU seconds of all threads, and what came out."""
    started = time.process_time()
    done = work()
    return time.process_time() - started, done


def _measured(language: str, folder: Path, model: Embedder) -> dict[str, float]:
    dataset = load_questions(str(SHARED / "retrieval" / LANGUAGES[language]))
    (folder / "docs").mkdir(parents=True)
    Corpus.written(dataset, folder / "docs")
    embedder = _Remembering(model)
    with variorum.open(folder, embedder=embedder) as index:
        report = index.sync(folder / "docs")
        embedding, _ = _timed(lambda: list(embed_in_order(model, enumerate(embedder.passages))))
        checks = [_timed(index.verify) for _ in range(REPEATS)]
        if any(found for _, found in checks):
            raise AssertionError(checks)
        unchanged = [_timed(index.sync)[0] for _ in range(REPEATS)]
    verifying = median(seconds for seconds, _ in checks)
    return {
        "inputs": report.inputs.embed,
        "tokens": report.tokens.embed,
        "embedding_s": embedding,
        "verify_s": verifying,
        "sync_s": median(unchanged),
        "verify_share": verifying / embedding,
        "sync_share": median(unchanged) / embedding,
    }


def _caught(home: Path) -> list[list[object]]:
    """Each kind of damage: findings, rows mended, findings left."""
    dataset = load_questions(str(SHARED / "retrieval" / LANGUAGES["zh"]))
    (home / "docs").mkdir(parents=True)
    Corpus.written(dataset, home / "docs")
    for file in sorted((home / "docs").iterdir())[SMALL:]:
        file.unlink()
    model = embedder_from_spec("hashing(dimensions=384)")
    with variorum.open(home, embedder=model) as index:
        index.sync(home / "docs")
    rows: list[list[object]] = []
    for what, statement in DAMAGE.items():
        victim = home.parent / "victim"
        shutil.copytree(home, victim)
        with sqlite3.connect(victim / ".variorum/store.sqlite") as connection:
            if not connection.execute(statement).rowcount:
                raise AssertionError(f"nothing to damage: {what}")
        connection.close()
        with variorum.open(victim, embedder=model) as index:
            found = index.verify()
            report = index.repair()
        rows.append([what, len(found), len(report.mended), len(report.left)])
        shutil.rmtree(victim)
    return rows


def _run(arguments: argparse.Namespace) -> Result:
    result = Result()
    model = embedder_from_spec()
    measured = {}
    with TemporaryDirectory() as home:
        for language in arguments.languages:
            measured[language] = _measured(language, Path(home) / language, model)
        damage = _caught(Path(home) / "small")
    columns = ("", *next(iter(measured.values())))
    cells = [[language, *figures.values()] for language, figures in measured.items()]
    result.tables.append(Table("CPU seconds", columns, cells))
    columns = ("damage", "findings", "mended", "left")
    result.tables.append(Table(f"Damage to a store of {SMALL} documents", columns, damage))
    for language, figures in measured.items():
        share = figures["verify_share"]
        bound = f"< {MOST_SHARE:.0%}"
        name = f"verify / embedding again, {language}"
        result.targets.append(Target(name, bound, f"{share:.2%}", share < MOST_SHARE))
    missed = sum(not found for _, found, _, _ in damage)
    result.targets.append(Target("damage not found", "0", str(missed), missed == 0))
    result.figures = {"languages": measured, "damage": damage}
    return result


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--languages", nargs="+", choices=LANGUAGES, default=[*LANGUAGES])


STUDY = Study("verify", "what checking a store costs, and what it finds", _run, _arguments)
