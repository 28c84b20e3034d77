"""Every strategy at equal mean size: what it does to sentences and evidence, what it finds, and
what it costs to cut and to store.

The questions are all usable ones of `chunking_evaluation` and of XQuAD in both languages, each set
one pool. A chunker's size is set so that its mean lies near the target on the texts of the set (for
XQuAD on both languages together). Vectors are kept in the user's cache folder: a second run embeds
nothing.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from time import process_time

from bench.revisions import model_sizer
from bench.study import SHARED, Result, Study, Table
from bench.subjects import SIZES, Family, Ours, Peer, families, installed_versions, tuned
from variorum.chunking import Embed, lay_out
from variorum.embedding import embedder_from_spec
from variorum.embedding.e5.cache import cache_root
from variorum.lab.counting import StudySizer
from variorum.lab.measure import Measure, measure
from variorum.lab.questions import Dataset, Reading, load_questions
from variorum.lab.recall.cuts import Sentences, cuts
from variorum.lab.recall.cutters import cutter_of, recipe_of
from variorum.lab.recall.study import Trial, measured
from variorum.lab.recall.summary import Mean, control_of, mean_of
from variorum.lab.recall.units import Cutter, Units, cut
from variorum.lab.recall.vectors import VectorCache
from variorum.lab.subjects import Cut
from variorum.lab.versions import Version
from variorum.records.protocols import Sizer
from variorum.records.text import Span

RETRIEVAL = SHARED / "retrieval"
SETS = {
    "chunking_evaluation": ("chunking_evaluation",),
    "xquad": ("xquad/xquad.en.json.gz", "xquad/xquad.zh.json.gz"),
}
OVERLAPS = (0, 32, 64)
BUDGET = measure("evidence_recall@2048")
GAIN = measure("nDCG@10")
MEASURES = (
    BUDGET,
    GAIN,
    measure("recall@10"),
    measure("MRR@10"),
    measure("intact_span_coverage"),
    measure("fragmentation"),
)
PEERS = {
    "semantic-text-splitter Markdown": "semantic-text-splitter-markdown",
    "LangChain Recursive": "langchain-recursive",
    "semchunk": "semchunk",
    "Chonkie Recursive": "chonkie-recursive",
}
_TIMES = 3


@dataclass(frozen=True)
class Meaning:
    """A chunker that compares meanings, with the default model's own vectors."""

    spec: str
    planner: bool = False

    def cut(self, version: Version, sizer: Sizer, previous: Cut | None = None) -> Cut:
        recipe = recipe_of(self.spec, vectors().embedder)
        embed = vectors().vectors
        layout = lay_out(version.text, version.structure, recipe, sizer, None, embed)
        spans = [Span(chunk.start, chunk.end) for chunk in layout.chunks]
        return Cut(version, spans, layout.inputs, layout)


@cache
def vectors() -> VectorCache:
    return VectorCache(cache_root() / "lab", embedder_from_spec())


def strategies() -> list[Family]:
    """Ours without the planner, `fixed` with overlaps, `semantic` with the model, cheap peers."""
    found = []
    for family in families():
        if family.name == "fixed":
            found += [_overlapping(overlap) for overlap in OVERLAPS]
        elif family.name.startswith("semantic (hashed"):
            found += [_semantic("percentile=90.0"), _semantic("k=1.0")]
        elif family.name in PEERS or (family.ours and "planner" not in family.name):
            found.append(family)
    return found


def _overlapping(overlap: int) -> Family:
    name = f"fixed, overlap {overlap}"
    rest = f", overlap_tokens={overlap}" if overlap else ""
    return Family(name, lambda size: Ours(f"fixed(max_tokens={size}{rest})"))


def _semantic(threshold: str) -> Family:
    def at(size: int) -> Meaning:
        least = max(1, round(0.3 * size))
        return Meaning(f"semantic(max_tokens={size}, min_tokens={least}, {threshold})")

    return Family(f"semantic ({threshold.removesuffix('.0')})", at)


@dataclass(frozen=True, slots=True)
class Row:
    """One strategy at one size on one set of questions."""

    name: str
    spec: str
    mean_tokens: float
    units: int
    figures: dict[str, object]


def run(arguments: argparse.Namespace) -> Result:
    sizer = model_sizer()
    result = Result(inputs=sorted(_files()))
    result.figures["packages"] = installed_versions()
    for group, names in SETS.items():
        if arguments.sets and group not in arguments.sets:
            continue
        sets = [load_questions(str(RETRIEVAL / name)) for name in names]
        sentences = [Sentences.of(one.readings) for one in sets]
        for size in arguments.sizes:
            rows = list(_rows(size, sets, sentences, sizer, arguments.only))
            result.tables.append(_table(f"{group}, mean size about {size} tokens", rows, sets))
            result.figures[f"{group} {size}"] = {
                one.name: {"spec": one.spec, "mean_tokens": one.mean_tokens, **one.figures}
                for one in rows
            }
    result.figures["embedded"] = vectors().embedded
    return result


def _files() -> Iterator[Path]:
    for names in SETS.values():
        for name in names:
            path = RETRIEVAL / name
            yield from [one for one in path.iterdir() if one.is_file()] if path.is_dir() else [path]


