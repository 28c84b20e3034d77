"""The study `lab recall`: several chunkers on one set of questions, and what to print of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from variorum.lab.measure import Measure, measure
from variorum.lab.questions.records import Dataset
from variorum.lab.recall.cuts import Sentences, cuts
from variorum.lab.recall.study import Measured, Trial, measured
from variorum.lab.recall.summary import Mean, control_of, difference, mean_of
from variorum.lab.recall.units import Cutter, Units, cut
from variorum.lab.recall.vectors import VectorCache
from variorum.lab.record import Cell, Table
from variorum.records.protocols import Progress, Role, Vectors

DEFAULT_BUDGET = 2048
DEFAULT_RANK = 10


@dataclass(frozen=True, slots=True)
class Subject:
    """A chunker under its canonical spec; `recipe` says which rules and versions made its cuts."""

    name: str
    cutter: Cutter
    recipe: str


@dataclass(frozen=True)
class Result:
    """One chunker on the set: its scores, and counts of what it made of the documents.

    `truncated` is the share of inner cuts that fall inside a sentence, `cut_sentences` that of
    sentences which no unit holds whole, `overlap_factor` the tokens of all units over those of the
    texts.
    """

    subject: Subject
    measured: Measured
    mean_tokens: float
    units_per_document: float
    truncated: float
    cut_sentences: float
    overlap_factor: float
    vectors_per_thousand_tokens: float

    @property
    def ties(self) -> int:
        """Questions whose ranking is tied at the first cut-off."""
        return sum(one.is_tied for one in self.measured.scores)


@dataclass(frozen=True)
class Recall:
    """What the command found."""

    dataset: Dataset
    trial: Trial
    results: tuple[Result, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the comparison weak."""
        found = []
        single = [one.subject.name for one in self.results if one.units_per_document <= 1]
        if single:
            found.append(
                f"most documents are one unit under {', '.join(single)}: "
                "chunkers can hardly differ on them"
            )
        clusters = {one.cluster for one in self.dataset.questions if one.is_answerable}
        if len(clusters) < 10:
            found.append(f"{len(clusters)} clusters of questions: intervals mean little")
        return tuple(found)


def default_measures(budget: int, rank: int) -> tuple[Measure, ...]:
    """Evidence recall at the budget, three ranking measures, and what cutting does to evidence."""
    return (
        measure("evidence_recall") @ budget,
        measure("nDCG") @ rank,
        measure("recall") @ rank,
        measure("MRR") @ rank,
        measure("intact_span_coverage"),
        measure("fragmentation"),
    )


def run(
    dataset: Dataset,
    subjects: Sequence[Subject],
    trial: Trial,
    cache: VectorCache,
    progress: Progress,
) -> Recall:
    """Measure every subject on the set.

    Raises:
        UnavailableError: the model or the folder of vectors cannot be used.
    """
    tokenizer = cache.embedder.tokenizer
    sentences = Sentences.of(dataset.readings)
    total = sum(tokenizer.count_many([one.characters for one in dataset.readings]))

    def vectors_of(inputs: Sequence[str], role: Role) -> Vectors:
        return cache.vectors(inputs, role, progress)

    results = []
    for subject in subjects:
        units = cut(dataset.readings, subject.cutter, tokenizer, dataset.base_version)
        found = measured(dataset, units, trial, vectors_of, progress)
        results.append(_result(subject, found, sentences, total))
        progress("measuring chunkers", len(results), len(subjects))
    return Recall(dataset, trial, tuple(results))


def _result(subject: Subject, found: Measured, sentences: Sentences, total: int) -> Result:
    units = found.units
    counted = cuts(units, sentences)
    tokens = sum(unit.tokens for unit in units.units)
    return Result(
        subject,
        found,
        mean_tokens=tokens / max(1, len(units.units)),
        units_per_document=_units_per_document(units),
        truncated=counted.inside / max(1, counted.inner),
        cut_sentences=1 - counted.whole / max(1, counted.sentences),
        overlap_factor=tokens / max(1, total),
        vectors_per_thousand_tokens=1000 * len(units.inputs) / max(1, total),
    )


def _units_per_document(units: Units) -> float:
    counts: dict[object, int] = {}
    for unit in units.units:
        counts[unit.document] = counts.get(unit.document, 0) + 1
    return float(median(counts.values())) if counts else 0.0


def tables(recall: Recall) -> tuple[Table, Table]:
    """Means with intervals, and every other chunker less the first."""
    measures = recall.trial.measures
    columns = [
        column
        for one in measures
        for column in (str(one), f"{one} low", f"{one} high", f"{one} mean of clusters")
    ]
    rows = tuple(_row(one, measures) for one in recall.results)
    head = ("chunker", "units", "mean_tokens", "vectors_per_thousand_tokens", "overlap_factor")
    cutting = ("sentence_truncation", "cut_sentences")
    tail = ("questions", "clusters", "unrelated_questions", "ties")
    means = Table(
        "recall",
        f"Retrieval on {recall.dataset.name}",
        (*head, *cutting, *columns, *tail),
        rows,
        recall.warnings,
    )
    compared = Table(
        "recall_differences",
        f"Retrieval on {recall.dataset.name}, less the first chunker",
        ("chunker", "against", "measure", "difference", "low", "high", "questions", "clusters"),
        tuple(_differences(recall)),
    )
    return means, compared


def _row(result: Result, measures: Sequence[Measure]) -> tuple[Cell, ...]:
    found = [mean_of(result.measured, one) for one in measures]
    values = [cell for one in found for cell in _cells(one)]
    first, control = found[0], control_of(result.measured)
    return (
        result.subject.name,
        len(result.measured.units.units),
        result.mean_tokens,
        result.vectors_per_thousand_tokens,
        result.overlap_factor,
        result.truncated,
        result.cut_sentences,
        *values,
        first.questions if first else 0,
        first.clusters if first else 0,
        control.value if control else None,
        result.ties,
    )


def _cells(mean: Mean | None) -> tuple[Cell, ...]:
    if mean is None:
        return (None, None, None, None)
    return (mean.value, *mean.interval, mean.documents_mean)


def _differences(recall: Recall) -> Iterator[tuple[Cell, ...]]:
    if not recall.results:
        return
    first = recall.results[0]
    for result in recall.results[1:]:
        for one in recall.trial.measures:
            found = difference(result.measured, first.measured, one)
            if found is not None:
                names = (result.subject.name, first.subject.name, str(one))
                yield (*names, found.value, *found.interval, found.questions, found.clusters)


def audit(recall: Recall) -> Iterator[Mapping[str, object]]:
    """Every question under every chunker, and every question that is not used."""
    for result in recall.results:
        for one in result.measured.scores:
            yield {
                "chunker": result.subject.name,
                "query_id": one.question.query_id,
                "cluster": one.question.cluster,
                "split": one.question.split,
                "values": {str(name): value for name, value in one.values.items()},
                "returned_tokens": one.returned,
                "unrelated": one.control,
                "tied": one.is_tied,
            }
    for query_id, reason in recall.dataset.excluded.items():
        yield {"query_id": query_id, "excluded": reason}
