import random

import pytest

from variorum.embedding.e5.tokenizer import WINDOW_CHARACTERS, _segments


def words(*lengths):
    return "".join(f" {'x' * (length - 1)}" for length in lengths)


@pytest.mark.parametrize("seed", range(20))
def test_segments_are_the_text_and_only_a_word_over_the_window_is_cut(seed):
    chance = random.Random(seed)
    lengths = [chance.choice([2, 9, 4_095, 4_097, 32_768, 32_769, 70_000]) for _ in range(30)]
    text = words(*lengths)
    segments = list(_segments(text))
    assert "".join(segments) == text
    inside_words = [segment for segment in segments if not segment.startswith(" ")]
    cuts = sum((length - 1) // WINDOW_CHARACTERS for length in lengths)
    assert len(inside_words) == cuts


def test_a_long_word_is_cut_at_windows_counted_from_its_own_start():
    long = words(70_000)
    alone = list(_segments(long))
    behind = list(_segments(words(5, 4_000, 2_000) + long))
    assert [len(segment) for segment in alone] == [32_768, 32_768, 4_464]
    assert behind[-3:] == alone


def test_no_text_has_no_segment():
    assert list(_segments("")) == []
