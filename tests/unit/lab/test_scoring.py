"""Ranking measures by hand: repeats, missing items, empty gold, and passages as items."""

from math import log2

import pytest

from variorum.lab.measure import measure
from variorum.lab.recall.scoring import items, score
from variorum.records.errors import UnsupportedError

GAIN = [1 / log2(2 + place) for place in range(10)]


def test_a_question_without_gold_has_no_score_and_one_without_a_run_scores_zero() -> None:
    for name in ("nDCG@10", "recall@10", "MRR@10"):
        assert score(measure(name), [], ["a"]) is None
        assert score(measure(name), ["a"], []) == 0


def test_the_reciprocal_rank_looks_at_the_first_k_alone() -> None:
    assert score(measure("MRR@10"), ["a"], ["x", "y", "a"]) == pytest.approx(1 / 3)
    assert score(measure("MRR@2"), ["a"], ["x", "y", "a"]) == 0
    assert score(measure("MRR"), ["a"], ["x", "y", "a"]) == pytest.approx(1 / 3)


def test_a_measure_that_scores_no_ranking_is_refused() -> None:
    with pytest.raises(UnsupportedError) as caught:
        score(measure("recompute_fraction"), ["a"], ["a"])
    assert caught.value.kind == "not-a-ranking-measure"


def test_a_unit_that_completes_passages_stands_for_them_and_any_other_for_one_item() -> None:
    assert items([None], 2) == ["-0", "-1"]
    assert items([1, 0], 2) == ["1", "0"]
    assert items([1, 1, None], 3) == ["-0", "0", "1", "-2"]


def test_two_passages_in_the_first_unit_are_a_perfect_ranking() -> None:
    ranked = items([0, 0], 5)
    assert score(measure("nDCG@10"), ["0", "1"], ranked) == 1
    assert score(measure("recall@10"), ["0", "1"], ranked) == 1


def test_a_passage_cut_in_two_counts_where_its_second_half_is_found() -> None:
    # Units 0 and 2 hold the halves, so the passage is complete at the third unit.
    ranked = items([2], 4)
    assert score(measure("nDCG@10"), ["0"], ranked) == pytest.approx(GAIN[2])
    assert score(measure("MRR@10"), ["0"], ranked) == pytest.approx(1 / 3)
