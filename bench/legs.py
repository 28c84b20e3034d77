"""Whether searching by meaning and by words together ranks better than either alone.

The documents of a set of questions are synced into an index with the default model, and each
question is searched in all three modes. nDCG@10 as the lab defines it: gold items are passages, a
hit that completes one stands for it. Vectors are kept in the user's cache folder.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import variorum
from bench.context import DEFAULT, SETS, Cached, Corpus, index_of
from bench.study import SHARED, Result, Study, Table, Target
from variorum.embedding import embedder_from_spec
from variorum.embedding.e5.cache import cache_root
from variorum.lab.measure import measure
from variorum.lab.questions import Dataset, Question, load_questions
from variorum.lab.recall.covering import completion_ranks
from variorum.lab.recall.scoring import items, score
from variorum.lab.recall.vectors import VectorCache
from variorum.lab.statistics import over_clusters
from variorum.records.protocols import Embedder

DEPTH = 10
MEASURE = measure("nDCG") @ DEPTH
LEGS = ("dense", "lexical")
MODES = (*LEGS, "hybrid")

Scores = Sequence[float]
"""One value a question."""


def ndcg(corpus: Corpus, index: variorum.Index, mode: str, question: Question) -> float:
    """The best of the question's sufficient sets."""
    hits = index.search(question.text, DEPTH, mode=mode).hits  # type: ignore[arg-type]
    found = [corpus.place(hit.document, hit.start, hit.end) for hit in hits]
    values = []
    for alternative in question.alternatives:
        version, texts = question.document.version, corpus.dataset.characters
        completed = completion_ranks(alternative, version, found, texts)
        gold = [str(number) for number in range(len(alternative))]
        values.append(score(MEASURE, gold, items(completed, len(found))) or 0.0)
    return max(values)


def measured(dataset: Dataset, embedder: Embedder, chunker: str) -> tuple[list[str], list[Scores]]:
    """The clusters of the questions, and each mode's scores in their order."""
    with TemporaryDirectory() as home:
        (folder := Path(home) / "docs").mkdir()
        corpus = Corpus.written(dataset, folder)
        with index_of(Path(home), 0, chunker, embedder) as index:
            scores = [corpus.valued(partial(ndcg, corpus, index, mode)) for mode in MODES]
    return corpus.clusters, scores


def _row(name: str, clusters: Sequence[str], scores: Sequence[Scores]) -> tuple[list[str], bool]:
    """The cells of a set, and whether hybrid is not below its better leg beyond the interval."""
    hybrid = scores[-1]
    better = max(scores[:-1], key=sum)
    gains = [
        [ours - theirs for ours, theirs in zip(hybrid, leg, strict=True)]
        for leg in (*scores[:-1], better)
    ]
    cells = [name, str(len(hybrid)), *(_printed(one, clusters) for one in scores)]
    cells += [_printed(one, clusters, "+") for one in gains]
    return cells, over_clusters(gains[-1], clusters)[1] >= 0


def _printed(values: Scores, clusters: Sequence[str], sign: str = "") -> str:
    low, high = over_clusters(values, clusters)
    middle = 100 * sum(values) / len(values)
    return f"{middle:{sign}.1f} ({100 * low:{sign}.1f} to {100 * high:{sign}.1f})"


def _run(arguments: argparse.Namespace) -> Result:
    result = Result()
    embedder = Cached(VectorCache(cache_root() / "lab", embedder_from_spec()))
    rows, kept = [], 0
    for name in arguments.sets:
        path = SHARED / "retrieval" / SETS[name]
        result.inputs += sorted(path.glob("*.gz")) if path.is_dir() else [path]
        dataset = load_questions(str(path)).part(arguments.split)
        cells, is_kept = _row(name, *measured(dataset, embedder, arguments.chunker))
        print("  ", *cells, sep=" | ", flush=True)
        rows.append(cells)
        kept += is_kept
    embedder.cache.close()
    columns = ["set", "questions", *MODES, *(f"hybrid less {one}" for one in LEGS)]
    columns.append("hybrid less the better leg")
    result.tables.append(Table(f"{MEASURE}, % (95 %), {arguments.split}", columns, rows))
    result.targets += _targets(rows, kept)
    return result


def _targets(rows: Sequence[Sequence[str]], kept: int) -> list[Target]:
    above = sum(not row[-1].startswith("-") for row in rows)
    count = len(rows)
    return [
        Target("hybrid below its better leg", "on no set", f"on {count - kept}", kept == count),
        Target(
            "hybrid above its better leg", "on most", f"on {above} of {count}", above > count / 2
        ),
    ]


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--split", choices=("tune", "held-out"), default="held-out")
    parser.add_argument("--chunker", default=DEFAULT)


STUDY = Study("legs", "ranking by meaning, by words, and by both", _run, _arguments)
