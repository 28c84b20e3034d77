import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from variorum.embedding.e5.normaliser import Normaliser

# A few rows of a real table: dropped, replaced, widened.
REPLACEMENTS = {
    0x01: "",
    0x09: " ",
    0x0A: " ",
    0x3000: " ",
    0xFFFD: " ",
    0xFB01: "fi",
    0x33A5: "m3",
    0xA8: " \u0308",
}
NORMALISER = Normaliser(REPLACEMENTS)


def test_words_are_separated_by_one_space_and_the_first_has_one():
    assert NORMALISER.normalise("  a\n\n b\tc \u3000") == " a b c"


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\x01", "\ud800"])
def test_a_text_without_words_is_empty(text):
    assert NORMALISER.normalise(text) == ""
    assert NORMALISER.origins(text).tolist() == []


def test_each_character_knows_where_it_comes_from():
    text = " of\x01\ufb01ce \u33a5"
    assert NORMALISER.normalise(text) == " office m3"
    assert NORMALISER.origins(text).tolist() == [1, 1, 2, 4, 4, 5, 6, 8, 8, 8]


def test_decomposed_letters_are_composed_and_keep_their_place():
    text = unicodedata.normalize("NFD", "né 한글 が") + "!"
    assert NORMALISER.normalise(text) == " né 한글 が!"
    origins = NORMALISER.origins(text).tolist()
    assert [text[origin] for origin in origins[1:3]] == ["n", "e"]
    assert text[origins[-1]] == "!"


@given(st.text(st.characters(codec=None) | st.sampled_from("e\u0301\u1112\u1161\u11ab \n\ufb01")))
def test_origins_fit_any_text(text):
    normalised = NORMALISER.normalise(text)
    origins = NORMALISER.origins(text).tolist()
    assert len(origins) == len(normalised)
    assert origins == sorted(origins)
    assert all(0 <= origin < len(text) for origin in origins)
