"""The frontier: what each chunker and size embeds again, against what it finds within a budget.

The recompute fraction comes from histories, the recall from questions; the same spec is on both
sides. A spec with the planner is measured with it on the histories. On the questions its documents
are cut afresh, as a new index would.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from variorum.lab.comparison import Document
from variorum.lab.measure import Measure
from variorum.lab.questions.records import Dataset
from variorum.lab.recall.cutters import cutter_of
from variorum.lab.recall.study import Measured, Trial, measured
from variorum.lab.recall.summary import Mean, difference, mean_of
from variorum.lab.recall.units import cut
from variorum.lab.recall.vectors import VectorCache
from variorum.lab.record import Cell, Table
from variorum.lab.statistics import Estimate, language_estimates
from variorum.lab.subjects import PLANNER
from variorum.records.protocols import Progress, Role, Vectors

SIZES = (100, 170, 250, 400)
NEIGHBOURS = (0, 1)
OURS = ("anchored+planner",)
RECURSIVE = tuple(f"recursive(max_tokens={size})" for size in SIZES)
PEERS = tuple(
    f"{name}(max_tokens={size})"
    for name in ("langchain-markdown", "semantic-text-splitter-markdown")
    for size in SIZES
)
"""Splitters of other libraries at the sizes of the grid."""


@dataclass(frozen=True)
class Point:
    """One spec with its neighbours: what it finds, and its mean update cost by language."""

    spec: str
    neighbours: int
    mean_tokens: float
    vectors_per_thousand_tokens: float
    found: Measured
    recall: Mean
    recompute: Mapping[str, Estimate]

    def is_beaten_by(self, other: "Point", language: str) -> bool:
        """Whether the other finds more and embeds less, in this language."""
        ours, theirs = self.recompute.get(language), other.recompute.get(language)
        if ours is None or theirs is None:
            return False
        return other.recall.value > self.recall.value and theirs.mean < ours.mean


def recompute_of(documents: Sequence[Document], spec: str) -> dict[str, Estimate]:
    """The mean recompute fraction of a chunker over the histories that it succeeded on."""
    scores = [
        score
        for one in documents
        if one.succeeded(spec)
        for score in one.scores(spec, lambda step: step.recompute_fraction)
    ]
    return language_estimates(scores)


def points(
    dataset: Dataset,
    recomputes: Mapping[str, Mapping[str, Estimate]],
    measure: Measure,
    cache: VectorCache,
    progress: Progress,
) -> Iterator[Point]:
    """The recall of every spec of `recomputes`, alone and with one neighbour each side.

    Raises:
        InputError: a spec cannot cut afresh.
        UnavailableError: the model or the folder of vectors cannot be used.
    """
    tokenizer = cache.embedder.tokenizer
    total = sum(tokenizer.count_many([one.characters for one in dataset.readings]))

    def vectors_of(inputs: Sequence[str], role: Role) -> Vectors:
        return cache.vectors(inputs, role, progress)

    for done, (spec, recompute) in enumerate(recomputes.items(), start=1):
        cutter = cutter_of(spec.removesuffix(PLANNER), cache.embedder, cache.vectors)
        units = cut(dataset.readings, cutter, tokenizer, dataset.base_version)
        tokens = sum(unit.tokens for unit in units.units)
        for neighbours in NEIGHBOURS:
            found = measured(dataset, units, Trial((measure,), neighbours), vectors_of, progress)
            recall = mean_of(found, measure)
            if recall is not None:
                yield Point(
                    spec,
                    neighbours,
                    tokens / max(1, len(units.units)),
                    1000 * len(units.inputs) / max(1, total),
                    found,
                    recall,
                    recompute,
                )
        progress("measuring recall", done, len(recomputes))


def table(found: Sequence[Point], measure: Measure, languages: Sequence[str]) -> Table:
    """Every point; the first spec is what the others' recall is compared with, at equal budget."""
    fixed = ("chunker", "neighbours", "mean_tokens", "vectors_per_thousand_tokens")
    recall = (str(measure), "low", "high", "less_first", "less_first_low", "less_first_high")
    costs = tuple(
        f"{name}_{language}"
        for language in languages
        for name in ("recompute_fraction", "recompute_low", "recompute_high", "beaten_by")
    )
    rows = tuple(_row(one, found, measure, languages) for one in found)
    return Table("frontier", "Update cost and recall", (*fixed, *recall, *costs), rows)


def _row(
    point: Point, found: Sequence[Point], measure: Measure, languages: Sequence[str]
) -> tuple[Cell, ...]:
    gain = difference(point.found, found[0].found, measure)
    gained: tuple[Cell, ...] = (None, None, None)
    if gain is not None:
        gained = (gain.value, *gain.interval)
    costs = [cell for language in languages for cell in _costs(point, found, language)]
    return (
        point.spec,
        point.neighbours,
        point.mean_tokens,
        point.vectors_per_thousand_tokens,
        point.recall.value,
        *point.recall.interval,
        *gained,
        *costs,
    )


def _costs(point: Point, found: Sequence[Point], language: str) -> tuple[Cell, ...]:
    cost = point.recompute.get(language)
    if cost is None:
        return (None, None, None, None)
    better = [one for one in found if point.is_beaten_by(one, language)]
    names = "; ".join(f"{one.spec} neighbours={one.neighbours}" for one in better)
    return (cost.mean, *cost.over_documents, names)


def grid(ours: Sequence[str], *, peers: bool) -> list[str]:
    """The specs of the stated grid, ours first."""
    return [*(ours or OURS), *RECURSIVE, *(PEERS if peers else ())]
