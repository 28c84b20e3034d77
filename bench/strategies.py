"""Every strategy at equal mean size: what it does to sentences and evidence, and what it costs to
cut and to store. Nothing is embedded; `--recall` asks what a few of them find.

The passages are those of all usable questions of `chunking_evaluation` and of XQuAD in both
languages. A chunker's size is set so that its mean lies near the target, on the beginnings of the
set's documents and on both languages together; the mean that is printed is that of all documents.
`semantic` compares hashed words here in place of a model's vectors.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import median

from bench.revisions import UncountedSizer, model_sizer
from bench.speed import sample, timed, work
from bench.strategies_recall import RETRIEVAL, SETS, recall
from bench.study import Result, Study, Table
from bench.subjects import (
    SIZES,
    TOLERANCE,
    Family,
    Ours,
    Subject,
    families,
    installed_versions,
    tuned,
)
from variorum.embedding import embedder_from_spec
from variorum.formats import parse
from variorum.lab.counting import StudySizer
from variorum.lab.measure import Measure, measure
from variorum.lab.questions import Dataset, load_questions
from variorum.lab.questions.records import DocumentKey, Reading
from variorum.lab.recall.cuts import Sentences, cut_value, cuts
from variorum.lab.recall.summary import Mean, mean_over
from variorum.lab.recall.units import Piece, Units, cut
from variorum.lab.versions import Version
from variorum.records.text import Structure, Text

OVERLAPS = (0, 32, 64)
INTACT = measure("intact_span_coverage")
FRAGMENTS = measure("fragmentation")
PEERS = (
    "semantic-text-splitter Markdown",
    "LangChain Recursive",
    "semchunk",
    "Chonkie Recursive",
)
TUNED_ON = 60_000
"""Characters of each document that sizes are set on."""

TIMED = 30_000
"""Characters of each language that are cut for speed."""

_TIMES = 3


def strategies() -> list[Family]:
    """Ours without the planner, `fixed` with three overlaps, and splitters of other libraries."""
    found = []
    for family in families():
        if family.name == "fixed":
            found += [_overlapping(overlap) for overlap in OVERLAPS]
        elif family.name in PEERS or (family.ours and "planner" not in family.name):
            found.append(family)
    return found


def _overlapping(overlap: int) -> Family:
    rest = f", overlap_tokens={overlap}" if overlap else ""
    return Family(f"fixed, overlap {overlap}", lambda size: Ours(f"fixed(max_tokens={size}{rest})"))


@dataclass(frozen=True)
class Material:
    """A set of questions with all that is computed of it once for every strategy."""

    dataset: Dataset
    versions: Mapping[DocumentKey, Version]
    sentences: Sentences
    tokens: int

    @classmethod
    def of(cls, dataset: Dataset, sizer: StudySizer) -> "Material":
        versions = {
            one.key: Version(one.characters, one.content_type, sizer.tokenizer)
            for one in dataset.readings
        }
        tokens = sum(sizer.tokenizer.count_many([one.text for one in versions.values()]))
        return cls(dataset, versions, Sentences.of(dataset.readings), tokens)

    def beginnings(self) -> list[Version]:
        return [
            Version(one.text[:TUNED_ON], one.content_type, one.tokenizer)
            for one in self.versions.values()
        ]

    def units(self, subject: Subject, sizer: StudySizer) -> Units:
        """Where the cuts fall; the model's limit is out of reach, so that no input is counted."""
        quick = UncountedSizer(sizer.tokenizer)

        def cutter(reading: Reading) -> Sequence[Piece]:
            found = subject.cut(self.versions[reading.key], quick)
            return [Piece(span, text) for span, text in zip(found.spans, found.inputs, strict=True)]

        return cut(self.dataset.readings, cutter, sizer.tokenizer)


@dataclass(frozen=True, slots=True)
class Row:
    """One strategy at one size: figures by set, and its speed by language."""

    name: str
    spec: str
    parameter: int
    mean_tokens: float
    sets: Mapping[str, Mapping[str, object]]
    speed: Mapping[str, Mapping[str, float]]


def run(arguments: argparse.Namespace) -> Result:
    if arguments.recall:
        return recall(arguments.sets)
    sizer = model_sizer()
    result = Result(inputs=sorted(_files(arguments.sets)))
    result.figures["packages"] = installed_versions()
    for group in arguments.sets:
        sets = [load_questions(str(RETRIEVAL / name)) for name in SETS[group]]
        materials = [Material.of(one, sizer) for one in sets]
        for size in arguments.sizes:
            rows = list(_rows(size, materials, sizer, arguments.only))
            result.tables.append(_table(f"{group}, mean size about {size} tokens", rows))
            result.figures[f"{group} {size}"] = {one.name: _figures_of(one) for one in rows}
    return result


def _files(groups: Sequence[str]) -> Iterator[Path]:
    for path in [RETRIEVAL / name for group in groups for name in SETS[group]]:
        yield from [one for one in path.iterdir() if one.is_file()] if path.is_dir() else [path]


