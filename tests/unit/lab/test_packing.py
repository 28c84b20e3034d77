"""A budget returns whole units in rank order, passing over what does not fit."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from recall_words import every, reading
from variorum.embedding import HashingTokenizer
from variorum.lab.recall.packing import pack
from variorum.lab.recall.units import Units, cut

WORDS = "a b c d e f g h"


def of(*texts: str, width: int = 2) -> Units:
    """Units of one word of one token, or of `width / 2` words."""
    readings = [reading(f"d{number}", text) for number, text in enumerate(texts)]
    return cut(readings, every(width), HashingTokenizer())


def test_units_are_taken_in_rank_order_until_the_budget() -> None:
    assert pack(of(WORDS), [5, 2, 7, 1], budget=3) == [5, 2, 7]


def test_a_unit_that_does_not_fit_is_passed_over_and_the_next_one_tried() -> None:
    units = of("a b c d", "e", width=6)  # Three words, one word; one word.
    assert [unit.tokens for unit in units.units] == [3, 1, 1]
    assert pack(units, [0, 2, 1], budget=2) == [2, 1]


def test_neighbours_come_along_are_paid_once_and_end_with_the_document() -> None:
    units = of("a b c", "d e f")
    assert pack(units, [1], budget=9, neighbours=1) == [0, 1, 2]
    assert pack(units, [2], budget=9, neighbours=1) == [1, 2]
    assert pack(units, [1, 2], budget=3, neighbours=1) == [0, 1, 2]


def test_a_unit_whose_neighbours_do_not_fit_is_passed_over_whole() -> None:
    assert pack(of("a b c", "d"), [1, 3], budget=2, neighbours=1) == [3]


@given(
    st.permutations(range(8)),
    st.integers(0, 12),
    st.integers(0, 2),
)
def test_the_budget_holds_and_nothing_is_returned_twice(
    order: Sequence[int], budget: int, neighbours: int
) -> None:
    units = of(WORDS)
    packed = pack(units, order, budget, neighbours)
    assert len(packed) == len(set(packed)) <= budget
