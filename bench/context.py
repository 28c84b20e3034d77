"""What a context holds of the evidence, end to end: the documents of a set of questions are synced
into an index, each question is asked, and what is printed for a model is looked at.

The budget holds all that a context is written with: citations, marks and the label. The baseline
is given more: chunks of `recursive(max_tokens=400)` in the order of a search, whole, their texts
alone counted. Vectors are kept in the user's cache folder: a second run embeds nothing.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import variorum
from bench.study import SHARED, Result, Study, Table, Target
from variorum.embedding import embedder_from_spec
from variorum.embedding.e5.cache import cache_root
from variorum.lab.questions import Dataset, Question, load_questions
from variorum.lab.questions.records import DocumentKey
from variorum.lab.recall.covering import is_covered
from variorum.lab.recall.vectors import VectorCache
from variorum.lab.statistics import over_clusters
from variorum.records.protocols import Embedder, ModelIdentity, Role, Tokenizer, Vectors
from variorum.records.text import Span
from variorum.retrieval import neighbourhood

SETS = {
    "chunking_evaluation": "chunking_evaluation",
    "xquad-en": "xquad/xquad.en.json.gz",
    "xquad-zh": "xquad/xquad.zh.json.gz",
    "drcd": "drcd/DRCD_dev.json.gz",
}
BASELINE = "recursive(max_tokens=400)"
DEFAULT = "anchored"
_ENDING = {"text/markdown": "md", "text/plain": "txt"}

Found = Sequence[tuple[DocumentKey, Span]]
Finds = Callable[[variorum.Index, Question], Found]


@dataclass(frozen=True)
class Cached:
    """The default model behind a folder of vectors."""

    cache: VectorCache

    @property
    def tokenizer(self) -> Tokenizer:
        return self.cache.embedder.tokenizer

    @property
    def max_tokens(self) -> int:
        return self.cache.embedder.max_tokens

    @property
    def identity(self) -> ModelIdentity:
        return self.cache.embedder.identity

    def count(self, inputs: Sequence[str], role: Role = "passage") -> list[int]:
        return self.cache.embedder.count(inputs, role)

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        return self.cache.vectors(inputs, role)


@dataclass(frozen=True)
class Corpus:
    """A set's documents as files, and which file is which document."""

    dataset: Dataset
    keys: dict[str, DocumentKey]

    @classmethod
    def written(cls, dataset: Dataset, folder: Path) -> "Corpus":
        keys = {}
        for number, one in enumerate(dataset.readings):
            name = f"{number:04d}.{_ENDING.get(one.content_type, 'txt')}"
            (folder / name).write_bytes(one.characters.encode())
            keys[name] = one.key
        return cls(dataset, keys)

    def scores(self, index: variorum.Index, finds: Finds) -> list[float]:
        return self.valued(lambda one: self._score(one, finds(index, one)))

    def valued(self, value: Callable[[Question], float]) -> list[float]:
        """A value for each answerable question, in order."""
        return [value(one) for one in self._questions]

    @property
    def clusters(self) -> list[str]:
        return [one.cluster for one in self._questions]

    @property
    def _questions(self) -> list[Question]:
        return [one for one in self.dataset.questions if one.is_answerable]

    def _score(self, question: Question, found: Found) -> float:
        version = question.document.version
        covered = is_covered(question.alternatives, version, found, self.dataset.characters)
        return float(covered)

    def place(self, name: variorum.DocumentName, start: int, end: int) -> tuple[DocumentKey, Span]:
        return self.keys[name.path.decode()], Span(start, end)


def in_context(
    corpus: Corpus, budget: int, mode: str | None, expand: str, index: variorum.Index, one: Question
) -> Found:
    """What stands in a context of that budget."""
    context = index.context(one.text, budget, mode=mode, expand=expand)  # type: ignore[arg-type]
    assert context.tokens == index.embedder.tokenizer.count(context.text) <= budget
    return [corpus.place(hit.document, hit.start, hit.end) for hit in context.passages]


def by_rank(corpus: Corpus, budget: int, mode: str, index: variorum.Index, one: Question) -> Found:
    """The hits of a search that the budget holds, their texts alone counted."""
    left, found = budget, []
    for hit in index.search(one.text, 60, mode=mode).hits:
        tokens = index.embedder.tokenizer.count(hit.text.strip())
        if tokens <= left:
            left -= tokens
            found.append(corpus.place(hit.document, hit.start, hit.end))
    return found


@dataclass(frozen=True)
class Row:
    """One way to fill the budget, question by question."""

    chunker: str
    mode: str
    way: str
    scores: list[float]