def _rows(
    size: int, materials: Sequence[Material], sizer: StudySizer, only: Sequence[str] | None
) -> Iterator[Row]:
    beginnings = [version for one in materials for version in one.beginnings()]
    for family in strategies():
        if only and not any(word in family.name for word in only):
            continue
        parameter, _ = tuned(family, size, beginnings, sizer, close=TOLERANCE / 2)
        subject = family.at(parameter)
        units = [one.units(subject, sizer) for one in materials]
        sizes = [unit.tokens for one in units for unit in one.units]
        figures = {
            one.dataset.name: figures_of(one, ours, _overlap_factor(family, parameter))
            for one, ours in zip(materials, units, strict=True)
        }
        mean = sum(sizes) / len(sizes)
        row = Row(family.name, subject.spec, parameter, mean, figures, _speed(subject))
        print(f"  {size}:", *_cells(row), sep=" | ", flush=True)
        yield row


def _overlap_factor(family: Family, size: int) -> float:
    """1 / (1 - o/s): how many times a window of `size` tokens that shares o embeds a token."""
    overlap = int(family.name.rpartition(" ")[2]) if "overlap" in family.name else 0
    return 1 / (1 - overlap / size)


def figures_of(material: Material, units: Units, factor: float) -> dict[str, object]:
    """What the cuts did to one set; `factor` is the overlap factor that was to be expected."""
    parted = cuts(units, material.sentences)
    return {
        "units": len(units.units),
        "sentence_truncation": parted.inside / max(1, parted.inner),
        "cut_sentences": 1 - parted.whole / max(1, parted.sentences),
        "overlap_factor": sum(unit.tokens for unit in units.units) / material.tokens,
        "expected_overlap_factor": factor,
        "vectors_per_thousand_tokens": 1000 * len(units.inputs) / material.tokens,
        **{str(one): _mean(material.dataset, units, one) for one in (INTACT, FRAGMENTS)},
    }


def _mean(dataset: Dataset, units: Units, one: Measure) -> dict[str, object] | None:
    values = [
        (question.cluster, value)
        for question in dataset.questions
        if question.is_answerable
        and (value := cut_value(one, question, units.of(question.document), dataset.characters))
        is not None
    ]
    return _fields(mean_over(values))


def _fields(mean: Mean | None) -> dict[str, object] | None:
    if mean is None:
        return None
    return {
        "mean": mean.value,
        "interval": list(mean.interval),
        "questions": mean.questions,
        "clusters": mean.clusters,
    }


@cache
def _timed_text(language: str) -> tuple[str, Structure]:
    text = sample(language, TIMED)
    return text, parse(Text(text), "text/markdown")


def _speed(subject: Subject) -> dict[str, dict[str, float]]:
    """By language, CPU of the whole over that of tokenizing once, the two alternating."""
    model = embedder_from_spec()
    found = {}
    for language in ("en", "zh"):
        text, structure = _timed_text(language)
        whole = work(subject, text, structure, model)
        runs = [
            (timed(partial(model.tokenizer.starts, text))[0], timed(whole)[0])
            for _ in range(_TIMES)
        ]
        found[language] = {
            "times_tokenizing": median(seconds / alone for alone, seconds in runs),
            "tokens_per_cpu_second": model.tokenizer.count(text)
            / median(seconds for _, seconds in runs),
        }
    return found


def _figures_of(row: Row) -> dict[str, object]:
    return {"spec": row.spec, "mean_tokens": row.mean_tokens, "speed": row.speed, **row.sets}


_COLUMNS = (
    "strategy",
    "mean",
    "cuts inside a sentence %",
    "sentences cut %",
    "pieces a passage (95 %)",
    "intact spans % (95 %)",
    "overlap factor, expected",
    "vectors / 1k tokens",
    "times tokenizing, en / zh",
    "k tokens / CPU s, en / zh",
)


def _table(title: str, rows: Sequence[Row]) -> Table:
    return Table(title, _COLUMNS, [_cells(row) for row in rows])


def _cells(row: Row) -> list[object]:
    def each(value: Callable[[Mapping[str, object]], str]) -> str:
        return " / ".join(value(one) for one in row.sets.values())

    def spoken(name: str, scale: float, digits: int) -> str:
        return " / ".join(f"{one[name] / scale:.{digits}f}" for one in row.speed.values())

    expected = next(iter(row.sets.values()))["expected_overlap_factor"]
    return [
        row.name,
        f"{row.mean_tokens:.0f}",
        each(lambda one: f"{100 * one['sentence_truncation']:.1f}"),
        each(lambda one: f"{100 * one['cut_sentences']:.1f}"),
        each(lambda one: _spread(one[str(FRAGMENTS)], 1, 2)),
        each(lambda one: _spread(one[str(INTACT)], 100, 1)),
        each(lambda one: f"{one['overlap_factor']:.3f}") + f", {expected:.3f}",
        each(lambda one: f"{one['vectors_per_thousand_tokens']:.1f}"),
        spoken("times_tokenizing", 1, 2),
        spoken("tokens_per_cpu_second", 1000, 0),
    ]


def _spread(mean: Mapping[str, object], scale: float, digits: int) -> str:
    low, high = (f"{scale * one:.{digits}f}" for one in mean["interval"])
    return f"{scale * mean['mean']:.{digits}f} ({low}–{high})"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--only", nargs="+", help="strategies whose name has one of these words")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--recall", action="store_true", help="what a few of them find, instead")


STUDY = Study("strategies", "what every strategy does to sentences and evidence", run, _arguments)
