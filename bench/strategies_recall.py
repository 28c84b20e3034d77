"""What a few strategies find on all usable questions, with the default model's vectors.

Vectors are kept in the user's cache folder: a second run embeds nothing.
"""

from collections.abc import Iterator, Sequence

from bench.study import SHARED, Result, Table
from variorum.embedding import embedder_from_spec
from variorum.embedding.e5.cache import cache_root
from variorum.lab.measure import Measure, measure
from variorum.lab.questions import Dataset, load_questions
from variorum.lab.recall.cutters import canonical, cutter_of, recipe_text
from variorum.lab.recall.running import Result as Found
from variorum.lab.recall.running import Subject
from variorum.lab.recall.running import run as run_recall
from variorum.lab.recall.study import Trial
from variorum.lab.recall.summary import Mean, difference, mean_of
from variorum.lab.recall.vectors import VectorCache

RETRIEVAL = SHARED / "retrieval"
SETS = {
    "chunking_evaluation": ("chunking_evaluation",),
    "xquad": ("xquad/xquad.en.json.gz", "xquad/xquad.zh.json.gz"),
}
SPECS = (
    "anchored",
    "recursive(max_tokens=400)",
    "recursive(max_tokens=170)",
    "recursive(max_tokens=100)",
    "structural(max_tokens=100, min_tokens=30)",
    "fixed(max_tokens=370)",
    "fixed(max_tokens=370, overlap_tokens=64)",
)
MEANING = ("semantic(max_tokens=200, min_tokens=64)",)
"""Compares the model's own vectors of every window of sentences: on the small sets alone."""

MEASURES = (measure("evidence_recall@2048"), measure("evidence_recall@512"), measure("nDCG@10"))


def recall(groups: Sequence[str]) -> Result:
    cache = VectorCache(cache_root() / "lab", embedder_from_spec())
    result = Result()
    for group in groups:
        for name in SETS[group]:
            dataset = load_questions(str(RETRIEVAL / name))
            specs = (*SPECS, *(MEANING if group == "xquad" else ()))
            result.tables.append(_table(dataset, specs, cache))
    cache.close()
    result.figures["embedded"] = cache.embedded
    return result


def _table(dataset: Dataset, specs: Sequence[str], cache: VectorCache) -> Table:
    subjects = [
        Subject(
            canonical(spec),
            cutter_of(spec, cache.embedder, cache.vectors),
            recipe_text(spec, cache.embedder),
        )
        for spec in specs
    ]
    found = run_recall(dataset, subjects, Trial(MEASURES), cache, lambda *_: None).results
    columns = ["strategy", "mean", "vectors / 1k tokens"]
    for one in MEASURES:
        columns += [f"{one} % (95 %)", "less the first's (95 %)"]
    return Table(f"{dataset.name}, all questions", columns, [_row(one, found[0]) for one in found])


def _row(one: Found, first: Found) -> list[object]:
    fixed = [one.subject.name, f"{one.mean_tokens:.0f}", f"{one.vectors_per_thousand_tokens:.1f}"]
    return [*fixed, *(cell for each in MEASURES for cell in _cells(one, first, each))]


def _cells(one: Found, first: Found, each: Measure) -> Iterator[str]:
    yield _percent(mean_of(one.measured, each))
    yield "" if one is first else _percent(difference(one.measured, first.measured, each), "+")


def _percent(mean: Mean | None, sign: str = "") -> str:
    if mean is None:
        return "NA"
    low, high = mean.interval
    return f"{100 * mean.value:{sign}.1f} ({100 * low:{sign}.1f} to {100 * high:{sign}.1f})"