def _ways(arguments: argparse.Namespace, corpus: Corpus) -> Iterator[tuple[str, str, str, Finds]]:
    budget = arguments.budget
    for mode in ("dense", "hybrid"):
        yield BASELINE, mode, "hits alone", partial(by_rank, corpus, budget, mode)
    for expand in arguments.expand:
        for mode in arguments.modes:
            finds = partial(in_context, corpus, budget, mode, expand)
            yield arguments.chunker, mode, f"context, {expand}", finds


def _measured(
    dataset: Dataset, embedder: Embedder, arguments: argparse.Namespace
) -> tuple[Corpus, list[Row]]:
    with TemporaryDirectory() as home:
        (folder := Path(home) / "docs").mkdir()
        corpus = Corpus.written(dataset, folder)
        indexes: dict[str, variorum.Index] = {}
        rows = []
        for chunker, mode, way, finds in _ways(arguments, corpus):
            if chunker not in indexes:
                indexes[chunker] = index_of(Path(home), len(indexes), chunker, embedder)
            rows.append(Row(chunker, mode, way, corpus.scores(indexes[chunker], finds)))
        for index in indexes.values():
            index.close()
    return corpus, rows


def index_of(home: Path, number: int, chunker: str, embedder: Embedder) -> variorum.Index:
    config = home / f"{number}.toml"
    config.write_text(
        f"[store]\npath = 'store{number}'\n[chunking]\nchunker = '{chunker}'\nplanner = false\n"
        "[sources.docs]\nroot = 'docs'\n"
    )
    index = variorum.open(home, config=config, embedder=embedder)
    index.sync()
    return index


def _table(name: str, split: str, clusters: Sequence[str], rows: Sequence[Row]) -> Table:
    first = rows[0]
    columns = ["chunker", "mode", "way", "evidence recall (95 %)"]
    columns += ["less the first (95 %)", "less the first of its mode (95 %)"]
    printed = []
    for row in rows:
        same = next((one for one in rows if one.mode == row.mode), first)
        cells = [_mean(row.scores, clusters), *(_gain(row, one, clusters) for one in (first, same))]
        printed.append([row.chunker, row.mode, row.way, *cells])
    return Table(f"{name}, {split}, {len(first.scores)} questions", columns, printed)


def _gain(row: Row, other: Row, clusters: Sequence[str]) -> str:
    gains = [ours - theirs for ours, theirs in zip(row.scores, other.scores, strict=True)]
    return _mean(gains, clusters, "+")


def _mean(values: Sequence[float], clusters: Sequence[str], sign: str = "") -> str:
    low, high = over_clusters(values, clusters)
    middle = 100 * sum(values) / len(values)
    return f"{middle:{sign}.1f} ({100 * low:{sign}.1f} to {100 * high:{sign}.1f})"


def _run(arguments: argparse.Namespace) -> Result:
    result = Result()
    neighbourhood.NEIGHBOURS_WEIGHT = arguments.neighbours_weight
    embedder = Cached(VectorCache(cache_root() / "lab", embedder_from_spec()))
    for name in arguments.sets:
        path = SHARED / "retrieval" / SETS[name]
        dataset = load_questions(str(path)).part(arguments.split)
        corpus, rows = _measured(dataset, embedder, arguments)
        table = _table(name, arguments.split, corpus.clusters, rows)
        result.tables.append(table)
        result.inputs += sorted(path.glob("*.gz")) if path.is_dir() else [path]
        result.targets += _targets(name, arguments, table)
    embedder.cache.close()
    return result


def _targets(name: str, arguments: argparse.Namespace, table: Table) -> Iterator[Target]:
    if name != "chunking_evaluation" or arguments.split != "held-out":
        return
    default = next(row for row in table.rows if row[1:3] == ["hybrid", "context, neighbours"])
    for place, other in ((4, "by meaning"), (5, "by the same ranking")):
        measured = str(default[place])
        is_met = float(measured.partition(" ")[0]) >= 3
        title = f"the default context, less recursive-400 without one, {other}"
        yield Target(title, "at least +3 points", measured, is_met)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sets", nargs="+", choices=SETS, default=["chunking_evaluation"])
    parser.add_argument("--split", choices=("tune", "held-out"), default="held-out")
    parser.add_argument("--chunker", default=DEFAULT)
    parser.add_argument("--budget", type=int, default=2048)
    parser.add_argument("--modes", nargs="+", default=["dense", "hybrid"])
    parser.add_argument("--neighbours-weight", type=float, default=neighbourhood.NEIGHBOURS_WEIGHT)
    parser.add_argument("--expand", nargs="+", default=["none", "neighbours", "section"])


STUDY = Study("context", "what a context holds of the evidence", _run, _arguments)