def _rows(
    size: int,
    sets: Sequence[Dataset],
    sentences: Sequence[Sentences],
    sizer: StudySizer,
    only: Sequence[str] | None,
) -> Iterator[Row]:
    versions = [
        Version(one.characters, one.content_type, sizer.tokenizer)
        for dataset in sets
        for one in dataset.readings
    ]
    for family in strategies():
        if only and not any(word in family.name for word in only):
            continue
        parameter, mean = tuned(family, size, versions, sizer)
        subject = family.at(parameter)
        cutter = _cutter(subject, vectors().vectors)
        figures: dict[str, object] = {}
        count = 0
        for dataset, found in zip(sets, sentences, strict=True):
            units = cut(dataset.readings, cutter, sizer.tokenizer)
            count += len(units.units)
            figures[dataset.name] = _figures(dataset, units, found)
        figures["tokens_per_cpu_second"] = _speed(subject)
        print(f"  {size}: {family.name}, {subject.spec}, {vectors().embedded} embedded", flush=True)
        yield Row(family.name, subject.spec, mean, count, figures)


def _cutter(subject: Ours | Peer | Meaning, embed: Embed) -> Cutter:
    spec = subject.spec
    if isinstance(subject, Peer):
        spec = f"{PEERS[subject.name]}(max_tokens={subject.size})"
    return cutter_of(spec, vectors().embedder, embed)


def _figures(dataset: Dataset, units: Units, sentences: Sentences) -> dict[str, object]:
    found = measured(
        dataset, units, Trial(MEASURES), vectors().vectors, lambda stage, done, total: None
    )
    parted = cuts(units, sentences)
    total = _tokens(dataset)
    return {
        "questions": len(found.scores),
        "units": len(units.units),
        "sentence_truncation": parted.inside / max(1, parted.inner),
        "cut_sentences": 1 - parted.whole / parted.sentences,
        "overlap_factor": sum(unit.tokens for unit in units.units) / total,
        "vectors_per_thousand_tokens": 1000 * len(units.inputs) / total,
        "control": _mean(control_of(found)),
        **{str(one): _mean(mean_of(found, one)) for one in MEASURES},
    }


def _tokens(dataset: Dataset) -> int:
    tokenizer = vectors().embedder.tokenizer
    return sum(tokenizer.count_many([one.characters for one in dataset.readings]))


def _mean(mean: Mean | None) -> dict[str, object] | None:
    if mean is None:
        return None
    return {
        "mean": mean.value,
        "interval": list(mean.interval),
        "documents_mean": mean.documents_mean,
        "questions": mean.questions,
        "clusters": mean.clusters,
    }


@cache
def _timed_readings() -> tuple[Reading, ...]:
    """An English speech and ten Chinese articles."""
    english = load_questions(str(RETRIEVAL / SETS["chunking_evaluation"][0])).readings
    chinese = load_questions(str(RETRIEVAL / SETS["xquad"][1])).readings
    speech = [one for one in english if one.key.document == "state_of_the_union"]
    return (*speech, *chinese[:10])


def _speed(subject: Ours | Peer | Meaning) -> float:
    """Tokens a CPU second of parsing, cutting and counting; windows are embedded anew each time."""
    embedder = vectors().embedder
    readings = _timed_readings()
    cutter = _cutter(subject, embedder.embed)
    tokens = sum(embedder.tokenizer.count_many([one.characters for one in readings]))
    times = 1 if isinstance(subject, Meaning) else _TIMES
    return tokens / median(_seconds(cutter, readings) for _ in range(times))


def _seconds(cutter: Cutter, readings: Sequence[Reading]) -> float:
    start = process_time()
    for one in readings:
        cutter(one)
    return process_time() - start


_COLUMNS = (
    "strategy",
    "mean",
    "cuts inside a sentence %",
    "sentences cut %",
    "pieces a passage",
    "intact spans %",
    "evidence recall@2048 (95 %)",
    "nDCG@10 (95 %)",
    "factor",
    "vectors / 1k tokens",
    "tokens / CPU s",
)


def _table(title: str, rows: Sequence[Row], sets: Sequence[Dataset]) -> Table:
    return Table(title, _COLUMNS, [_cells(row, [one.name for one in sets]) for row in rows])


def _cells(row: Row, sets: Sequence[str]) -> list[object]:
    figures = [row.figures[name] for name in sets]

    def each(value: Callable[[dict[str, object]], str]) -> str:
        return " / ".join(value(one) for one in figures)

    return [
        row.name,
        f"{row.mean_tokens:.0f}",
        each(lambda one: f"{100 * one['sentence_truncation']:.1f}"),
        each(lambda one: f"{100 * one['cut_sentences']:.1f}"),
        each(lambda one: f"{one['fragmentation']['mean']:.2f}"),
        each(lambda one: f"{100 * one['intact_span_coverage']['mean']:.1f}"),
        each(lambda one: _percent(one, BUDGET)),
        each(lambda one: _percent(one, GAIN)),
        each(lambda one: f"{one['overlap_factor']:.2f}"),
        each(lambda one: f"{one['vectors_per_thousand_tokens']:.1f}"),
        f"{row.figures['tokens_per_cpu_second']:,.0f}",
    ]


def _percent(figures: dict[str, object], one: Measure) -> str:
    found = figures[str(one)]
    low, high = found["interval"]
    return f"{100 * found['mean']:.1f} ({100 * low:.1f}–{100 * high:.1f})"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--only", nargs="+", help="strategies whose name has one of these words")
    parser.add_argument("--sets", nargs="+", help=f"of {', '.join(SETS)}; all without it")


STUDY = Study(
    "strategies", "what every strategy does to sentences, evidence and recall", run, _arguments
)
