"""Which units a question may find, and in which order equal ones stand."""

import numpy as np
import pytest

from recall_words import every, passage, question, reading
from variorum.embedding import HashingTokenizer
from variorum.lab.recall.ranking import rank
from variorum.lab.recall.units import Units, cut


@pytest.fixture
def versioned() -> Units:
    readings = [
        reading("a", "old a", "old"),
        reading("a", "new a!", "new"),
        reading("b", "old b", "old"),
        reading("b", "new b!", "new"),
    ]
    return cut(readings, every(100), HashingTokenizer(), "old")


def test_the_pool_has_old_versions_but_for_the_document_asked_about(versioned: Units) -> None:
    new = question("q", "?", "a", (passage("a", (0, 1)),), version="new")
    old = question("q", "?", "b", (passage("b", (0, 1)),), version="old")
    # In the order of names: a new, a old, b new, b old.
    assert list(versioned.pool(new)) == [True, False, False, True]
    assert list(versioned.pool(old)) == [False, True, False, True]


def test_blank_pieces_are_no_units() -> None:
    units = cut([reading("a", "ab    cd")], every(2), HashingTokenizer())
    assert [tuple(unit.span) for unit in units.units] == [(0, 2), (6, 8)]


def test_equal_scores_stand_in_document_order_and_are_counted() -> None:
    units = cut([reading("a", "x x x y")], every(2), HashingTokenizer())
    vectors = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    asked = question("q", "x", "a", (passage("a", (0, 1)),))
    [found] = rank(units, vectors, [asked], np.array([[1.0, 0.0]], dtype=np.float32))
    assert found.places == (0, 1, 2, 3)
    assert found.tied_after == {1, 2}


def test_scores_that_differ_by_less_than_a_millionth_are_equal() -> None:
    units = cut([reading("a", "x y")], every(2), HashingTokenizer())
    vectors = np.array([[1.0 - 1e-7, 0.0], [1.0, 0.0]], dtype=np.float32)
    asked = question("q", "x", "a", (passage("a", (0, 1)),))
    [found] = rank(units, vectors, [asked], np.array([[1.0, 0.0]], dtype=np.float32))
    assert found.places == (0, 1)


def test_no_more_than_a_hundred_candidates_are_looked_at() -> None:
    units = cut([reading("a", "x " * 150)], every(2), HashingTokenizer())
    asked = question("q", "x", "a", (passage("a", (0, 1)),))
    one = np.array([[1.0, 0.0]], dtype=np.float32)
    [found] = rank(units, one, [asked], one)
    assert found.places == tuple(range(100))
    assert 100 in found.tied_after
