"""Chunks of other libraries laid back onto their source, or refused."""

import pytest

from variorum.lab.projection import NotProjectedError, project
from variorum.records.text import Span

TEXT = "One line.\n\nTwo  words\nand more. One line."


@pytest.mark.parametrize(
    ("chunks", "spans"),
    [
        (["One line.", "Two  words\nand more.", "One line."], [(0, 9), (11, 31), (32, 41)]),
        (["One line.\n\n", " ", "Two words and more. "], [(0, 9), (11, 31)]),
        ([], []),
    ],
)
def test_chunks_are_found_in_order(chunks: list[str], spans: list[tuple[int, int]]) -> None:
    assert project(TEXT, chunks) == [Span(*one) for one in spans]


@pytest.mark.parametrize("chunks", [["changed text"], ["Two  words", "Two  words"]])
def test_a_chunk_that_is_not_there_is_an_error(chunks: list[str]) -> None:
    with pytest.raises(NotProjectedError):
        project(TEXT, chunks)
