"""Evidence is covered where every character of it but blanks lies in a returned range."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from recall_words import passage
from variorum.lab.questions.records import DocumentKey
from variorum.lab.recall.covering import completion_ranks, is_covered
from variorum.records.text import Span

A = DocumentKey("a")
B = DocumentKey("b")
TEXT = "One two.  Three four."
TEXTS = {A: TEXT, B: TEXT}


def units(*spans: tuple[int, int], document: DocumentKey = A) -> list[tuple[DocumentKey, Span]]:
    return [(document, Span(*span)) for span in spans]


def test_a_passage_is_complete_at_the_unit_that_covers_the_last_of_it() -> None:
    found = completion_ranks((passage("a", (4, 15)),), "", units((10, 21), (0, 8)), TEXTS)
    assert found == [1]


def test_blanks_need_not_be_covered() -> None:
    assert completion_ranks((passage("a", (0, 21)),), "", units((0, 8), (10, 21)), TEXTS) == [1]


def test_one_missing_character_leaves_it_incomplete() -> None:
    found = completion_ranks((passage("a", (0, 21)),), "", units((0, 7), (10, 21)), TEXTS)
    assert found == [None]


def test_the_same_range_of_another_document_or_version_covers_nothing() -> None:
    wanted = (passage("a", (0, 8)),)
    assert completion_ranks(wanted, "", units((0, 21), document=B), TEXTS) == [None]
    other = {**TEXTS, DocumentKey("a", "new"): TEXT}
    assert completion_ranks(wanted, "new", units((0, 21)), other) == [None]


def test_any_copy_of_a_passage_will_do_and_no_mixture_of_two() -> None:
    copies = (passage("a", (0, 8), (10, 21)),)
    assert completion_ranks(copies, "", units((10, 21)), TEXTS) == [0]
    assert completion_ranks(copies, "", units((0, 4), (15, 21)), TEXTS) == [None]


def test_all_passages_of_one_alternative_are_needed() -> None:
    both = (passage("a", (0, 3)), passage("a", (10, 15)))
    alone = (passage("a", (16, 21)),)
    assert not is_covered([both], "", units((0, 8)), TEXTS)
    assert is_covered([both, alone], "", units((16, 21)), TEXTS)
    assert is_covered([both], "", units((10, 21), (0, 8)), TEXTS)


def test_without_an_alternative_nothing_is_covered() -> None:
    assert not is_covered([], "", units((0, 21)), TEXTS)


@st.composite
def ranges(draw: st.DrawFn) -> tuple[int, int]:
    start = draw(st.integers(0, len(TEXT) - 1))
    return start, draw(st.integers(start + 1, len(TEXT)))


@given(ranges(), st.lists(ranges(), max_size=6))
def test_coverage_is_that_of_the_set_of_characters(
    span: tuple[int, int], taken: Sequence[tuple[int, int]]
) -> None:
    wanted = {place for place in range(*span) if not TEXT[place].isspace()}
    if not wanted:
        return
    expected: int | None = None
    for rank, one in enumerate(taken):
        wanted -= set(range(*one))
        if not wanted and expected is None:
            expected = rank
    found = completion_ranks((passage("a", span),), "", units(*taken), TEXTS)
    assert found == [expected]
