import numpy as np
import pytest

from variorum.embedding import HashingEmbedder
from variorum.records.errors import InputRejectedError


def test_han_kana_and_hangul_characters_are_atoms_of_their_own():
    assert HashingEmbedder().tokenizer.atoms("版本3かな 한글, words") == [
        *"版本",
        "3",
        *"かな한글",
        ",",
        "words",
    ]


def test_an_underscore_belongs_to_its_word():
    assert HashingEmbedder().tokenizer.atoms("max_tokens=5") == ["max_tokens", "=", "5"]


def test_a_long_run_of_letters_is_several_atoms():
    assert HashingEmbedder().tokenizer.starts("z" * 40) == [0, 16, 32]


def test_texts_that_share_words_are_closer_than_texts_that_do_not():
    vectors = HashingEmbedder().embed(
        ["the cat sat on the mat", "The cat lay on the mat", "quarterly revenue fell sharply"]
    )
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.3


def test_word_order_changes_the_vector():
    vectors = HashingEmbedder().embed(["dog bites man", "man bites dog"])
    assert not np.array_equal(vectors[0], vectors[1])


def test_a_text_without_atoms_has_a_fixed_unit_vector():
    vectors = HashingEmbedder(dimensions=16).embed(["", " \n", "\u3000"])
    assert (vectors == np.eye(1, 16, dtype=np.float32)).all()


def test_an_input_over_the_limit_is_refused_with_its_place_and_its_size():
    embedder = HashingEmbedder(max_tokens=10)
    embedder.embed(["a " * 8])
    with pytest.raises(InputRejectedError) as caught:
        embedder.embed(["short", "a " * 9])
    assert (caught.value.index, caught.value.found) == (1, "11 tokens")
    assert caught.value.expected == "at most 10 tokens"


def test_parameters_are_part_of_the_identity():
    fingerprints = {
        HashingEmbedder(dimensions, max_tokens).identity.fingerprint
        for dimensions in (64, 256)
        for max_tokens in (128, 512)
    }
    assert len(fingerprints) == 4
