"""Document means before language means, seeded intervals, and pairs of documents only."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from variorum.lab.statistics import (
    Interval,
    Score,
    document_means,
    estimate,
    language_estimates,
    mean,
    over_clusters,
    over_documents,
    paired,
    ratios,
)
from variorum.records.errors import InputError

shares = st.fractions(min_value=0, max_value=1, max_denominator=1000)


def score(document: str, value: Fraction | int, language: str = "en", repo: str = "r") -> Score:
    return Score(document, language, repo, Fraction(value))


def test_a_document_with_many_revisions_weighs_as_much_as_one_with_a_single_one() -> None:
    scores = [score("a", 0), score("a", 1), score("a", 1), score("b", 0)]
    # a: (0 + 1 + 1) / 3 = 2/3; b: 0; mean of both: (2/3 + 0) / 2 = 1/3, not 2/4.
    assert [one.value for one in document_means(scores)] == [Fraction(2, 3), 0]
    assert estimate(scores).mean == Fraction(1, 3)


def test_languages_are_never_pooled() -> None:
    scores = [score("a", 1), score("b", Fraction(1, 2), "zh")]
    found = language_estimates(scores)
    assert {name: one.mean for name, one in found.items()} == {"en": 1, "zh": Fraction(1, 2)}


def test_a_paired_difference_takes_only_documents_that_both_have() -> None:
    ours = [score("a", 1), score("b", Fraction(1, 2)), score("c", 1)]
    theirs = [score("b", Fraction(1, 4)), score("a", 1), score("d", 0)]
    found = {one.document: one.value for one in paired(ours, theirs)}
    assert found == {"a": 0, "b": Fraction(1, 4)}


def test_a_mean_of_nothing_is_an_error_and_never_zero() -> None:
    for call in (lambda: mean([]), lambda: estimate([]), lambda: over_documents([])):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.kind == "nothing-to-average"


@given(st.lists(shares, min_size=1, max_size=30))
def test_the_interval_holds_within_the_range_and_repeats(values: list[Fraction]) -> None:
    floats = [float(one) for one in values]
    low, high = over_documents(floats)
    slack = 1e-9
    assert min(floats) - slack <= low <= high <= max(floats) + slack
    assert over_documents(floats) == Interval(low, high)


def test_the_interval_of_equal_values_is_that_value() -> None:
    assert over_documents([0.25] * 9) == Interval(0.25, 0.25)


def test_a_fair_coin_has_the_interval_of_the_binomial() -> None:
    """100 values, half 0 and half 1: sd of the mean 0.05, so 0.5 -+ 1.96 * 0.05."""
    low, high = over_documents([0.0, 1.0] * 50)
    assert low == pytest.approx(0.402, abs=0.015)
    assert high == pytest.approx(0.598, abs=0.015)


def test_documents_of_one_repository_are_drawn_together() -> None:
    values = [0.0] * 5 + [1.0] * 5
    alike = over_clusters(values, ["x"] * 5 + ["y"] * 5)
    assert alike == Interval(0.0, 1.0)
    assert over_documents(values).low > 0


def test_one_repository_alone_gives_no_spread() -> None:
    low, high = over_clusters([0.0, 1.0], ["x", "x"])
    assert low == high == 0.5


@given(st.lists(shares, min_size=1, max_size=20), st.integers(2, 5))
def test_repeating_every_revision_of_a_document_changes_no_mean(
    values: list[Fraction], times: int
) -> None:
    once = [score(f"d{place}", value) for place, value in enumerate(values)]
    assert estimate(once * times).mean == estimate(once).mean


def test_a_ratio_of_means_by_hand_is_none_of_a_mean_of_ratios() -> None:
    ours = [score("a", Fraction(1, 10)), score("b", Fraction(3, 10)), score("x", 1)]
    theirs = [score("a", Fraction(4, 10)), score("b", Fraction(4, 10)), score("y", 1)]
    found = ratios(ours, theirs)["en"]
    # Means 2/10 and 4/10 of a and b alone; a resample has a twice, both, or b twice.
    assert (found.mean, found.documents) == (Fraction(1, 2), 2)
    assert found.over_documents == pytest.approx((1 / 4, 3 / 4))
    assert found.over_repositories == pytest.approx((1 / 2, 1 / 2))


def test_a_ratio_over_nothing_is_no_number() -> None:
    ours = [score("a", 1), score("b", 1), score("c", 1, "zh")]
    theirs = [score("a", 0), score("b", 1, repo="other"), score("c", 0, "zh")]
    found = ratios(ours, theirs)
    assert set(found) == {"en"}
    # Of four resamples of a and b one is a twice, whose ratio would be 2 / 0.
    assert found["en"].mean == 2
    assert found["en"].over_documents is None


@given(st.lists(st.tuples(shares, shares.filter(bool)), min_size=1, max_size=20), shares)
def test_a_constant_ratio_has_no_width(
    values: list[tuple[Fraction, Fraction]], k: Fraction
) -> None:
    theirs = [score(str(place), below) for place, (_, below) in enumerate(values)]
    found = ratios([score(one.document, one.value * k) for one in theirs], theirs)["en"]
    assert found.mean == k
    assert found.over_documents == pytest.approx((float(k), float(k)))
