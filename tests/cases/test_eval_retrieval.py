"""Cases of the area eval that are about retrieval: scores that reward or hide the wrong thing."""

from collections.abc import Sequence
from itertools import permutations

import pytest

from recall_words import dataset, every, passage, question, reading
from variorum.embedding import HashingEmbedder
from variorum.lab.measure import measure
from variorum.lab.questions import Dataset
from variorum.lab.recall.scoring import score
from variorum.lab.recall.study import Measured, Trial, measured
from variorum.lab.recall.summary import mean_of
from variorum.lab.recall.units import cut
from variorum.records.protocols import Role, Vectors

RECALL = measure("recall@2")
EMBEDDER = HashingEmbedder(dimensions=512)
CATS = reading("cats", "cats purr at night. " * 2)
DOGS = reading("dogs", "dogs bark at noon.. " * 2)
FOUND = question("q1", "cats purr", "cats", (passage("cats", (0, 19)),))
HALF = question("q3", "dogs bark", "dogs", (passage("dogs", (0, 19)), passage("cats", (0, 19))))
BLANK = question("q2", "fish swim", "cats")


def vectors_of(inputs: Sequence[str], role: Role) -> Vectors:
    return EMBEDDER.embed(inputs, role)


def scored(of: Dataset, trial: Trial) -> Measured:
    units = cut(of.readings, every(20), EMBEDDER.tokenizer, of.base_version)
    return measured(of, units, trial, vectors_of, lambda *_: None)


def test_EVA_01_a_repeat_keeps_its_rank_and_counts_once() -> None:
    gold, ranked = ["p", "q", "r"], ["p", "p", "q", "x"]
    assert score(measure("recall@4"), gold, ranked) == pytest.approx(2 / 3)
    # (1 + 1/log2(4)) / (1 + 1/log2(3) + 1/log2(4)) = 1.5 / 2.1309
    assert score(measure("nDCG@4"), gold, ranked) == pytest.approx(0.7039, abs=5e-5)
    assert score(measure("nDCG@4"), [*gold, "q"], ranked) == score(measure("nDCG@4"), gold, ranked)


def test_EVA_02_a_question_without_an_answer_is_in_no_mean_and_is_counted_apart() -> None:
    trial = Trial((measure("recall@1"),))
    found = scored(dataset((CATS, DOGS), (FOUND, HALF, BLANK)), trial)
    mean = mean_of(found, measure("recall@1"))
    assert mean is not None
    # 1 and 1/2: of two passages in two documents the first unit can hold one.
    assert (mean.value, mean.questions) == (0.75, 2)
    assert (found.unanswerable, found.answered_unanswerable) == (1, 1)


def test_EVA_03_an_empty_gold_set_changes_no_score_behind_it() -> None:
    trial = Trial((measure("nDCG@10"), RECALL))
    together = scored(dataset((CATS, DOGS), (FOUND, BLANK, HALF)), trial)
    alone = scored(dataset((CATS, DOGS), (HALF,)), trial)
    assert together.scores[-1].question.query_id == "q3"
    assert together.scores[-1].values == alone.scores[0].values


def test_EVA_04_the_ideal_comes_from_the_gold_set_and_not_from_what_was_found() -> None:
    gold, ranked = ["A", "B", "C", "D"], ["A", "X", "Y"]
    assert score(measure("recall@3"), gold, ranked) == 0.25
    assert score(measure("nDCG@3"), gold, ranked) == pytest.approx(0.4693, abs=5e-5)


def test_EVA_07_a_tie_at_the_cut_off_gives_one_score_in_any_order_and_is_counted() -> None:
    alike = [reading(name, "cats purr at night.") for name in ("a", "b", "c", "d")]
    gold = question("q", "cats purr", "b", (passage("b", (0, 19)),))
    trial = Trial((RECALL, measure("MRR@2")))
    orders = list(permutations(alike))[::2][:10]
    found = [scored(dataset(order, (gold,)), trial).scores[0] for order in orders]
    assert {tuple(one.values.items()) for one in found} == {((RECALL, 1), (measure("MRR@2"), 0.5))}
    assert all(one.is_tied for one in found)
