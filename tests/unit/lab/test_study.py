"""One chunker on a small set of questions: scores, controls, and what has none."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from recall_words import dataset, every, passage, question, reading
from variorum.embedding import HashingEmbedder
from variorum.lab.measure import measure
from variorum.lab.questions import Dataset
from variorum.lab.recall.running import Subject, audit, default_measures, run, tables
from variorum.lab.recall.study import Measured, Trial, measured, unrelated
from variorum.lab.recall.summary import control_of, difference, mean_of
from variorum.lab.recall.units import Units, cut
from variorum.records.protocols import Role, Vectors

RECALL = measure("evidence_recall@8")
GAIN = measure("nDCG@10")
TRIAL = Trial((RECALL, GAIN, measure("intact_span_coverage"), measure("fragmentation")))
EMBEDDER = HashingEmbedder(dimensions=512)

CATS = reading("cats", "cats purr at night. " * 2)
DOGS = reading("dogs", "dogs bark at noon.. " * 2)
BIRDS = reading("birds", "birds sing at dawn. " * 2)
READINGS = (CATS, DOGS, BIRDS)
QUESTIONS = (
    question("q1", "cats purr", "cats", (passage("cats", (0, 19)),)),
    question("q2", "dogs bark", "dogs", (passage("dogs", (0, 19)),)),
    question("q3", "birds sing", "birds", (passage("birds", (0, 19)),)),
)
SMALL = dataset(READINGS, QUESTIONS)


def vectors_of(inputs: Sequence[str], role: Role) -> Vectors:
    return EMBEDDER.embed(inputs, role)


def quiet(stage: str, done: int, total: int | None) -> None:
    pass


def units(of: Dataset, width: int = 20) -> Units:
    return cut(of.readings, every(width), EMBEDDER.tokenizer, of.base_version)


def scored(of: Dataset, trial: Trial = TRIAL, width: int = 20) -> Measured:
    return measured(of, units(of, width), trial, vectors_of, quiet)


def value(found: Measured, query_id: str, name: str) -> float | None:
    [one] = [one for one in found.scores if one.question.query_id == query_id]
    return one.values[measure(name)]


def test_what_is_asked_for_is_found_and_what_is_unrelated_is_not() -> None:
    found = scored(SMALL)
    assert all(one.values[RECALL] == 1 for one in found.scores)
    assert all(one.control == 0 for one in found.scores)
    assert value(found, "q1", "intact_span_coverage") == 1
    assert value(found, "q1", "fragmentation") == 1


def test_evidence_in_several_units_needs_them_all_within_the_budget() -> None:
    small = replace(TRIAL, measures=(measure("evidence_recall@2"), RECALL, *TRIAL.measures[2:]))
    asked = replace(QUESTIONS[0], text="cats purr at night")
    found = scored(SMALL.only([asked]), small, width=10)
    assert value(found, "q1", "evidence_recall@2") == 0
    assert value(found, "q1", "evidence_recall@8") == 1
    assert value(found, "q1", "intact_span_coverage") == 0
    assert value(found, "q1", "fragmentation") == 2


def test_the_score_of_the_best_alternative_counts() -> None:
    either = ((passage("dogs", (0, 19)),), (passage("cats", (0, 19)),))
    asked = dataset(READINGS, [question("q1", "cats purr", "cats", *either)])
    assert value(scored(asked), "q1", "nDCG@10") == 1


def test_unanswerable_questions_are_counted_apart_and_change_no_mean() -> None:
    with_blank = SMALL.only([*QUESTIONS, question("q0", "fish swim", "cats")])
    found = scored(with_blank)
    assert (found.unanswerable, found.answered_unanswerable) == (1, 1)
    assert mean_of(found, GAIN) == mean_of(scored(SMALL), GAIN)


def test_a_question_whose_pool_is_empty_scores_zero_and_stays_in_the_mean() -> None:
    nothing = Units((), "")
    found = measured(SMALL, nothing, TRIAL, vectors_of, quiet)
    mean = mean_of(found, RECALL)
    assert mean is not None
    assert (mean.value, mean.questions) == (0.0, 3)
    assert mean_of(found, measure("fragmentation")) is None


def test_unrelated_questions_are_about_other_documents_and_always_the_same() -> None:
    found = unrelated(QUESTIONS, seed=1)
    assert [one.query_id for one in found] == [one.query_id for one in unrelated(QUESTIONS, 1)]
    assert all(one.document != other.document for one, other in zip(QUESTIONS, found, strict=True))
    assert unrelated(QUESTIONS[:1], seed=1) == [QUESTIONS[0]]


def test_the_order_of_questions_and_documents_changes_no_score() -> None:
    shuffled = dataset(READINGS[::-1], QUESTIONS[::-1])
    ours, theirs = scored(SMALL), scored(shuffled)
    by_id = {one.question.query_id: one.values for one in theirs.scores}
    assert {one.question.query_id: one.values for one in ours.scores} == by_id


def test_in_a_pool_with_versions_only_the_right_one_can_answer() -> None:
    old = reading("cats", "cats purr at night.", "old")
    new = reading("cats", "cats purr at seven.", "new")
    others = [reading("dogs", DOGS.characters, "old")]
    asked = [
        question("q1@old", "cats purr", "cats", (passage("cats", (0, 19)),), version="old"),
        question("q1@new", "cats purr", "cats", (passage("cats", (0, 19)),), version="new"),
    ]
    found = scored(dataset([old, new, *others], asked, "old"))
    assert [one.values[RECALL] for one in found.scores] == [1, 1]


def test_a_difference_is_taken_question_by_question() -> None:
    ours, theirs = scored(SMALL), scored(SMALL, width=10)
    found = difference(ours, theirs, measure("fragmentation"))
    assert found is not None
    assert (found.value, found.questions) == (-1, 3)
    assert found.interval == (-1, -1)


def test_a_mean_weighs_questions_and_its_clusters_mean_weighs_clusters() -> None:
    both = [*QUESTIONS[:2], replace(QUESTIONS[0], query_id="q4", text="birds sing")]
    found = scored(SMALL.only(both), Trial((measure("MRR@1"),)))
    mean = mean_of(found, measure("MRR@1"))
    assert mean is not None
    assert mean.value == pytest.approx(2 / 3)
    assert mean.documents_mean == pytest.approx(3 / 4)
    assert mean.weight == pytest.approx(1 / 3)
    assert mean.clusters == 2


def test_the_control_has_a_mean_of_its_own() -> None:
    control = control_of(scored(SMALL))
    assert control is not None
    assert control.value == 0


class Cached:
    embedder = EMBEDDER

    def vectors(self, inputs: Sequence[str], role: Role, progress: object) -> Vectors:
        return EMBEDDER.embed(inputs, role)


def test_tables_have_a_row_for_each_chunker_and_differences_against_the_first() -> None:
    subjects = [Subject("wide", every(20), "r1"), Subject("narrow", every(10), "r2")]
    trial = Trial(default_measures(8, 10))
    found = run(SMALL, subjects, trial, Cached(), quiet)  # type: ignore[arg-type]
    means, compared = tables(found)
    assert [row[0] for row in means.rows] == ["wide", "narrow"]
    assert len(means.columns) == len(means.rows[0])
    assert {row[:2] for row in compared.rows} == {("narrow", "wide")}
    assert means.notes == ("3 clusters of questions: intervals mean little",)
    assert tables(run(SMALL, subjects, trial, Cached(), quiet)) == (means, compared)  # type: ignore[arg-type]
    assert len(list(audit(found))) == 6


def test_documents_of_one_unit_each_raise_a_warning() -> None:
    found = run(SMALL, [Subject("whole", every(99), "")], TRIAL, Cached(), quiet)  # type: ignore[arg-type]
    assert any("one unit" in warning for warning in found.warnings)
