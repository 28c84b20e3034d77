"""One chunker on one data set: rank, pack, score, with the control of unrelated questions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from variorum.lab.measure import Measure
from variorum.lab.questions.records import Dataset, DocumentKey, Question
from variorum.lab.recall.covering import Texts, completion_ranks, is_covered
from variorum.lab.recall.cuts import by_document, cut_value
from variorum.lab.recall.packing import pack
from variorum.lab.recall.ranking import Ranked, rank
from variorum.lab.recall.scoring import items, score
from variorum.lab.recall.units import Units
from variorum.lab.statistics import SEED
from variorum.records.protocols import Progress, Role, Vectors
from variorum.records.text import Span

VectorsOf = Callable[[Sequence[str], Role], Vectors]
"""Vectors of inputs of a role, in order."""

Found = Sequence[tuple[DocumentKey, Span]]


@dataclass(frozen=True, slots=True)
class Scores:
    """One question's values by measure; None where the measure does not apply to it.

    `returned` are the tokens that the first budget returned, `control` the evidence recall of an
    unrelated question in its place.
    """

    question: Question
    values: Mapping[Measure, float | None]
    returned: int
    control: float
    is_tied: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """What is measured of each question."""

    measures: tuple[Measure, ...]
    neighbours: int = 0
    seed: int = SEED

    @property
    def budget(self) -> int:
        """Tokens that the first measure with a budget returns."""
        budgets = (one.cutoff for one in self.measures if one.name == "evidence_recall")
        return next((budget for budget in budgets if budget), 2048)

    @property
    def rank_cutoff(self) -> int:
        """The first cut-off of a ranking measure."""
        cutoffs = (one.cutoff for one in self.measures if one.definition.cutoff == "rank")
        return next((cutoff for cutoff in cutoffs if cutoff), 10)


@dataclass(frozen=True)
class Measured:
    """The scores of a set's answerable questions under one chunker, and the units themselves."""

    units: Units
    scores: tuple[Scores, ...]
    unanswerable: int = 0
    answered_unanswerable: int = 0
    notes: Mapping[str, str] = field(default_factory=dict)


def measured(
    dataset: Dataset, units: Units, trial: Trial, vectors_of: VectorsOf, progress: Progress
) -> Measured:
    """Score every question of the set. A question whose run is empty scores 0, like any miss."""
    questions = [one for one in dataset.questions if one.is_answerable]
    vectors = vectors_of(units.inputs, "passage")
    queries = vectors_of([one.text for one in dataset.questions], "query")
    by_id = {one.query_id: row for row, one in enumerate(dataset.questions)}
    mine = queries[[by_id[one.query_id] for one in questions]]
    others = queries[[by_id[one.query_id] for one in unrelated(questions, trial.seed)]]
    context = _Context(dataset.characters, units, trial)
    rankings = zip(
        questions,
        rank(units, vectors, questions, mine),
        rank(units, vectors, questions, others),
        strict=True,
    )
    scores = []
    for question, ranked, control in rankings:
        scores.append(context.score(question, ranked, control))
        progress("scoring questions", len(scores), len(questions))
    blank = [one for one in dataset.questions if not one.is_answerable]
    rows = queries[[by_id[one.query_id] for one in blank]]
    answered = sum(bool(one.places) for one in rank(units, vectors, blank, rows))
    return Measured(units, tuple(scores), len(blank), answered)


def unrelated(questions: Sequence[Question], seed: int) -> list[Question]:
    """For each question one about another document (another cluster, where all share one).

    Raises nothing: a set of one cluster gives each question itself.
    """
    order = list(questions)
    Random(seed).shuffle(order)
    several = len({one.document.document for one in questions}) > 1
    return [_other(one, order, by_document=several) for one in questions]


def _other(question: Question, order: Sequence[Question], *, by_document: bool) -> Question:
    start = order.index(question)
    for step in range(1, len(order)):
        other = order[(start + step) % len(order)]
        if by_document and other.document.document != question.document.document:
            return other
        if not by_document and other.cluster != question.cluster:
            return other
    return question


@dataclass(frozen=True)
class _Context:
    """What the scoring of one question needs of the run."""

    texts: Texts
    units: Units
    trial: Trial

    def score(self, question: Question, ranked: Ranked, control: Ranked) -> Scores:
        found = self._found(ranked.places)
        version = question.document.version
        completed = [
            completion_ranks(one, version, found, self.texts) for one in question.alternatives
        ]
        values = {one: self._value(one, question, ranked, completed) for one in self.trial.measures}
        packed = self._packed(ranked, self.trial.budget)
        returned = sum(self.units.units[place].tokens for place in packed)
        unrelated_recall = self._evidence(question, control, self.trial.budget)
        tied = self.trial.rank_cutoff in ranked.tied_after
        return Scores(question, values, returned, unrelated_recall, tied)

    def _value(
        self,
        measure: Measure,
        question: Question,
        ranked: Ranked,
        completed: Sequence[Sequence[int | None]],
    ) -> float | None:
        if measure.name == "evidence_recall":
            return self._evidence(question, ranked, measure.cutoff or self.trial.budget)
        if measure.name in ("intact_span_coverage", "fragmentation"):
            ours = self.units.of(question.document)
            return cut_value(measure, question, ours, self.texts)
        found = []
        for ranks in completed:
            gold = [str(number) for number in range(len(ranks))]
            found.append(score(measure, gold, items(ranks, len(ranked.places))))
        return max((one for one in found if one is not None), default=None)

    def _evidence(self, question: Question, ranked: Ranked, budget: int) -> float:
        packed = self._packed(ranked, budget)
        found = self._found(packed)
        version = question.document.version
        return float(is_covered(question.alternatives, version, found, self.texts))

    def _packed(self, ranked: Ranked, budget: int) -> list[int]:
        return pack(self.units, ranked.places, budget, self.trial.neighbours)

    def _found(self, places: Sequence[int]) -> Found:
        units = self.units.units
        return [(units[place].document, units[place].span) for place in places]


def documents_of(units: Units) -> Iterator[tuple[DocumentKey, int]]:
    """How many units each version of each document has."""
    for key, ours in by_document(units).items():
        yield key, len(ours)
