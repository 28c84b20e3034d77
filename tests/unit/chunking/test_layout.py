"""The door of the room: inputs, counts, headings, blanks, and the planner's place in it."""

import pytest

from unit.chunking.fakes import Bytes, FakeSizer, previous, recipe, structure_of
from variorum.chunking import lay_out
from variorum.chunking.render import heading_prefix
from variorum.records.errors import InputError
from variorum.records.layout import Layout
from variorum.records.text import Structure

PLAIN = Structure((), parser="none")
ARTICLE = "".join(
    f"## Part {part}\n\n" + "".join(f"Sentence {part} {n} has words. " for n in range(9)) + "\n\n"
    for part in range(12)
)
SMALL = "anchored(max_tokens=30, min_tokens=8)"


@pytest.mark.parametrize("text", ["", " ", "\n\r\n\t\u2028\u3000"])
def test_a_blank_text_has_no_chunks(text):
    assert lay_out(text, PLAIN, recipe("fixed"), FakeSizer()) == Layout((), ())


def test_blank_spans_join_the_chunk_before_them_or_the_first_one():
    text = "\n" * 9 + "word" + " " * 9 + "word" + "\n" * 9
    layout = lay_out(text, PLAIN, recipe("fixed(max_tokens=1)"), FakeSizer())
    assert [(chunk.start, chunk.end) for chunk in layout.chunks] == [(0, 22), (22, 35)]
    assert layout.inputs == ("word", "word")


def test_an_input_is_the_slice_trimmed_with_its_line_ends_folded_and_nothing_else():
    text = "\ufeff a\r\nb\rc\u00a0 \td \r\n"
    layout = lay_out(text, PLAIN, recipe("fixed"), FakeSizer())
    assert layout.inputs == ("\ufeff a\nb\nc\u00a0 \td",)
    assert layout.chunks[0].end == len(text)


def test_the_prefix_holds_the_innermost_titles_and_a_blank_line():
    path = ("Guide", "", "Install", "Linux")
    assert heading_prefix(2, path) == "Install > Linux\n\n"
    assert heading_prefix(3, path) == "Install > Linux\n\n"
    assert heading_prefix(0, path) == ""
    assert heading_prefix(2, ()) == ""


def test_a_chunk_stands_under_the_heading_of_its_first_filled_character():
    text = "# A\n\n" + "word " * 20 + "\n\n## B\n\n" + "word " * 20
    layout = lay_out(text, structure_of(text), recipe(SMALL, heading_depth=2), FakeSizer())
    assert [chunk.heading_path for chunk in layout.chunks] == [("A",), ("A", "B")]
    assert layout.inputs[0].startswith("# A\n\nword")
    assert layout.inputs[1].startswith("A\n\n## B\n\nword")


def test_a_chunk_below_a_heading_has_the_titles_that_it_stands_under():
    text = "# A\n\n## B\n\n" + "Some words in a row. " * 20
    layout = lay_out(text, structure_of(text), recipe(SMALL, heading_depth=2), FakeSizer())
    assert all(one.startswith("A > B\n\nSome words") for one in layout.inputs[1:])


@pytest.mark.parametrize(("limit", "prefix"), [(40, "One two > Three four"), (16, "Three four")])
def test_a_prefix_loses_outer_titles_beyond_a_quarter_of_the_limit(limit, prefix):
    text = "# One two\n\n## Three four\n\n" + "Some words in a row. " * 20
    chunker = "anchored(max_tokens=12, min_tokens=4)"
    sizer = FakeSizer(limit)
    layout = lay_out(text, structure_of(text), recipe(chunker, heading_depth=2), sizer)
    assert layout.inputs[-1].startswith(f"{prefix}\n\n")


def test_inputs_are_counted_in_one_call():
    sizer = FakeSizer()
    layout = lay_out(ARTICLE, structure_of(ARTICLE), recipe(SMALL), sizer)
    assert sizer.calls == [1, len(layout.chunks)]


def test_inputs_of_the_old_layout_are_not_counted_again():
    planned = recipe(SMALL, planner=True)
    first = lay_out(ARTICLE, structure_of(ARTICLE), planned, FakeSizer())
    edited = ARTICLE.replace("Sentence 5 4 has words.", "A new sentence was put here.")
    sizer = FakeSizer()
    lay_out(edited, structure_of(edited), planned, sizer, previous(ARTICLE, first))
    assert sizer.calls[0] == 1
    assert sizer.calls[1] <= 3


def test_where_the_exact_count_is_over_the_limit_the_span_is_cut_again():
    text = "word " * 40
    sizer = FakeSizer(20)
    sizer.count = lambda inputs, role="passage": [2 * len(one.split()) + 2 for one in inputs]
    layout = lay_out(text, PLAIN, recipe("fixed(max_tokens=15)"), sizer)
    assert all(chunk.tokens <= 20 for chunk in layout.chunks)
    assert "".join(text[chunk.start : chunk.end] for chunk in layout.chunks) == text


def test_fitting_beats_keeping_a_grapheme_whole():
    text = "a" + "\u0301" * 40
    layout = lay_out(text, PLAIN, recipe("fixed"), FakeSizer(16, Bytes()))
    assert len(layout.chunks) > 1
    assert all(chunk.tokens <= 16 for chunk in layout.chunks)


def test_a_character_over_the_limit_is_refused_by_name():
    with pytest.raises(InputError) as caught:
        lay_out("ab🏔", PLAIN, recipe("fixed"), FakeSizer(5, Bytes()))
    assert caught.value.kind == "model-limit-too-small"
    assert "🏔" in caught.value.message


def test_the_planner_refuses_a_recipe_with_overlap_even_without_an_old_layout():
    with pytest.raises(InputError) as caught:
        lay_out("text", PLAIN, recipe("fixed(overlap_tokens=9)", planner=True), FakeSizer())
    assert caught.value.kind == "planner-needs-no-overlap"


def test_without_the_planner_an_old_layout_changes_nothing():
    first = lay_out(ARTICLE, structure_of(ARTICLE), recipe("fixed(max_tokens=20)"), FakeSizer())
    edited = "New start. " + ARTICLE
    fresh = recipe("fixed(max_tokens=20)")
    arguments = (edited, structure_of(edited), fresh, FakeSizer())
    assert lay_out(*arguments, previous(ARTICLE, first)) == lay_out(*arguments)
