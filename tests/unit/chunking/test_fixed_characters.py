"""Windows of code points."""

import pytest

from unit.chunking.fakes import Atoms, Bytes, FakeSizer, recipe, structure_of
from variorum.chunking import FixedCharacters, TokenMap, lay_out


def cut(text, chunker):
    tokens = TokenMap.of(text, Atoms())
    return [text[start:end] for start, end in chunker.spans(text, structure_of(text), tokens)]


def test_windows_hold_the_maximum_of_characters():
    assert cut("abcdefghij", FixedCharacters(4)) == ["abcd", "efgh", "ij"]
    assert cut("abcdefghij", FixedCharacters(4, 1)) == ["abcd", "defg", "ghij"]
    assert cut("abc", FixedCharacters(4, 1)) == ["abc"]
    assert cut("", FixedCharacters(4, 1)) == []


def test_a_window_ends_at_a_grapheme():
    assert cut("abcé👍🏾xyz", FixedCharacters(5)) == ["abcé", "👍🏾xyz"]
    assert cut("👨‍👩‍👧‍👦ab", FixedCharacters(2)) == ["👨‍👩‍👧‍👦", "ab"]


@pytest.mark.parametrize("overlap", [0, 30])
def test_windows_over_the_model_limit_are_shorter(overlap):
    text = "字" * 500
    spec = f"fixed_characters(max_characters=100, overlap_characters={overlap})"
    layout = lay_out(text, structure_of(text), recipe(spec), FakeSizer(64, Bytes()))
    assert max(chunk.tokens for chunk in layout.chunks) <= 64
    assert layout.chunks[-1].end == 500
